"""What a card means that ended without a yes."""

from __future__ import annotations

from contracts import Outcome
from governance.approvals.card import CardView
from runtime.capabilities.port import Refused


def turned_down(view: CardView) -> Refused:
    """Return the refusal: a no, silence and a withdrawal each under its own name."""
    card_id = view.card.card_id
    match view.outcome:
        case Outcome.DENIED:
            said = view.decisions[-1].reason
            return Refused("DENIED", f"{view.decided_by} said no on {card_id}{f': {said}' if said else '.'}")
        case Outcome.EXPIRED:
            return Refused("EXPIRED", f"Nobody decided {card_id} by {view.deadline:%Y-%m-%d %H:%M} UTC; it expired.")
        case Outcome.SUPERSEDED:
            return Refused(
                "SUPERSEDED", f"{card_id} was superseded by {view.superseded_by}, which asks about the same."
            )
    return Refused("WITHDRAWN", f"{card_id} was withdrawn: {view.reason}")


def taken_back(view: CardView) -> Refused:
    """Return that somebody had what the card allowed taken back, so that it allows nothing any more."""
    by = view.back.by if view.back is not None else "somebody"
    return Refused("TAKEN_BACK", f"{by} had {view.card.card_id} taken back; what it allowed is not done any more.")


def done_elsewhere(view: CardView) -> Refused:
    """Return that another execution carries out what was approved, so that it is not done twice."""
    card = view.card
    return Refused(
        "DONE_ELSEWHERE",
        f"{card.execution_id} asked for the same before and carries it out on {card.card_id}; nothing is done twice.",
    )
