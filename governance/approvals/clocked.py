"""What the clock does to an open card: reminds, passes it on, lets it expire."""

from __future__ import annotations

from datetime import datetime

from governance.approvals.card import CardView, escalation, reminder, to_event_data
from governance.approvals.life import CardState
from runtime.ledger.port import NewEvent


def clocked_event(view: CardView, now: datetime) -> NewEvent | None:
    """Return the next thing that is due on the card, None when nothing is.

    A reminder whose deadline has passed as well is left out: nobody could follow it. Who got a card after its deadline
    has as much time again, counted from the moment it is passed on, however late that is.
    """
    if view.is_overdue(now):
        if view.state is CardState.OPEN and view.card.escalate_to:
            who, deadline = view.card.escalate_to, escalation(view, now)
            return NewEvent(
                "card.escalated", to_event_data(who=who, deadline=deadline, remind_at=reminder(view, now))
            )  # fmt: skip
        return NewEvent("card.expired", to_event_data(at=view.deadline))
    if view.is_open and view.remind_at is not None and now >= view.remind_at:
        return NewEvent("card.reminded", to_event_data(who=view.who, deadline=view.deadline))
    return None
