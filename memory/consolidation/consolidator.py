"""Tells a shelf anew where somebody wrote or forgot something on it, and only then: no write, no request to a model.

Each memory is read to a model once in each version, the most important first; without a model it is told in its own
words. One process does it at a time, under a lease that runs out by itself; nobody waits for it.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum

from contracts import MemoryId, MemoryRecord, Name, Usage
from memory.consolidation.condensing import Batch, lines_of, request_for
from memory.consolidation.kept import CODE, MODEL, Consolidated, ConsolidatedShelves
from memory.consolidation.lines import Line, as_line, current, may_be_told, within
from memory.consolidation.shelf import Shelf
from memory.records.book import MemoryBook
from runtime.canonical import sha256
from runtime.clock import Clock
from runtime.context.compress import Ask
from runtime.errors import LedgerError, SiliconError, StaleWriter, VersionConflict
from runtime.ledger.port import Lease, Leases
from runtime.ledger.store import SqlStore
from runtime.settings import MemorySettings

_log = logging.getLogger(__name__)
_READ = 2_000
"""Memories of a shelf that are looked at, what must hold first, then the newest: far more than a page has room for."""
_BATCH_CHARS = 12_000


class Outcome(StrEnum):
    """What came of a consolidation."""

    UNCHANGED = "unchanged"
    """Nobody wrote or forgot anything since the last one."""
    BUSY = "busy"
    """Another process is at it."""
    TOLD = "told"
    UNFINISHED = "unfinished"
    """The model could not be asked for all of it; what it was asked for is kept."""


@dataclass(frozen=True, slots=True)
class Consolidation:
    """What came of it, and what it took."""

    shelf: Shelf
    outcome: Outcome
    requests: int = 0
    usage: Usage = field(default_factory=Usage)
    lines: int = 0
    faults: Sequence[str] = ()
    """Why parts of what a model wrote were not used, or why it could not be asked."""


class Consolidator:
    """Of one organisation. Any process may have one."""

    def __init__(
        self, store: SqlStore, book: MemoryBook, organisation: Name, *, clock: Clock, settings: MemorySettings,
        ask: Ask | None = None,
    ) -> None:  # fmt: skip
        """Take over what it works on; `ask` asks the model of the role `summarise`, None where there is none."""
        self.kept = ConsolidatedShelves(store.ledger, organisation)
        self._leases: Leases = store.leases
        self._book = book
        self._organisation = organisation
        self._clock = clock
        self._settings = settings
        self._ask = ask
        self._holder = f"consolidation-{secrets.token_hex(8)}"

    async def consolidate(self, shelf: Shelf) -> Consolidation:
        """Tell a shelf anew, if something was written to it or forgotten since it was told.

        Raises:
            LedgerUnavailable: nothing was changed, or what was told so far is kept.
        """
        before = (await self.kept.get(shelf)).get(shelf)
        if (await self._mark(shelf)) == (before.mark if before else _mark_of(())):
            return Consolidation(shelf, Outcome.UNCHANGED)
        stream = shelf.stream(self._organisation)
        lease = await self._leases.acquire(stream, self._holder, self._settings.lease_s)
        if lease is None:
            return Consolidation(shelf, Outcome.BUSY)
        try:
            return await self._told_anew(shelf, lease)
        except (VersionConflict, StaleWriter) as error:  # it took too long, and somebody else told it meanwhile
            _log.info("%s was told by another process: %s", shelf.title, error)
            return Consolidation(shelf, Outcome.BUSY)
        finally:
            await self._leases.release(lease)

    async def shelves(self) -> list[Shelf]:
        """Return all shelves on which something is or was told, in the order of their holders."""
        there = [Shelf(*each) for each in await self._book.table.shelves(self._organisation)]
        return [*there, *(shelf for shelf in await self.kept.all() if shelf not in there)]

    async def records(self, shelf: Shelf) -> dict[MemoryId, MemoryRecord]:
        """Return what may be told of a shelf by now, in the order in which it counts."""
        on = await self._book.table.on_shelf(self._organisation, shelf.holder, shelf.domain, shelf.project, limit=_READ)
        ids = [memory_id for memory_id, _ in on]
        there = await self._book.get_all(ids)
        now = self._clock.now()
        return {
            each: there[each] for each in ids if each in there and may_be_told(there[each], now, self._settings)
        }  # fmt: skip

    async def _told_anew(self, shelf: Shelf, lease: Lease) -> Consolidation:
        mark = await self._mark(shelf)  # before what it stands for is read: what comes later is told the next time
        before = (await self.kept.get(shelf)).get(shelf)
        expected = before.version if before else await self.kept.version(shelf)
        if before is not None and before.mark == mark:
            return Consolidation(shelf, Outcome.UNCHANGED)
        by = MODEL if self._ask is not None or (before is not None and before.by == MODEL) else CODE
        work = _Work(self._settings, self.kept, shelf, by, expected, lease)
        whole = await self._tell(before, await self.records(shelf), work, mark)
        outcome = Outcome.TOLD if whole else Outcome.UNFINISHED
        return Consolidation(shelf, outcome, work.requests, work.usage, len(work.lines), work.faults)

    async def _tell(
        self, before: Consolidated | None, records: Mapping[MemoryId, MemoryRecord], work: _Work, mark: str
    ) -> bool:
        """Tell it, keeping what was told after each request; return whether that is all of it."""
        now, settings = self._clock.now(), self._settings
        stands = before is not None and (self._ask is None or before.by == MODEL)  # else no model ever read it
        kept, new = current(before.lines if before and stands else (), records, now, settings)
        work.lines = [each.line for each in kept]
        if self._ask is None:
            work.lines = [*work.lines, *map(as_line, new)][:_READ]
            await work.keep(mark)
            return True
        batches = list(_batches(new, settings.consolidated_at_once))
        if not batches:
            await work.keep(mark)
        for number, batch in enumerate(batches, 1):
            shown, _ = within(current(work.lines, records, now, settings)[0], settings.auto_chars)
            told = [each.line for each in shown]
            try:
                async with self._kept_alive(work.lease):
                    await work.tell(Batch(batch, told), self._ask)
            except LedgerError:
                raise
            except SiliconError as error:  # the model is away: these are told once it is back
                work.faults.append(error.message)
                await work.keep("")
                return False
            await work.keep(mark if number == len(batches) else "")
        return True

    @asynccontextmanager
    async def _kept_alive(self, lease: Lease) -> AsyncIterator[None]:
        """Renew the lease as long as a model is waited for: how long that takes is not ours to say."""

        async def renew() -> None:
            while True:
                await asyncio.sleep(self._settings.lease_s / 3)
                await self._leases.renew(lease, self._settings.lease_s)

        renewing = asyncio.create_task(renew())
        try:
            yield
        finally:
            renewing.cancel()
            with suppress(asyncio.CancelledError, StaleWriter, LedgerError):  # what was lost is told when it is kept
                await renewing

    async def _mark(self, shelf: Shelf) -> str:
        return _mark_of(await self._book.table.on_shelf(self._organisation, shelf.holder, shelf.domain, shelf.project))


@dataclass(slots=True)
class _Work:
    """One shelf while it is told."""

    settings: MemorySettings
    kept: ConsolidatedShelves
    shelf: Shelf
    by: str
    expected: int
    lease: Lease
    lines: list[Line] = field(default_factory=list)
    requests: int = 0
    usage: Usage = field(default_factory=Usage)
    faults: list[str] = field(default_factory=list)
    _counted: Usage = field(default_factory=Usage)
    """What events tell already."""

    async def tell(self, batch: Batch, ask: Ask) -> None:
        """Let the memories of a batch be told, and those of the lines beside them whose place is taken."""
        others = [line for line in self.lines if line not in batch.lines]
        answer = await ask(request_for(batch, self.settings))
        self.requests += 1
        self.usage = self.usage + answer.usage
        lines, faults = lines_of(batch, answer)
        self.faults += faults
        self.lines = [*others, *lines]

    async def keep(self, mark: str) -> None:
        """Keep what was told so far; without a mark there is more to come."""
        usage = self.usage.since(self._counted)
        await self.kept.put(
            self.shelf, self.lines, mark=mark, by=self.by, usage=usage, expected=self.expected, lease=self.lease
        )
        self.expected += 1
        self._counted = self.usage


def _mark_of(on: Sequence[tuple[MemoryId, str]]) -> str:
    """Return what is the same as long as nobody writes or forgets anything; a read changes nothing of it."""
    return sha256([[str(memory_id), changed] for memory_id, changed in sorted(on)]) if on else ""


def _batches(records: Sequence[MemoryRecord], most: int) -> Iterator[list[MemoryRecord]]:
    batch: list[MemoryRecord] = []
    size = 0
    for record in records:
        if batch and (len(batch) == most or size + len(record.text) > _BATCH_CHARS):
            yield batch
            batch, size = [], 0
        batch.append(record)
        size += len(record.text)
    if batch:
        yield batch
