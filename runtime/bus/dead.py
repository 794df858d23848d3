"""Dead letters: events that a group could not handle. Each has a stream of its own, `dead/GROUP/POSITION`."""

from __future__ import annotations

import asyncio

from contracts import Event
from runtime.bus.port import DeadLetter
from runtime.canonical import clean
from runtime.errors import NotFound, SiliconError, VersionConflict
from runtime.ledger.port import Append, Ledger, NewEvent

DEAD, RETRIED, DROPPED = "message.dead", "message.retried", "message.dropped"


def is_for_groups(event: Event, group: str) -> bool:
    """Whether the group may be given the event at all.

    What groups tell of their dead letters wakes no group, or two that fail would wake each other for ever. Only a dead
    letter that a person sends again is delivered, to its own group.
    """
    if event.type == RETRIED:
        return event.data is not None and event.data.get("group") == group
    return event.type not in (DEAD, DROPPED)


async def original_of(ledger: Ledger, event: Event) -> Event | None:
    """Return the event that is to be handled: itself, or the one that it sends again; None when that is gone."""
    if event.type != RETRIED:
        return event
    assert event.data is not None
    return await event_of(ledger, int(str(event.data["position"])))


async def event_of(ledger: Ledger, position: int) -> Event | None:
    """Return the event at a position; None when it was pruned."""
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


async def dead_letters(ledger: Ledger, group: str | None = None) -> list[DeadLetter]:
    """Return the dead letters of the group, or of all groups, oldest first."""
    prefix = "" if group is None else _stream(group, "")
    streams = await ledger.streams("dead", prefix=prefix, last_types=[DEAD])
    told = await asyncio.gather(*(ledger.read(stream) for stream in streams))
    return [_letter(events[-1]) for events in told if events and events[-1].data is not None]


async def dead_letter(ledger: Ledger, group: str, position: int) -> DeadLetter:
    """Return one dead letter; raise NotFound when the group has none there."""
    return _letter((await _told(ledger, group, position))[-1])


async def send_again(ledger: Ledger, group: str, position: int, *, by: str) -> None:
    """Record that the dead letter is to be handled once more; see `Bus.retry`."""
    await _close(ledger, group, position, NewEvent(RETRIED, {"group": group, "position": position, "by": by}))


async def drop(ledger: Ledger, group: str, position: int, *, by: str, reason: str) -> None:
    """Record that nobody handles the dead letter any more; see `Bus.drop`."""
    data = {"group": group, "position": position, "by": by, "reason": clean(reason)}
    await _close(ledger, group, position, NewEvent(DROPPED, data))


async def _close(ledger: Ledger, group: str, position: int, end: NewEvent) -> None:
    """Store what becomes of a dead letter. Of two people at once the second is told that it is none any more."""
    while True:
        told = await _told(ledger, group, position)
        try:
            await ledger.append(_append(_stream(group, position), end, told[-1], version=len(told)))
        except VersionConflict:
            continue
        return


async def _told(ledger: Ledger, group: str, position: int) -> list[Event]:
    told = await ledger.read(_stream(group, position))
    if not told or told[-1].type != DEAD or told[-1].data is None:
        raise NotFound(
            f"The group {group} has no dead letter {position}: it never had, or it was sent again or dropped already.",
            group=group, position=position,
        )  # fmt: skip
    return told


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
