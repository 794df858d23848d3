"""What people do about a card afterwards: have it taken back, and say whether it was right."""

from __future__ import annotations

from datetime import timedelta

from contracts import CardId
from governance.access.people import Person
from governance.approvals.card import CardView
from governance.approvals.gateway import ApprovalGateway
from governance.approvals.life import LIFE, Move
from governance.approvals.modes import can_be_undone
from governance.approvals.rights import Right, right_to_decide
from governance.approvals.standing import SET_BACK
from governance.errors import CannotBeUndone, NotAllowedToDecide, ReviewRefused
from runtime.errors import InvalidArguments, VersionConflict
from runtime.ledger.port import Append


async def ask_back(
    gateway: ApprovalGateway, card_id: CardId, *, person: Person, within_s: float, via: str, reason: str
) -> CardView:
    """Record that what was carried out is to be taken back, as the card says how; asking twice changes nothing.

    Whoever may decide the card may say so, and nobody has to approve it once more: the actions that take it back stood
    on the card. They are carried out through the gate, each once.

    Raises:
        NotAllowedToDecide: this person could not have decided the card.
        CannotBeUndone: it was not carried out, says no way back, or the time for it is over.
    """
    view = await gateway.get(card_id)
    await _require_right(gateway, view, person)
    if view.back is not None:
        return view
    require_way_back(view, within_s, gateway)
    facts = {"by": person.id, "via": via, "reason": reason}
    return await gateway.change(
        card_id, lambda now: ("card.undo_requested", facts) if now.back is None else None
    )  # fmt: skip


def require_way_back(view: CardView, within_s: float, gateway: ApprovalGateway) -> None:
    """Return when the card can be taken back now; raise CannotBeUndone else."""
    card_id, option = view.card.card_id, view.chosen
    if (view.state, Move.ASK_BACK) not in LIFE or view.acted_at is None or option is None:
        raise CannotBeUndone(f"{card_id} is {view.state}: there is nothing to take back.", card=card_id)
    if not can_be_undone(option):
        raise CannotBeUndone(f"{option.id} on {card_id} says no way to take all of it back.", card=card_id)
    until = view.acted_at + timedelta(seconds=within_s)
    if gateway.clock.now() >= until:
        raise CannotBeUndone(
            f"{card_id} could be taken back until {until:%Y-%m-%d %H:%M} UTC. Do it by hand, if it has to be.",
            card=card_id, until=until.isoformat(),
        )  # fmt: skip


async def review(
    gateway: ApprovalGateway, card_id: CardId, *, person: Person, right: bool, via: str, reason: str
) -> CardView:
    """Record whether what was decided was right; a serious error sets its kinds of actions back to strict.

    Who could have decided the card may say so, and whoever did decide it may not. The newest word counts.

    Raises:
        NotAllowedToDecide: this person could not have decided the card, or did.
        ReviewRefused: nothing was decided yet, or the answer was no.
        InvalidArguments: an error without a reason.
    """
    for _ in range(20):
        view = await gateway.get(card_id)
        if (view.state, Move.REVIEW) not in LIFE:
            raise ReviewRefused(f"{card_id} is {view.state}; only what was approved is reviewed.", card=card_id)
        if any(decision.by == person.id for decision in view.decisions):
            raise NotAllowedToDecide(f"{person.name} decided {card_id}; somebody else reviews it.", card=card_id)
        await _require_right(gateway, view, person)
        if not right and not reason.strip():
            raise InvalidArguments(f"Say what was wrong with {card_id}: a serious error has a reason.", card=card_id)
        appends: list[Append] = [
            gateway.event_append(view, "card.reviewed", by=person.id, right=right, via=via, reason=reason)
        ]
        if not right and view.chosen is not None:
            for use in sorted({action.use for action in view.chosen.actions}):
                facts = {"by": person.id, "card": str(card_id), "reason": reason}
                appends.append(await gateway.standings.append(use, SET_BACK, **facts))
        if await gateway.commit(*appends):
            return await gateway.get(card_id)
    raise VersionConflict(f"{card_id} is being changed by too many at once; try again.", id=card_id)


async def _require_right(gateway: ApprovalGateway, view: CardView, person: Person) -> None:
    delegations = await gateway.delegations.all()
    right = right_to_decide(gateway.people, delegations, view, person, gateway.clock.now())
    if not isinstance(right, Right):
        raise NotAllowedToDecide(right.message, card=view.card.card_id, person=person.id, why=right.why.value)
