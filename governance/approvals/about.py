"""One open card about one thing: a second request for the very same joins it, a newer one about it takes its place.

What a card is about has a stream of its own, whose newest event names the card that is open. Raising a card appends to
it in the same commit, so that of two executions that ask at once only one raises; the other one judges anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from contracts import CardId, CardKind, DecisionCard, Json, TaskOrder
from governance.approvals.card import CardView, to_event_data
from runtime.canonical import sha256
from runtime.errors import NotFound
from runtime.ledger.port import Append, NewEvent

if TYPE_CHECKING:
    from governance.approvals.gateway import ApprovalGateway

_SHARED = (CardKind.CHOICE, CardKind.EFFECT, CardKind.PROPOSAL)
"""Kinds of cards that ask whether something is to be done; the others ask about one call that was begun."""


def subject_of(card: DecisionCard) -> str | None:
    """Return the stream of what the card is about, with which capabilities; None where it is only about itself.

    Without `about` that is exactly its actions: only the very same question is the same then.
    """
    if card.kind not in _SHARED:
        return None
    acts = [action for option in card.options for action in option.actions]
    uses: list[Json] = [*sorted({action.use for action in acts})]
    what: list[Json] = [*uses, card.about] if card.about else [*uses, exactly(card), sha256(dict(card.proposes))]
    return f"subject/{sha256([card.organisation, what])}"


def exactly(card: DecisionCard) -> str:
    """Return a hash of all that the options would do, and of nothing else."""
    return sha256([[each.id, [action.to_json() for action in each.actions]] for each in card.options])


async def opened_append(
    gateway: ApprovalGateway, card: DecisionCard, passed: Mapping[str, str] | None
) -> Sequence[Append] | CardView:  # fmt: skip
    """Return the appends that raise the card, or the open card to join; see the gateway.

    Two calls of one execution are two things that it wants, and each has its card.
    """
    subject, raised = subject_of(card), gateway.card_append(card, passed=passed)
    if subject is None:
        return (raised,)
    version, facts = await gateway.newest(subject)
    open_ = await _open(gateway, facts.get("card"))
    if open_ is not None and open_.card.execution_id == card.execution_id:
        return (raised,)
    if open_ is not None and _asks_for(open_, card) and open_.card.who == card.who:
        return open_
    opened = Append(
        subject, (NewEvent("subject.opened", to_event_data(card=card.card_id)),), version, gateway.organisation,
        f"/organisation/{gateway.organisation}/approvals",
    )  # fmt: skip
    superseded = () if open_ is None else (gateway.event_append(open_, "card.superseded", by=card.card_id),)
    return (raised, opened, *superseded)


def join_append(gateway: ApprovalGateway, view: CardView, order: TaskOrder, step: str) -> Append:
    """Return the append by which an order waits for a card that another execution raised about the very same."""
    facts = {
        "execution_id": order.execution_id, "order_id": order.order_id, "step": step,
        "requested_by": order.requested_by,
    }  # fmt: skip
    return replace(gateway.event_append(view, "card.joined", **facts), execution_id=order.execution_id)


def _asks_for(view: CardView, card: DecisionCard) -> bool:
    """Whether an open card asks for exactly what `card` would, or did before somebody edited it."""
    wanted = exactly(card)
    if exactly(view.card) == wanted:
        return True
    first = {edit.option: edit.before for edit in reversed(view.edits)}
    options = (each.model_copy(update={"actions": first.get(each.id, each.actions)}) for each in view.card.options)
    return exactly(view.card.model_copy(update={"options": tuple(options)})) == wanted


async def _open(gateway: ApprovalGateway, named: object) -> CardView | None:
    """Return the card that is open about it, after the clock had its effect; None where there is none any more."""
    if not isinstance(named, str):
        return None
    try:
        view = await gateway.judge(CardId(named), gateway.clock.now())
    except NotFound:
        return None
    return view if view.is_open else None
