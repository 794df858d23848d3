"""Cards that propose a looser mode for what was right many times in a row, and what a yes to one brings about."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from contracts import ApprovalMode, CardId, CardKind, Decision, DecisionCard, Option
from governance.approvals.card import CardView
from governance.approvals.effect_cards import SayIn
from governance.approvals.modes import Why
from governance.approvals.standing import LOOSENED, NEXT_LOOSER
from governance.approvals.working_hours import moment_after
from runtime.errors import InvalidArguments
from runtime.ledger.port import Append
from runtime.texts import LANGUAGES, Say

if TYPE_CHECKING:
    from governance.approvals.gateway import ApprovalGateway

LOOSEN, KEEP = "loosen", "keep"
ASKS = "silicon"
"""Who asks for it: the program, so that every person who is named may decide."""


def next_mode(card: DecisionCard) -> ApprovalMode | None:
    """Return the next looser mode after the one of a card; None where the mode does not come from its policy."""
    by_policy = card.mode_why in (Why.POLICY.value, Why.SERIOUS_ERROR.value)
    return NEXT_LOOSER.get(card.mode) if by_policy else None


def loosening_card(
    last: DecisionCard, use: str, to: ApprovalMode, *, over: ApprovalMode, times: int, say_in: SayIn, now: datetime
) -> DecisionCard:
    """Return the question whether a capability may be decided more loosely, put to those who decided it so far.

    It belongs to the execution in which the last of the row was right, and is decided as strictly as ever.

    Args:
        over: the mode that the rules have, in whose place it would come.
    """
    facts: dict[str, object] = {"capability": use, "mode": to.value, "times": times, "rule": last.policy}

    def say(key: str) -> dict[str, str]:
        return {language: _said(say_in(language), key, facts) for language in LANGUAGES}

    def option(id_: str) -> Option:
        return Option(
            id=id_, title=say(f"card-{id_}-title"), benefit=say(f"card-{id_}-benefit"), risk=say(f"card-{id_}-risk"),
            cost=say("card-loosen-cost"), reversible=True,
        )  # fmt: skip

    within_s = last.within_s or (last.deadline - last.raised_at).total_seconds()
    return DecisionCard(
        card_id=CardId.new(), kind=CardKind.PROPOSAL, execution_id=last.execution_id, order_id=last.order_id,
        step=last.step, organisation=last.organisation, employee=last.employee, question=say("card-loosen-question"),
        impact=say("card-loosen-impact"), options=(option(LOOSEN), option(KEEP)), policy=last.policy,
        mode=ApprovalMode.STRICT, mode_why=Why.POLICY.value, about=f"mode of {use}",
        proposes={"mode": to.value, "over": over.value, "capability": use}, who=last.who, quorum=last.quorum,
        requested_by=ASKS, raised_at=now, deadline=moment_after(now, within_s, last.hours), within_s=within_s,
        hours=last.hours, remind_at=moment_after(now, within_s / 2, last.hours), escalate_to=last.escalate_to,
    )  # fmt: skip


def _said(say: Say, key: str, facts: dict[str, object]) -> str:
    return say(key, **facts)


async def approved_appends(gateway: ApprovalGateway, view: CardView, decision: Decision) -> Sequence[Append]:
    """Return what goes into the commit of a decision about a proposal: a yes to a looser mode is recorded with it.

    Raises:
        InvalidArguments: a serious error was made since it was proposed, so that the row it rests on has ended.
    """
    proposes, use = view.card.proposes, view.card.proposes.get("capability")
    reaches = decision.option == LOOSEN and len(view.voices_for(LOOSEN) | {decision.voice}) >= view.card.quorum
    if not decision.approve or not reaches or not isinstance(use, str) or not isinstance(proposes.get("mode"), str):
        return ()
    to, over = str(proposes["mode"]), str(proposes["over"])
    if await gateway.standings.erred_since(use, view.card.card_id):
        raise InvalidArguments(
            f"A serious error set {use} back to strict since {view.card.card_id} proposed this. Turn it down; it is "
            "proposed again once it was right often enough.",
            card=view.card.card_id, use=use,
        )  # fmt: skip
    return (
        await gateway.standings.append(use, LOOSENED, to=to, over=over, card=view.card.card_id, by=decision.by),
    )  # fmt: skip
