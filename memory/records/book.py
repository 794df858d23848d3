"""The memories of one organisation: every change is decided over the fold of its stream, and is one commit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, TypeAlias

from pydantic import ValidationError

from contracts import MemoryHolder, MemoryId, MemoryRecord, MemorySource, MemoryState, Name
from memory.records import fold as events
from memory.records.decay import read_again, surer
from memory.records.errors import MemoryPast
from memory.records.fold import Standing, fold, has_words, history, place_of, records_in
from memory.records.life import Move, state_after
from memory.records.port import Changes, MemoryDraft, MemoryFilter, MemoryVersion
from memory.records.table import MemoryTable
from runtime.canonical import clean, clean_text
from runtime.clock import Clock
from runtime.errors import InvalidArguments, NotFound, VersionConflict
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.plain_words import in_plain_words
from runtime.settings import MemorySettings

_TRIES = 5
"""How often a change is decided anew when somebody else changed the same memory at the same moment."""
_AT_ONCE = 500
_WORDS = frozenset(field.name for field in fields(MemoryDraft)) - {"memory_id"}
Decide: TypeAlias = Callable[[Standing, MemoryRecord], NewEvent | None]
"""None: nothing is to happen."""
Plan: TypeAlias = Callable[[Standing, MemoryRecord], Awaitable[Sequence["_Change"]]]


@dataclass(frozen=True, slots=True)
class _Change:
    """One memory as it stands, and what is to happen to it."""

    standing: Standing
    event: NewEvent


class MemoryBook:
    """The port `Memories` on a SQL store."""

    def __init__(self, store: SqlStore, organisation: Name, *, clock: Clock, settings: MemorySettings) -> None:
        self._store = store
        self._organisation = organisation
        self._clock = clock
        self._settings = settings
        self.table = MemoryTable(store)

    async def add(
        self, draft: MemoryDraft, *, by: str, supersedes: MemoryId | None = None, disputes: MemoryId | None = None
    ) -> MemoryRecord:
        """Store a record; see the port."""
        record = self._made(draft, by, supersedes, disputes)
        new = self._new(record, by)
        if supersedes is None:
            await self._store.ledger.append(new)
            return record
        since = record.valid_from
        await self._change(
            supersedes, lambda _, older: self._superseded(older, record.memory_id, by, since), beside=[new]
        )
        return record

    async def add_many(self, drafts: Sequence[MemoryDraft], *, by: str) -> list[MemoryRecord]:
        """Store many records in few commits; see the port."""
        made = [self._made(draft, by) for draft in drafts]
        for start in range(0, len(made), _AT_ONCE):
            await self._store.ledger.append(*(self._new(record, by) for record in made[start : start + _AT_ONCE]))
        return made

    async def get(self, memory_id: MemoryId) -> MemoryRecord:
        """Return a record as it stands; see the port."""
        standing = await self._standing(memory_id)
        if standing.record is None:
            raise NotFound(f"{memory_id} was erased.", id=memory_id)
        return standing.record

    async def get_all(self, memory_ids: Sequence[MemoryId]) -> Mapping[MemoryId, MemoryRecord]:
        """Return those of these records whose words are there; see the port."""
        return await self.table.get_all(self._organisation, memory_ids)

    async def history(self, memory_id: MemoryId) -> list[MemoryVersion]:
        """Return what happened to a record; see the port."""
        told = await self._store.ledger.read(memory_id)
        if not told or told[0].organisation != self._organisation:
            raise self._missing(memory_id)
        return history(told)

    async def find(
        self, which: MemoryFilter, *, after: MemoryId | None = None, limit: int | None = None
    ) -> list[MemoryRecord]:
        """Return records, oldest first; see the port."""
        return await self.table.find(self._organisation, which, after=after, limit=limit)

    async def about(self, holder: MemoryHolder, domain: Name | None, subject: str, relation: str) -> list[MemoryRecord]:
        """Return the active records about this; see the port."""
        return await self.table.about(self._organisation, holder, domain, subject, relation)

    async def saying(self, holder: MemoryHolder, domain: Name | None, text: str) -> list[MemoryRecord]:
        """Return the active records that say this; see the port."""
        return await self.table.saying(self._organisation, holder, domain, text)

    async def count(self) -> int:
        """Return how many records are active."""
        return (await self.table.count(self._organisation)).get(MemoryState.ACTIVE.value, 0)

    async def head(self) -> int:
        """Return the position of the ledger; while it stands there, no record has changed."""
        return await self._store.ledger.head()

    async def changes(self, *, after: int = 0, limit: int = 2_000) -> Changes:
        """Return what changed since; see the port."""
        return await self.table.changes(self._organisation, after, limit)

    async def correct(
        self, memory_id: MemoryId, changed: Mapping[str, object], *, by: str, version: int, reason: str = ""
    ) -> MemoryRecord:
        """Write a new version; see the port."""
        if unknown := sorted(changed.keys() - _WORDS):
            raise ValueError(f"A memory has no {', '.join(unknown)}.")

        def decide(standing: Standing, record: MemoryRecord) -> NewEvent:
            if record.version != version:
                raise VersionConflict(
                    f"{memory_id} is at version {record.version} by now, not at {version}: look at it again.",
                    id=memory_id, version=record.version,
                )  # fmt: skip
            now = self._clock.now()
            told = record.model_dump() | clean_words(changed)
            told |= {"version": version + 1, "changed_at": now, "accessed_at": now, "written_by": by}
            new = checked(told)
            return self._event(events.CORRECTED, by, reason, record=new.to_json())

        return await self._change(memory_id, decide)

    async def reinforce(self, memory_id: MemoryId, *, source: MemorySource, by: str) -> MemoryRecord:
        """Note that the same was said again; see the port."""

        def decide(standing: Standing, record: MemoryRecord) -> NewEvent | None:
            if place_of(source) & standing.heard:
                return None
            return self._event(
                events.REINFORCED, by, importance=read_again(record.importance, self._settings),
                confidence=surer(record.confidence, self._settings), source=source.to_json(),
            )  # fmt: skip

        return await self._change(memory_id, decide)

    async def note_read(self, memory_ids: Sequence[MemoryId], *, by: str) -> None:
        """Note that records were read; see the port."""

        def decide(standing: Standing, record: MemoryRecord) -> NewEvent:
            return self._event(events.READ, by, importance=read_again(record.importance, self._settings))

        for _ in range(_TRIES):
            standings = [await self._standing(memory_id) for memory_id in dict.fromkeys(memory_ids)]
            changes = [
                _Change(each, decide(each, each.record))
                for each in standings
                if each.record is not None and each.state is MemoryState.ACTIVE
            ]
            try:
                await self._append(changes)
            except VersionConflict:
                continue
            return
        raise self._too_many(", ".join(memory_ids))

    async def supersede(self, memory_id: MemoryId, *, newer: MemoryId, by: str, reason: str = "") -> None:
        """Say that another record holds in its place; see the port."""
        now = self._clock.now()
        await self._change(memory_id, lambda _, record: self._superseded(record, newer, by, now, reason))

    async def confirm(self, memory_id: MemoryId, *, by: str, supersedes: MemoryId | None = None) -> MemoryRecord:
        """Let a disputed record hold; see the port."""

        async def plan(standing: Standing, record: MemoryRecord) -> Sequence[_Change]:
            older = None if supersedes is None else await self._holding(supersedes, memory_id)
            instead = supersedes if older is None else older.memory_id
            confirmed = _Change(standing, self._event(events.CONFIRMED, by, supersedes=instead))
            return [confirmed, *self._giving_way(older, memory_id, by)]

        return await self._together(memory_id, plan)

    async def undo(self, memory_id: MemoryId, *, by: str, reason: str = "") -> MemoryRecord:
        """Take the newest change back; see the port."""

        async def plan(standing: Standing, record: MemoryRecord) -> Sequence[_Change]:
            return await self._taken_back(standing, record, by, reason)

        return await self._together(memory_id, plan)

    async def withdraw(self, memory_id: MemoryId, *, by: str, reason: str = "") -> MemoryRecord:
        """Forget a record so that it can be restored; see the port."""
        return await self._change(memory_id, lambda *_: self._event(events.WITHDRAWN, by, reason))

    async def archive(self, memory_id: MemoryId, *, by: str, reason: str = "") -> MemoryRecord:
        """Put a record away; see the port."""
        return await self._change(memory_id, lambda *_: self._event(events.ARCHIVED, by, reason))

    async def restore(self, memory_id: MemoryId, *, by: str, reason: str = "") -> MemoryRecord:
        """Bring a record back; see the port."""

        async def plan(standing: Standing, record: MemoryRecord) -> Sequence[_Change]:
            return await self._brought_back(standing, record, by, reason)

        return await self._together(memory_id, plan)

    async def fade(self, memory_id: MemoryId, *, cycle: str, archive_after: int) -> MemoryRecord | None:
        """Note that the daily cycle of a date found a record nearly forgotten, and archive it after so many in a row.

        None where this cycle has noted it already, or the record is not active any more.
        """
        standing, _ = await self._there(memory_id)
        if standing.state is not MemoryState.ACTIVE or cycle in standing.faded:
            return None
        told = [self._event(events.FADED, "cycle", cycle=cycle)]
        if len(standing.faded) + 1 >= archive_after:
            told.append(self._event(events.ARCHIVED, "cycle", reason="faded"))
        await self._store.ledger.append(self._append_to(memory_id, told, standing.events))
        return await self.get(memory_id)

    async def erase(self, memory_id: MemoryId, *, by: str, reason: str) -> None:
        """Remove the words of every version for good; see the port."""
        await self.begin_erasure(memory_id, by=by, reason=reason)
        await self.finish_erasure(memory_id)
        await self._store.reader.flush_erased()

    async def begin_erasure(self, memory_id: MemoryId, *, by: str, reason: str) -> Sequence[MemoryRecord]:
        """Let a record be gone for everybody, and return what its versions say: their words are still in the ledger."""
        standing = await self._standing(memory_id)
        if standing.state is not MemoryState.ERASED:
            state_after(standing.state, Move.ERASE, memory_id)
            event = self._event(events.ERASED, by, reason)
            await self._store.ledger.append(self._append_to(memory_id, [event], standing.events))
        await self.table.catch_up()  # the table has its words as well
        return records_in(await self._store.ledger.read(memory_id))

    async def begun_erasures(self) -> Mapping[MemoryId, Sequence[MemoryRecord]]:
        """Return the records whose erasure was begun and not finished, with what of their versions is left."""
        erased = await self._store.ledger.streams(
            MemoryId.KIND, organisation=self._organisation, last_types=(events.ERASED,)
        )
        found = {}
        for stream in erased:
            told = await self._store.ledger.read(stream)
            if any(map(has_words, told)):
                found[MemoryId(stream)] = records_in(told)
        return found

    async def finish_erasure(self, memory_id: MemoryId) -> None:
        """Remove the words of every version from the ledger; again after a crash: what is gone stays gone."""
        for event in await self._store.ledger.read(memory_id):
            if has_words(event):
                await self._store.ledger.erase(memory_id, event.stream_version)

    async def _taken_back(self, standing: Standing, record: MemoryRecord, by: str, reason: str) -> Sequence[_Change]:
        """Return what takes the newest change of a memory back."""
        if standing.state in (MemoryState.ARCHIVED, MemoryState.WITHDRAWN):
            return await self._brought_back(standing, record, by, reason)
        if standing.state is MemoryState.SUPERSEDED:
            return await self._reinstated(standing, record, by, reason)
        if standing.state is MemoryState.ACTIVE and standing.revertible:
            now = self._clock.now()
            before = standing.revertible[-1]
            told = {"version": record.version + 1, "changed_at": now, "accessed_at": now, "written_by": by}
            as_before = checked(before.model_dump() | told)
            return [_Change(standing, self._event(events.REVERTED, by, reason, record=as_before.to_json()))]
        raise MemoryPast(f"There is nothing to take back of {standing.memory_id}.", id=standing.memory_id)

    async def _reinstated(self, standing: Standing, record: MemoryRecord, by: str, reason: str) -> Sequence[_Change]:
        """Let a superseded record hold again, and withdraw what holds in its place."""
        back = [_Change(standing, self._event(events.REINSTATED, by, reason))]
        newer = None if record.superseded_by is None else await self._standing(record.superseded_by)
        if newer is not None and newer.state is MemoryState.SUPERSEDED:
            raise MemoryPast(
                f"{newer.memory_id}, which took the place of {standing.memory_id}, was itself superseded: take that "
                "back first.", id=standing.memory_id, newer=newer.memory_id,
            )  # fmt: skip
        if newer is not None and newer.state is MemoryState.ACTIVE:
            back.append(_Change(newer, self._event(events.WITHDRAWN, by, reason)))
        return back

    async def _brought_back(self, standing: Standing, record: MemoryRecord, by: str, reason: str) -> Sequence[_Change]:
        """Return what restores a memory: what held in the place that it had gives way, and a dispute is open again."""
        if standing.state is MemoryState.WITHDRAWN and record.disputes is not None:
            return [_Change(standing, self._event(events.REOPENED, by, reason))]
        holding = None if record.supersedes is None else await self._holding(record.supersedes, standing.memory_id)
        back = _Change(standing, self._event(events.RESTORED, by, reason))
        return [back, *self._giving_way(holding, standing.memory_id, by)]

    async def _holding(self, memory_id: MemoryId, newer: MemoryId) -> Standing | None:
        """Return what holds by now in the place of a memory, along what superseded it; None where nothing does.

        A chain that comes to `newer` holds nothing but that.
        """
        seen = {newer}
        while memory_id not in seen:
            seen.add(memory_id)
            standing = await self._standing(memory_id)
            if standing.record is None or standing.state is MemoryState.ACTIVE:
                return standing if standing.record is not None else None
            if standing.state is not MemoryState.SUPERSEDED or standing.record.superseded_by is None:
                return None
            memory_id = standing.record.superseded_by
        return None

    def _giving_way(self, older: Standing | None, newer: MemoryId, by: str) -> Sequence[_Change]:
        if older is None or older.record is None:
            return ()
        return (_Change(older, self._superseded(older.record, newer, by, self._clock.now())),)

    def _superseded(
        self, record: MemoryRecord, newer: MemoryId, by: str, until: datetime, reason: str = ""
    ) -> NewEvent:
        ends = max(until, record.valid_from)
        return self._event(events.SUPERSEDED, by, reason, newer=newer, until=ends.isoformat())

    async def _change(self, memory_id: MemoryId, decide: Decide, *, beside: Sequence[Append] = ()) -> MemoryRecord:
        """Let one thing happen to a memory, decided over how it stands, and anew when somebody else was quicker."""

        async def plan(standing: Standing, record: MemoryRecord) -> Sequence[_Change]:
            event = decide(standing, record)
            return () if event is None else (_Change(standing, event),)

        return await self._together(memory_id, plan, beside=beside)

    async def _together(self, memory_id: MemoryId, plan: Plan, *, beside: Sequence[Append] = ()) -> MemoryRecord:
        """Let what belongs together happen in one commit, planned anew when somebody else was quicker."""
        for _ in range(_TRIES):
            standing, record = await self._there(memory_id)
            changes = await plan(standing, record)
            try:
                await self._append(changes, beside)
            except VersionConflict:
                continue
            return await self.get(memory_id)
        raise self._too_many(memory_id)

    async def _append(self, changes: Sequence[_Change], beside: Sequence[Append] = ()) -> None:
        for each in changes:
            state_after(each.standing.state, events.MOVES[each.event.type], each.standing.memory_id)
        appends = [self._append_to(each.standing.memory_id, [each.event], each.standing.events) for each in changes]
        if appends or beside:
            await self._store.ledger.append(*appends, *beside)

    def _append_to(self, memory_id: MemoryId, told: Sequence[NewEvent], expected: int) -> Append:
        return Append(memory_id, told, expected, self._organisation, f"/organisation/{self._organisation}/memory")

    def _new(self, record: MemoryRecord, by: str) -> Append:
        event = self._event(events.WRITTEN, by, record=record.to_json())
        return self._append_to(record.memory_id, [event], 0)

    def _made(
        self, draft: MemoryDraft, by: str, supersedes: MemoryId | None = None, disputes: MemoryId | None = None
    ) -> MemoryRecord:
        now = self._clock.now()
        words = {name: getattr(draft, name) for name in _WORDS}
        told = {
            "memory_id": draft.memory_id or MemoryId.new(), "version": 1, "organisation": self._organisation,
            "state": MemoryState.DISPUTED if disputes else MemoryState.ACTIVE, "disputes": disputes,
            "supersedes": supersedes, "valid_from": draft.valid_from or now, "created_at": now, "changed_at": now,
            "accessed_at": now, "written_by": by,
        }  # fmt: skip
        return checked(clean_words(words) | told)

    def _event(self, kind: str, by: str, reason: str = "", **data: Any) -> NewEvent:
        told = {"by": by, **({"reason": clean_text(reason)} if reason else {}), **data}
        return NewEvent(kind, {name: value for name, value in told.items() if value is not None})

    async def _there(self, memory_id: MemoryId) -> tuple[Standing, MemoryRecord]:
        standing = await self._standing(memory_id)
        if standing.record is None:
            raise MemoryPast(f"{memory_id} was erased.", id=memory_id)
        return standing, standing.record

    async def _standing(self, memory_id: MemoryId) -> Standing:
        told = await self._store.ledger.read(memory_id)
        if not told or told[0].organisation != self._organisation:
            raise self._missing(memory_id)
        return fold(told)

    def _missing(self, memory_id: MemoryId) -> NotFound:
        return NotFound(f"There is no {memory_id} in {self._organisation}.", id=memory_id)

    def _too_many(self, what: str) -> VersionConflict:
        return VersionConflict(f"{what} is changed by too many at once; try again.")


def clean_words(words: Mapping[str, object]) -> dict[str, Any]:
    """Return fields of a memory as every store can hold them, without blanks around: blanks alone say nothing."""
    return {name: _clean(value) for name, value in words.items()}


def _clean(value: object) -> object:
    if isinstance(value, MemoryHolder | MemorySource | datetime):
        return value
    plain = clean(value)
    return plain.strip() if isinstance(plain, str) else plain


def checked(told: Mapping[str, Any]) -> MemoryRecord:
    """Return the record; raise InvalidArguments that says everything that is wrong with it."""
    try:
        return MemoryRecord.model_validate(told)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, each['loc']))}: {in_plain_words(each)}" for each in error.errors())
        raise InvalidArguments(f"This cannot be remembered: {faults}.", faults=faults) from None
