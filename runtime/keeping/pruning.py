"""Takes old executions away for good, a little at a time, while others run; the audit stays clean.

Each leaves tombstones and records (`runtime.ledger.pruning`). The ledger is whole after every transaction: a pruning
that is killed loses nothing but time, and the next one takes up what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial

from sqlalchemy import bindparam, delete

from contracts import Event, ExecutionId
from runtime.clock import Clock
from runtime.errors import VersionConflict
from runtime.keeping.due import DECIDED, ENDED, OwnStream, due, interrupted, own_streams
from runtime.keeping.holds import Holds, stream_of
from runtime.keeping.prune_blobs import prune_blobs
from runtime.keeping.prune_fragments import prune_fragments
from runtime.keeping.results import Pruned
from runtime.keeping.space import free_bytes, give_back
from runtime.ledger.leases import RELEASED
from runtime.ledger.port import Stream
from runtime.ledger.pruning import Pruning, prune
from runtime.ledger.rows import time_to_number
from runtime.ledger.schema import leases
from runtime.ledger.statements import compiled
from runtime.ledger.store import SqlStore
from runtime.ledger.transaction import Transaction

StillAsks = Callable[[Sequence[Event]], bool]
"""Tells by the events of a card that somebody decided whether it waits for others."""
EVENTS_AT_ONCE = 2_000
"""Events of one transaction, or those of one stream: others wait for as long as it takes to delete them."""


@dataclass(slots=True)
class _Count:
    executions: list[ExecutionId] = field(default_factory=list)
    held: list[ExecutionId] = field(default_factory=list)
    in_use: list[ExecutionId] = field(default_factory=list)
    streams: set[Stream] = field(default_factory=set)
    events: int = 0


async def prune_store(
    store: SqlStore,
    clock: Clock,
    *,
    days: float,
    stream_only_days: float,
    dry: bool,
    compact: bool,
    still_asks: StillAsks,
) -> Pruned:
    """Prune and return what went; with `compact` an embedded file gives its free space back."""
    whole = _Prune(store, clock, days=days, stream_only_days=stream_only_days, still_asks=still_asks)
    pruned = await whole.run(dry=dry)
    compacted = await give_back(store) if compact and not dry else None
    return replace(pruned, free_bytes=await free_bytes(store), compacted=compacted)


class _Prune:
    """One pruning of one ledger."""

    def __init__(
        self, store: SqlStore, clock: Clock, *, days: float, stream_only_days: float, still_asks: StillAsks
    ) -> None:
        self._store = store
        self._clock = clock
        self._days = days
        self._stream_only_days = stream_only_days
        self._still_asks = still_asks
        self._holds = Holds(store.ledger)
        self._count = _Count()
        self._delete_lease = compiled(
            store.database.engine.dialect, delete(leases).where(leases.c.name == bindparam("n")), "n"
        )

    async def run(self, *, dry: bool = False) -> Pruned:
        """Prune what is due and return what went; with `dry` nothing is changed and the answer is what would go.

        Executions that ended are due `days` after that, none when it is 0. One under a legal hold stays whole, and so
        does one that a process works on or whose card waits for a person.
        """
        count, store = self._count, self._store
        for execution_id in await self._due():
            await self._one(execution_id, dry=dry)
        blobs, blob_bytes = await prune_blobs(store, but=count.streams, dry=dry)
        before = self._clock.now() - timedelta(days=self._stream_only_days)
        held = {hold.execution_id for hold in await self._holds.standing()}
        fragments = await prune_fragments(store, before, held=held, but=count.streams, dry=dry)
        if not dry:
            await store.reader.flush_erased()
        return Pruned(
            executions=tuple(count.executions),
            streams=len(count.streams),
            events=count.events,
            blobs=blobs,
            blob_bytes=blob_bytes,
            fragments=fragments,
            held=tuple(count.held),
            in_use=tuple(count.in_use),
        )

    async def _due(self) -> list[ExecutionId]:
        """Return what is old enough; what an earlier pruning left of an execution comes first."""
        left = await self._store.reader.in_thread(interrupted)
        if not self._days:
            return left
        before = self._clock.now() - timedelta(days=self._days)
        return [*left, *await self._store.reader.in_thread(lambda connection: due(connection, before))]

    async def _one(self, execution_id: ExecutionId, *, dry: bool) -> None:
        """Prune one execution, its own stream first, so that nobody takes it up or shows it in part."""
        hold, hold_version = await self._holds.of(execution_id)
        streams = await self._store.reader.in_thread(lambda connection: own_streams(connection, execution_id))
        live = await self._store.leases.live(execution_id)
        if not streams:  # another pruning was quicker
            return
        if hold is not None:
            self._count.held.append(execution_id)
        elif live or not _at_rest(execution_id, streams) or await self._waits_for_others(streams):
            self._count.in_use.append(execution_id)
        elif dry:
            self._add(execution_id, streams)
        else:
            await self._take_away(execution_id, streams, {stream_of(execution_id): hold_version})

    async def _waits_for_others(self, streams: Sequence[OwnStream]) -> bool:
        """Whether a card among them was decided by somebody and takes more people."""
        for each in streams:
            if each.last_type == DECIDED and self._still_asks(await self._store.ledger.read(each.stream)):
                return True
        return False

    async def _take_away(
        self, execution_id: ExecutionId, streams: Sequence[OwnStream], unchanged: dict[Stream, int]
    ) -> None:
        for some in _batches(streams):
            whole = Pruning(
                self._clock.now(),
                streams={each.stream: each.version for each in some},
                unchanged=unchanged,
                reason=f"ended more than {self._days:g} days ago" if self._days else "the rest of an earlier pruning",
            )
            try:
                gone = await self._store.writer.do(partial(self._job, execution_id=execution_id, whole=whole))
            except VersionConflict:  # somebody took it up, or placed a hold, at this moment
                self._count.in_use.append(execution_id)
                return
            if gone:  # else another pruning was quicker
                self._add(execution_id, some)
            unchanged |= whole.streams

    def _job(self, transaction: Transaction, *, execution_id: ExecutionId, whole: Pruning) -> int:
        lease = transaction.one(transaction.statements.lease, str(execution_id))
        if lease is not None and lease[1] != RELEASED and lease[3] > time_to_number(whole.moment):
            raise VersionConflict(f"{lease[1]} works on {execution_id}. Nothing was pruned.", stream=execution_id)
        gone = prune(transaction, whole)
        transaction.run(self._delete_lease, str(execution_id))
        return gone

    def _add(self, execution_id: ExecutionId, streams: Sequence[OwnStream]) -> None:
        if execution_id not in self._count.executions[-1:]:
            self._count.executions.append(execution_id)
        self._count.streams.update(each.stream for each in streams)
        self._count.events += sum(each.events for each in streams)


def _at_rest(execution_id: ExecutionId, streams: Sequence[OwnStream]) -> bool:
    """Whether the execution stands as it was judged to stand, and no person is asked anything."""
    ended = all(each.last_type in ENDED for each in streams if each.stream == execution_id)
    return ended and not any(each.asks for each in streams)


def _batches(streams: Sequence[OwnStream]) -> Iterator[list[OwnStream]]:
    some: list[OwnStream] = []
    for each in streams:
        if some and sum(one.events for one in some) + each.events > EVENTS_AT_ONCE:
            yield some
            some = []
        some.append(each)
    if some:
        yield some
