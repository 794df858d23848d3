"""The one place that writes an order's stream."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, cast

from contracts import Event, Json, TaskOrder
from runtime.canonical import clean, sha256, to_bytes
from runtime.clock import Clock
from runtime.engine.branches import branches_of
from runtime.engine.flow import Flow
from runtime.engine.fold import apply
from runtime.engine.happened import Foreseen
from runtime.engine.ports import FilesLeft, SlotFiles
from runtime.engine.shared import Shared, merged
from runtime.engine.snapshot import mark_taken, take_snapshot
from runtime.engine.view import OrderView
from runtime.errors import LedgerError, LedgerUnavailable, NotStorable, SiliconError, StaleWriter, VersionConflict
from runtime.ledger.facts import ready_to_store
from runtime.ledger.port import Append, CursorChange, Lease, NewEvent, Snapshot, Store
from runtime.settings.groups import LedgerSettings

_log = logging.getLogger(__name__)

ENDS_WORK = frozenset({"step.finished", "step.failed", "step.waiting", "call.finished", "call.failed"})
"""Events of an order that tell how some work in its slot ended, for good or for now."""

SNAPSHOT_EVENTS = LedgerSettings().snapshot_events

Redact = Callable[[Any], Any]
"""Return the value without secrets; the same value for the same input."""


@dataclass(eq=False, slots=True)
class _Write:
    """What one writer wants stored, all or nothing."""

    events: Sequence[NewEvent]
    appends: Sequence[Append]
    blobs: Sequence[bytes]
    changes: Sequence[CursorChange]
    told: asyncio.Future[None]
    context: Context
    """Of the writer: log lines about its events carry its step."""
    ended: bool = False

    def end(self, error: BaseException | None = None) -> None:
        """Tell the writer that it is in, or why not."""
        self.ended = True
        if self.told.done():  # whoever waited was cancelled
            return
        if error is None:
            self.told.set_result(None)
        else:
            self.told.set_exception(error)

    async def over(self) -> None:
        """Wait until it has ended, however; for a writer that was cancelled, and its future with it."""
        if not self.ended:
            self.told = asyncio.get_running_loop().create_future()
            await asyncio.wait({self.told})
            if not self.told.cancelled():
                self.told.exception()


class Journal:
    """Appends to one order's stream and folds what it appended into `view`.

    An order has one writer: appends follow each other, each names the version that `view` has reached, and each is
    on disk before `write` returns. What comes while one is under way shares the next. A cancelled writer waits until
    the append it began is in or refused, so that the view and the ledger never part.

    What nothing outside rests on yet may go ahead of the next append (`write_ahead`), which is one append less.
    """

    def __init__(
        self, store: Store, order: TaskOrder, view: OrderView, *, redact: Redact, leases: Sequence[Lease], source: str,
        clock: Clock, snapshot_events: int = SNAPSHOT_EVENTS, flow: Flow, files: SlotFiles | None = None,
        shared: Shared | None = None,
    ) -> None:  # fmt: skip
        self.stream = str(order.order_id)
        self.view = view
        self._store = store
        self._order = order
        self._redact = redact
        self._leases = leases
        self._source = source
        self._clock = clock
        self._snapshot_events = snapshot_events
        self._flow = flow
        self._files = files
        self._shared = shared if shared is not None and (shared.budgets or view.draws) else None
        """The budgets that the order shares with others: what events say was spent counts there, in their commit."""
        self.branches: Mapping[str, str] = branches_of(order)
        """Branch of the plan → its name in the whole execution, which its events carry."""
        self._turn = asyncio.Lock()
        self._waiting: list[_Write] = []
        self._writing: asyncio.Task[None] | None = None
        """Stores what waits."""
        self._ahead: list[tuple[NewEvent, Context, Sequence[CursorChange]]] = []
        """Events that the view knows already and that go in front of the next append, with their writers' contexts and
        what they settle of shared budgets."""
        self._refused = False
        """Whether the ledger refused them with the last append."""
        self._flushing: asyncio.Task[None] | None = None
        """Stores them, because nothing else came to be written."""

    def redact(self, value: Any) -> Json:
        """Return `value` as JSON and without secrets: the form in which everything is kept and handed on."""
        return self.without_secrets(clean(value))

    def without_secrets(self, value: Json) -> Json:
        """Return what is JSON already without secrets."""
        return cast(Json, self._redact(value))

    async def write(
        self, *events: NewEvent, appends: Sequence[Append] = (), blobs: Sequence[bytes] = (),
        changes: Sequence[CursorChange] = (),
    ) -> None:  # fmt: skip
        """Store the order's events, and what belongs in the same commit, all or nothing.

        Args:
            changes: of rows of shared budgets; what one of them raises is raised here.

        Raises:
            VersionConflict: one of the `appends` came too late; decide again. `moved_on` tells that it was not ours.
            StaleWriter: a lease was lost.
            LedgerUnavailable: nothing can be written now.
            NotStorable: what is to be written never can be.
        """
        try:
            if self._writing is None and not self._turn.locked() and not self._flow.beside:
                await self._write_alone(events, appends, blobs, changes)
            else:
                await self._write_together(events, appends, blobs, changes)
        except ValueError as error:  # the ledger checks form and size before it writes anything
            raise NotStorable(f"{error} Nothing of it was stored.") from error

    async def write_ahead(self, event: NewEvent) -> None:
        """Take in an event of the order that is stored in front of what is written next, in the same append.

        It is for what nothing outside rests on before that; `flush` returns once it is stored. Where nothing is written
        in this turn of the event loop or the next, it is stored by itself. It raises as `write` does.
        """
        if self._turn.locked() or self._waiting or self._files is not None:  # what is under way comes before it
            await self.write(event)
            return
        try:
            ready = ready_to_store(self.stream, *self._marked([event]))
        except ValueError as error:
            raise NotStorable(f"{error} Nothing of it was stored.") from error
        self._ahead.append((ready, copy_context(), self._settling([ready])))
        self._refused = False
        apply(self.view, Foreseen(ready.type, ready.data, self._clock.now(), self.view.version + 1))
        loop = asyncio.get_running_loop()
        loop.call_soon(loop.call_soon, self._flush_soon)  # once the steps that begin now had their turn

    async def flush(self) -> None:
        """Return once all that was taken in is stored; raises as `write` does."""
        if self._ahead or self._turn.locked():  # it may be on its way
            await self.write()

    async def aclose(self) -> None:
        """Return once all that was taken in is stored, or was refused."""
        if self._ahead and not self._refused:
            self._flush_soon()
        if self._flushing is not None and not self._flushing.done():
            await asyncio.wait({self._flushing})

    async def write_elsewhere(self, append: Append, *, changes: Sequence[CursorChange] = ()) -> None:
        """Store events of another stream, under the rights of this order, with what they change of shared budgets.

        Raises:
            VersionConflict: that stream moved on.
        """
        await self._store.ledger.append(replace(append, leases=self._leases), cursors=merged(changes))

    async def moved_on(self) -> bool:
        """Whether somebody else wrote this order's stream, which only a stolen order explains."""
        async with self._turn:  # an own append on its way is in the ledger before it is in the view
            return bool(await self._store.ledger.read(self.stream, after_version=self._stored_version))

    @property
    def _stored_version(self) -> int:
        """Up to which event the ledger has what the view knows."""
        return self.view.version - len(self._ahead)

    def blob_of(self, value: Json) -> tuple[str, bytes]:
        """Return the address and bytes under which a long value is kept."""
        data = to_bytes(value)
        return sha256(data), data

    async def _write_alone(
        self, events: Sequence[NewEvent], appends: Sequence[Append], blobs: Sequence[bytes],
        changes: Sequence[CursorChange],
    ) -> None:  # fmt: skip
        """Store at once: nobody else is about to write, and waiting for company would take longer than the commit."""
        context = copy_context()  # log lines about its events carry its step
        async with self._turn:
            await self._append(events, appends, blobs, changes, lambda stored: context.run(self._take_in, stored))

    async def _write_together(
        self, events: Sequence[NewEvent], appends: Sequence[Append], blobs: Sequence[bytes],
        changes: Sequence[CursorChange],
    ) -> None:  # fmt: skip
        mine = _Write(events, appends, blobs, changes, asyncio.get_running_loop().create_future(), copy_context())
        self._waiting.append(mine)
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write_all())
        try:
            await mine.told
        except asyncio.CancelledError:
            if mine in self._waiting:
                self._waiting.remove(mine)
            else:
                await mine.over()
            raise

    async def _write_all(self) -> None:
        """Store what waits until nothing does; many that are ready at once share one append."""
        batch: list[_Write] = []
        try:
            while self._waiting:
                async with self._turn:
                    batch, self._waiting = self._waiting, []
                    if batch:  # whoever waited may have been cancelled while the turn was another's
                        await self._store_batch(batch)
                await asyncio.sleep(0)  # whoever was told just now may have something more to share the next append
        finally:
            self._writing = None
            for left in (*batch, *self._waiting):  # none, unless the loop is being closed
                if not left.ended:
                    left.ended = True
                    left.told.cancel()

    async def _store_batch(self, batch: Sequence[_Write]) -> None:
        stored = False

        def take_in(events: Sequence[Event]) -> None:
            nonlocal stored
            stored = True
            self._take_in_batch(batch, events)

        try:
            await self._append(
                [event for write in batch for event in write.events],
                [append for write in batch for append in write.appends],
                [blob for write in batch for blob in write.blobs],
                [change for write in batch for change in write.changes],
                take_in,
            )
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            for_all = stored or isinstance(error, StaleWriter | LedgerUnavailable) or not isinstance(error, Exception)
            if for_all or len(batch) == 1:
                for write in batch:
                    write.end(error)
                return
            for write in batch:  # one of them was refused: the others must not suffer
                await self._store_batch([write])
        else:
            for write in batch:
                write.end()

    async def _append(
        self, events: Sequence[NewEvent], appends: Sequence[Append], blobs: Sequence[bytes],
        changes: Sequence[CursorChange], take_in: Callable[[Sequence[Event]], None],
    ) -> None:  # fmt: skip
        """Store, and with the end of a step's work also what it left in the slot's folder."""
        ended = None if self._files is None else next((event for event in events if event.type in ENDS_WORK), None)
        if ended is None or self._files is None:
            return await self._commit(events, appends, blobs, changes, take_in)
        while True:
            left = await self._files.left_by(ended.data["step"])
            if left is None:
                return await self._commit(events, appends, blobs, changes, take_in)
            try:
                return await self._commit(
                    events, [*appends, *left.appends], [*blobs, *left.blobs], changes,
                    partial(self._with_files, left, take_in),
                )  # fmt: skip
            except VersionConflict as conflict:
                await self._files.catch_up(conflict)

    def _with_files(self, left: FilesLeft, take_in: Callable[[Sequence[Event]], None], stored: Sequence[Event]) -> None:
        left.stored()
        if self._files is not None and self._files.problem(done=False) is not None:
            self._flow.closing = True
        take_in(stored)

    async def _commit(
        self, events: Sequence[NewEvent], appends: Sequence[Append], blobs: Sequence[bytes],
        changes: Sequence[CursorChange], take_in: Callable[[Sequence[Event]], None],
    ) -> None:  # fmt: skip
        order, snapshots, ahead, version = self._order, self._due_snapshots(), self._ahead, self._stored_version
        if not ahead and not events:  # somebody else took with him what was to be flushed
            return
        own = Append(
            self.stream, [*(event for event, _, _ in ahead), *self._marked(events)], version, order.organisation,
            self._source, order.execution_id, order.trace_id, self._leases,
        )  # fmt: skip

        settled = [change for _, _, changes_ahead in ahead for change in changes_ahead]
        cursors = merged([*settled, *changes, *self._settling(events)])
        went_in = False

        def then(stored: Sequence[Event]) -> None:
            nonlocal went_in
            went_in = True
            if snapshots:
                mark_taken(self.view)
            for event, (_, context, _) in zip(stored, ahead, strict=False):
                context.run(_log_event, event)
            take_in(stored[len(ahead) :])

        self._ahead, self._refused = [], False
        try:
            await self._store.ledger.append(own, *appends, blobs=blobs, cursors=cursors, snapshots=snapshots, then=then)
        except LedgerError:
            self._refused = True
            raise
        finally:
            if not went_in:
                self._ahead = ahead

    def _settling(self, events: Sequence[NewEvent]) -> Sequence[CursorChange]:
        return self._shared.settling(events) if self._shared is not None else ()

    def _flush_soon(self) -> None:
        written_with_others = not self._ahead or bool(self._waiting)
        if not written_with_others and (self._flushing is None or self._flushing.done()):
            self._flushing = asyncio.get_running_loop().create_task(self._flush())
            self._flushing.add_done_callback(_look_at)

    async def _flush(self) -> None:
        try:
            await self.flush()
        except SiliconError as error:  # whoever writes next is told
            _log.debug("what was taken in is not stored yet: %s", error)

    def _take_in(self, stored: Sequence[Event]) -> None:
        for event in stored:
            if event.subject == self.stream:
                apply(self.view, event)
                _log_event(event)

    def _take_in_batch(self, batch: Sequence[_Write], stored: Sequence[Event]) -> None:
        own_events = iter([event for event in stored if event.subject == self.stream])
        for write in batch:
            write.context.run(self._take_in, list(islice(own_events, len(write.events))))

    def _due_snapshots(self) -> list[Snapshot]:
        """Return the snapshot that goes into the next commit, of the view before it, when one is due."""
        due = self.view.version - self.view.recent.since >= self._snapshot_events
        return [take_snapshot(self.view, self.stream)] if due else []

    def _marked(self, events: Sequence[NewEvent]) -> Sequence[NewEvent]:
        """Return the events with the branch that each happened in, if there is one."""
        if not self.branches and not self._order.branch:
            return events
        return [self._in_branch(event) for event in events]

    def _in_branch(self, event: NewEvent) -> NewEvent:
        step = "" if event.type.startswith("compensation.") else event.data.get("step", "")  # it may be another order's
        branch = self.branches.get(step, self._order.branch)
        return NewEvent(event.type, {**event.data, "branch": branch}) if branch else event


def _log_event(event: Event) -> None:
    if _log.isEnabledFor(logging.INFO):
        _log.info(event.type, extra={"position": event.position, "data": event.data})


def _look_at(flushing: asyncio.Task[None]) -> None:
    """See how it ended, so that nobody warns: whoever writes next is told the same."""
    if not flushing.cancelled():
        flushing.exception()


def is_foreign(conflict: VersionConflict, stream: str) -> bool:
    """Whether the conflict names a stream that is not the order's own."""
    return conflict.facts.get("stream") not in (None, stream)
