"""What a person is told who decides a card that takes no decision of theirs."""

from __future__ import annotations

from collections.abc import Sequence

from governance.access.people import Person
from governance.approvals.card import CardView
from governance.approvals.life import CardState
from governance.errors import CardClosed, UnknownOption


def closed(view: CardView, person: Person) -> CardClosed:
    """Return who was first, and when; a second click of the same person is told of the first one."""
    card_id = view.card.card_id
    own = next((decision for decision in view.valid if decision.by == person.id), None)
    if own is not None:
        said = f"yes to {own.option}" if own.approve else "no"
        rest = f" It waits for {_missing(view)} more." if view.is_open else ""
        return CardClosed(
            f"{person.name} already decided {card_id} at {own.at:%Y-%m-%d %H:%M} UTC: {said}.{rest}",
            card=card_id, outcome=view.outcome, by=own.by, at=own.at.isoformat(), option=own.option,
        )  # fmt: skip
    at = view.closed_at or view.deadline
    decided = "approved" if view.is_approved else str(view.state)
    how = {
        CardState.EXPIRED: f"expired: nobody decided it by {view.deadline:%Y-%m-%d %H:%M} UTC",
        CardState.WITHDRAWN: f"was withdrawn: {view.reason}",
        CardState.SUPERSEDED: f"was superseded by {view.superseded_by}, which asks about the same",
    }.get(view.state, f"was {decided} by {view.decided_by} at {at:%Y-%m-%d %H:%M} UTC")
    option = view.chosen.id if view.chosen else None
    chosen = f", option {option}" if option else ""
    return CardClosed(
        f"{card_id} {how}{chosen}. Nothing was changed.",
        card=card_id, outcome=view.outcome, by=view.decided_by, at=at.isoformat(), option=option,
    )  # fmt: skip


def _missing(view: CardView) -> int:
    return view.card.quorum - max(len(view.voices_for(option.id)) for option in view.card.options)


def unknown_option(view: CardView, approve: bool, option: str | None) -> UnknownOption:
    """Return what options there are, for a yes without one of them or a no with one."""
    options: Sequence[str] = [candidate.id for candidate in view.card.options]
    if not approve:
        message = f"A no turns down every option; leave {option} out. To choose an option, say yes to it."
    elif option is None:
        message = f"A yes names its option: {', '.join(options)}."
    else:
        message = f"The card has no option {option}; it offers: {', '.join(options)}."
    return UnknownOption(message, card=view.card.card_id, option=option, options=list(options))
