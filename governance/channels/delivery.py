"""A message on its way to one person by one channel: one transition table, and the fold of its stream over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from contracts import DeliveryId, Event, Name, Severity
from governance.errors import IllegalTransition
from runtime.errors import NotFound
from runtime.ledger.port import Append, NewEvent

QUEUED, FAILED, SENT = "delivery.queued", "delivery.failed", "delivery.sent"
DEAD, RETRIED, DROPPED = "delivery.dead", "delivery.retried", "delivery.dropped"
OPEN_TYPES = (QUEUED, FAILED, RETRIED)
"""Types of the last event of a delivery that is still to be tried."""


class DeliveryState(StrEnum):
    """Where a delivery stands."""

    WAITING = "waiting"
    """It is to be tried, now or later."""
    SENT = "sent"
    """The other side took it."""
    DEAD = "dead"
    """It was tried as often as is tried; somebody has to look."""
    DROPPED = "dropped"
    """Nobody is to get it any more."""


LIFE: Mapping[tuple[DeliveryState | None, str], DeliveryState] = {
    (None, QUEUED): DeliveryState.WAITING,
    (DeliveryState.WAITING, FAILED): DeliveryState.WAITING,
    (DeliveryState.WAITING, SENT): DeliveryState.SENT,
    (DeliveryState.WAITING, DEAD): DeliveryState.DEAD,
    (DeliveryState.WAITING, DROPPED): DeliveryState.DROPPED,
    (DeliveryState.DEAD, RETRIED): DeliveryState.WAITING,
    (DeliveryState.DEAD, DROPPED): DeliveryState.DROPPED,
}


def state_after(state: DeliveryState | None, type_: str) -> DeliveryState:
    """Return where an event leads; raise IllegalTransition when the table has no such row."""
    try:
        return LIFE[state, type_]
    except KeyError:
        raise IllegalTransition(f"A delivery that is {state} takes no {type_}.", state=state, type=type_) from None


@dataclass(frozen=True, slots=True)
class Delivery:
    """How a delivery stands."""

    delivery_id: DeliveryId
    organisation: Name
    person: Name
    channel: Name
    what: str
    """What it tells of: the type of event, such as `card.raised`."""
    about: str
    """The card, alert or message that it tells of."""
    severity: Severity
    title: str
    text: str
    queued_at: datetime
    due_at: datetime
    """Not tried before."""
    state: DeliveryState = DeliveryState.WAITING
    version: int = 0
    attempts: int = 0
    why: str = ""
    """What went wrong last, or why it was dropped."""
    ended_at: datetime | None = None


def queued(delivery: Delivery) -> Append:
    """Return the append with which a delivery begins."""
    data = {
        "person": delivery.person,
        "channel": delivery.channel,
        "what": delivery.what,
        "about": delivery.about,
        "severity": delivery.severity.value,
        "title": delivery.title,
        "text": delivery.text,
        "due_at": delivery.due_at.isoformat(),
    }
    return _append(delivery, NewEvent(QUEUED, dict(data)))


def happened(delivery: Delivery, type_: str, **facts: Any) -> Append:
    """Return the append of what happened to a delivery as it was seen."""
    state_after(delivery.state, type_)
    return _append(delivery, NewEvent(type_, facts))


def fold_delivery(events: Sequence[Event]) -> Delivery:
    """Return how a delivery stands after its events.

    Raises:
        NotFound: there are none, or its text was erased.
        IllegalTransition: the stream holds what the table does not allow.
    """
    if not events or events[0].data is None:
        raise NotFound("There is no such delivery.")
    first, data = events[0], events[0].data
    state, due_at, attempts, why, ended_at = state_after(None, first.type), str(data["due_at"]), 0, "", None
    for event in events[1:]:
        facts = event.data or {}
        state = state_after(state, event.type)
        due_at = str(facts.get("next_at", due_at))
        attempts = 0 if event.type == RETRIED else attempts + (event.type in (FAILED, SENT, DEAD))
        why = str(facts.get("why", "")) if event.type != SENT else ""
        ended_at = event.time if state is not DeliveryState.WAITING else None
    return Delivery(
        delivery_id=DeliveryId(first.subject), organisation=first.organisation, person=str(data["person"]),
        channel=str(data["channel"]), what=str(data["what"]), about=str(data["about"]),
        severity=Severity(str(data["severity"])), title=str(data["title"]), text=str(data["text"]),
        queued_at=first.time, due_at=datetime.fromisoformat(due_at), state=state, version=len(events),
        attempts=attempts, why=why, ended_at=ended_at,
    )  # fmt: skip


def _append(delivery: Delivery, event: NewEvent) -> Append:
    return Append(
        delivery.delivery_id, (event,), delivery.version, delivery.organisation,
        f"/organisation/{delivery.organisation}/channels",
    )  # fmt: skip
