"""Dead letters: events that a group could not handle. Each has a stream of its own, `dead/GROUP/POSITION`."""

from __future__ import annotations

import asyncio

from contracts import Event
from runtime.bus.port import DeadLetter
from runtime.canonical import clean
from runtime.errors import NotFound, SiliconError
from runtime.ledger.port import Append, Ledger, NewEvent

DEAD, RETRIED = "message.dead", "message.retried"


def is_for_groups(event: Event, group: str) -> bool:
    """Whether the group may be given the event at all.

    What groups tell of their dead letters wakes no group, or two that fail would wake each other for ever. Only a dead
    letter that a person sends again is delivered, to its own group.
    """
    if event.type == RETRIED:
        return event.data is not None and event.data.get("group") == group
    return event.type != DEAD


async def original_of(ledger: Ledger, event: Event) -> Event | None:
    """Return the event that is to be handled: itself, or the one that it sends again; None when that is gone."""
    if event.type != RETRIED:
        return event
    assert event.data is not None
    position = int(str(event.data["position"]))
    found = await ledger.read_all(after=position - 1, limit=1)
    return found[0] if found and found[0].position == position else None


async def burial(ledger: Ledger, group: str, event: Event, *, tries: int, error: Exception) -> Append:
    """Return the append that puts the event among the dead letters of the group."""
    stream = _stream(group, event.position)
    code = error.code if isinstance(error, SiliconError) else type(error).__name__
    data = {
        "group": group,
        "position": event.position,
        "stream": event.subject,
        "type": event.type,
        "tries": tries,
        "error": clean({"code": code, "message": str(error)[:2_000]}),
    }
    return _append(stream, NewEvent(DEAD, data), event, version=len(await ledger.read(stream)))


async def dead_letters(ledger: Ledger, group: str) -> list[DeadLetter]:
    """Return the dead letters of the group, oldest first."""
    streams = await ledger.streams("dead", prefix=_stream(group, ""), last_types=[DEAD])
    told = await asyncio.gather(*(ledger.read(stream) for stream in streams))
    return [_letter(events[-1]) for events in told if events and events[-1].data is not None]


async def send_again(ledger: Ledger, group: str, position: int, *, by: str) -> None:
    """Record that the dead letter is to be handled once more; see `Bus.retry`."""
    stream = _stream(group, position)
    told = await ledger.read(stream)
    if not told or told[-1].type != DEAD:
        raise NotFound(
            f"The group {group} has no dead letter {position}: it never had, or it was sent again already.",
            group=group,
            position=position,
        )
    event = NewEvent(RETRIED, {"group": group, "position": position, "by": by})
    await ledger.append(_append(stream, event, told[-1], version=len(told)))


def _stream(group: str, position: int | str) -> str:
    return f"dead/{group}/{position}"


def _append(stream: str, new: NewEvent, about: Event, *, version: int) -> Append:
    return Append(
        stream=stream,
        events=[new],
        expected_version=version,
        organisation=about.organisation,
        source=f"/organisation/{about.organisation}",
        trace_id=about.trace_id,  # but not the execution's id: that may have ended long ago
    )


def _letter(event: Event) -> DeadLetter:
    data = event.data or {}
    return DeadLetter(
        group=str(data["group"]),
        position=int(str(data["position"])),
        stream=str(data["stream"]),
        type=str(data["type"]),
        tries=int(str(data["tries"])),
        error=data["error"],
        at=event.time,
    )
