"""How a memory stands: the fold of its stream over the table of its life."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeAlias

from contracts import Event, MemoryId, MemoryRecord, MemorySource, MemoryState
from memory.records.life import Move, state_after
from memory.records.port import MemoryVersion
from runtime.errors import NotFound

WRITTEN, CORRECTED, REVERTED = "memory.written", "memory.corrected", "memory.reverted"
"""Events that hold a whole record; reverted: as it was before the newest correction."""
REINFORCED, READ, FADED = "memory.reinforced", "memory.read", "memory.faded"
SUPERSEDED, REINSTATED, CONFIRMED = "memory.superseded", "memory.reinstated", "memory.confirmed"
ARCHIVED, WITHDRAWN, RESTORED, ERASED = "memory.archived", "memory.withdrawn", "memory.restored", "memory.erased"
REOPENED = "memory.reopened"

MOVES: Mapping[str, Move] = {
    CORRECTED: Move.CORRECT, REVERTED: Move.CORRECT, REINFORCED: Move.REINFORCE, READ: Move.READ, FADED: Move.FADE,
    SUPERSEDED: Move.SUPERSEDE, REINSTATED: Move.REINSTATE, CONFIRMED: Move.CONFIRM, ARCHIVED: Move.ARCHIVE,
    WITHDRAWN: Move.WITHDRAW, RESTORED: Move.RESTORE, REOPENED: Move.REOPEN, ERASED: Move.ERASE,
}  # fmt: skip
"""Event → the move that it tells of."""
EVENTS = (WRITTEN, *MOVES)
Facts: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Standing:
    """A memory as its stream tells."""

    memory_id: MemoryId
    state: MemoryState
    events: int
    """How many its stream has: what a writer expects."""
    position: int
    """Of the newest of them."""
    record: MemoryRecord | None
    """None once its words are gone."""
    faded: tuple[str, ...] = ()
    """Dates of the daily cycles in a row, up to now, that found it nearly forgotten."""
    revertible: tuple[MemoryRecord, ...] = ()
    """What it said before each correction that was not taken back, oldest first."""
    heard: frozenset[str] = frozenset()
    """Turns and orders that said it; one of them counts once, however often it is read."""


def fold(events: Sequence[Event]) -> Standing:
    """Return how the memory of a stream stands.

    Raises:
        NotFound: there is no such stream, or it was pruned.
        MemoryPast: the events do not follow from each other.
    """
    if not events or events[0].type != WRITTEN:
        raise NotFound("There is no such memory.", id=events[0].subject if events else None)
    first = events[0]
    record = None if first.data is None else MemoryRecord.read(first.data["record"])  # type: ignore[arg-type]
    state = MemoryState.ERASED if record is None else record.state
    heard = frozenset[str]() if record is None else place_of(record.source)
    standing = Standing(MemoryId(first.subject), state, 1, first.position, record, heard=heard)
    for event in events[1:]:
        standing = after(standing, event)
    return standing


def after(standing: Standing, event: Event) -> Standing:
    """Return how a memory stands after one more event."""
    moved = replace(standing, events=event.stream_version, position=event.position)
    if event.type == ERASED or standing.record is None or event.data is None:
        return replace(moved, state=MemoryState.ERASED, record=None, revertible=(), faded=())
    state = state_after(standing.state, MOVES[event.type], standing.memory_id)
    moved = _CHANGES[event.type](moved, event.data, event.time)
    assert moved.record is not None, "only erasing takes the words away"
    return replace(moved, state=state, record=moved.record.model_copy(update={"state": state}))


def has_words(event: Event) -> bool:
    """Return whether an event of a memory still says what an erasure takes away: all but that it was erased."""
    return event.type != ERASED and event.data is not None


def records_in(events: Sequence[Event]) -> list[MemoryRecord]:
    """Return the versions whose words are there, oldest first; of a memory that is half erased those that are left."""
    told = [event.data["record"] for event in events if event.data is not None and "record" in event.data]
    return [MemoryRecord.read(each) for each in told]  # type: ignore[arg-type]


def history(events: Sequence[Event]) -> list[MemoryVersion]:
    """Return what happened to a memory, oldest first; nothing of what is erased."""
    found: list[MemoryVersion] = []
    standing: Standing | None = None
    for event in events:
        standing = fold(events[:1]) if standing is None else after(standing, event)
        if standing.record is None or event.data is None:
            continue
        by, reason = str(event.data.get("by", "")), str(event.data.get("reason", ""))
        found.append(MemoryVersion(standing.record, event.type, event.position, by, reason))
    return found


def place_of(source: MemorySource) -> frozenset[str]:
    """Return the turn or order in which something was said; none where a person wrote it down, which always counts."""
    if source.said_by is not None:
        return frozenset()
    if source.conversation is not None and source.turn is not None:
        return frozenset({f"{source.conversation} {source.turn}"})
    return frozenset() if source.order_id is None else frozenset({source.order_id})


def _corrected(standing: Standing, data: Facts, at: datetime) -> Standing:
    before = standing.record
    assert before is not None
    return replace(
        standing, record=MemoryRecord.read(data["record"]), faded=(), revertible=(*standing.revertible, before)
    )


def _reverted(standing: Standing, data: Facts, at: datetime) -> Standing:
    record = MemoryRecord.read(data["record"])
    return replace(standing, record=record, faded=(), revertible=standing.revertible[:-1])


def _accessed(standing: Standing, data: Facts, at: datetime) -> Standing:
    changes: dict[str, object] = {"importance": float(data["importance"]), "accessed_at": at}
    if "confidence" in data:
        changes["confidence"] = float(data["confidence"])
    heard = standing.heard | (place_of(MemorySource.read(data["source"])) if "source" in data else frozenset())
    return _with(replace(standing, faded=(), heard=heard), changes)


def _faded(standing: Standing, data: Facts, at: datetime) -> Standing:
    return replace(standing, faded=(*standing.faded, str(data["cycle"])))


def _superseded(standing: Standing, data: Facts, at: datetime) -> Standing:
    until = datetime.fromisoformat(str(data["until"]))
    return _with(standing, {"superseded_by": MemoryId(str(data["newer"])), "valid_until": until})


def _reinstated(standing: Standing, data: Facts, at: datetime) -> Standing:
    return _with(standing, {"superseded_by": None, "valid_until": None})


def _put_away(standing: Standing, data: Facts, at: datetime) -> Standing:
    return replace(standing, faded=())


def _restored(standing: Standing, data: Facts, at: datetime) -> Standing:
    """It begins to fade from now on: else the next cycle would put it away again."""
    return _with(replace(standing, faded=()), {"accessed_at": at})


def _confirmed(standing: Standing, data: Facts, at: datetime) -> Standing:
    supersedes = MemoryId(str(data["supersedes"])) if data.get("supersedes") else None
    return _with(standing, {"supersedes": supersedes, "disputes": None})


_CHANGES: Mapping[str, Callable[[Standing, Facts, datetime], Standing]] = {
    CORRECTED: _corrected,
    REVERTED: _reverted,
    REINFORCED: _accessed,
    READ: _accessed,
    FADED: _faded,
    SUPERSEDED: _superseded,
    REINSTATED: _reinstated,
    CONFIRMED: _confirmed,
    ARCHIVED: _put_away,
    WITHDRAWN: _put_away,
    RESTORED: _restored,
    REOPENED: _restored,
}


def _with(standing: Standing, changes: Mapping[str, object]) -> Standing:
    assert standing.record is not None
    return replace(standing, record=standing.record.model_copy(update=changes))
