"""Executions apart from any request: found, claimed, worked on and given back for as long as the process lives."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from itertools import islice

from contracts import ExecutionId
from runtime.bus import Bus
from runtime.draining import Draining
from runtime.errors import LedgerUnavailable, NotFound, StaleWriter
from runtime.executor.crashes import ALONE_BEFORE
from runtime.executor.executor import Executor
from runtime.executor.holder import is_gone
from runtime.executor.listener import Listener
from runtime.executor.parking import give_back, park
from runtime.executor.port import Asked
from runtime.executor.setbacks import Setbacks
from runtime.executor.states import ExecutionState
from runtime.executor.view import ExecutionView
from runtime.ledger.port import Store
from runtime.settings.groups import ExecutorSettings

_LOOKS_AT_ALL = 12
"""Every so many sweeps looks at all executions, whatever was found of them before."""
_FEW = 20
"""Leases that are rather asked for one by one."""

_log = logging.getLogger(__name__)


class ExecutorService:
    """Works on every execution of a ledger that nobody works on and that can go on.

    That is: one that was asked for, that was left by a process which died or lost its lease, whose people answered or
    let a deadline pass, or that is to be cancelled. It looks for them every `sweep_s`, and at one at once when the bus
    or `wake` tells of it. It keeps nothing that could not be read again: what it claims stands in the leases.

    Args:
        executor: carries the executions out; it shares `draining`.
        asked: knows what people were asked.
        bus: tells what was committed, by whatever process.
        mine: whether an execution can be worked on here.
    """

    def __init__(
        self,
        executor: Executor,
        store: Store,
        settings: ExecutorSettings,
        *,
        draining: Draining,
        asked: Asked,
        bus: Bus,
        mine: Callable[[ExecutionView], bool] = lambda view: True,
    ) -> None:
        self._executor = executor
        self._store = store
        self._settings = settings
        self._draining = draining
        self._asked = asked
        self._mine = mine
        self._queue: dict[ExecutionId, None] = {}
        """To be looked at, the first first."""
        self._asleep: set[ExecutionId] = set()
        """Nothing to be done for them now; whatever changes that comes over the bus, or is found by a look at all."""
        self._stretches: dict[ExecutionId, asyncio.Task[None]] = {}
        self._crashing: ExecutionId | None = None
        """The one in hand that ended its process several times in a row; no other such is taken up beside it."""
        self._setbacks = Setbacks(settings.sweep_s)
        self._news = asyncio.Event()
        self._at_once = asyncio.Event()
        self._sweeps = 0
        self._unheard = False
        """Whether something may have happened between a sweep and the position from which on the bus tells."""
        self._listener = Listener(
            bus,
            store.ledger,
            tell=self.wake,
            begun=self._listening,
            away=self._setbacks.note_away,
            again_s=settings.sweep_s,
        )

    @property
    def ready(self) -> bool:
        """Whether executions are taken up: the ledger answers, and the process does not drain."""
        return not self._setbacks.ledger_is_away and not self._draining.begun

    @property
    def working_on(self) -> frozenset[ExecutionId]:
        """Executions that this process has in hand."""
        return frozenset(self._stretches)

    def wake(self, execution_id: ExecutionId) -> None:
        """Look at the execution now: something was recorded for it. Call it on the event loop."""
        self._asleep.discard(execution_id)
        self._queue[execution_id] = None
        self._news.set()

    def drain(self) -> None:
        """Take nothing up any more; let steps in progress end for `drain_s`, then give everything back.

        A second call does not wait for the steps.
        """
        if self._draining.begun:
            self._at_once.set()
        self._draining.begin()
        self._news.set()

    async def run_forever(self) -> None:
        """Work until `drain` was called and everything in hand is given back.

        Nothing ends it earlier: while the ledger is away it tries again, with growing waits, for ever.
        """
        listening = asyncio.create_task(self._listener.listen(), name="executor service listens")
        try:
            await self._work()
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
            if self._draining.begun:
                await park(
                    self._stretches,
                    self._executor.in_hand,
                    draining=self._draining,
                    at_once=self._at_once,
                    within_s=self._settings.drain_s,
                )
            self._draining.begin()
            await give_back(self._stretches)

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        next_sweep = loop.time()
        while not self._draining.begun:
            self._news.clear()
            try:
                if self._unheard or loop.time() >= next_sweep:
                    await self._sweep()
                    next_sweep = loop.time() + self._settings.sweep_s
                await self._take_up_queued()
                self._setbacks.note_there()
            except LedgerUnavailable as error:
                next_sweep = loop.time() + self._setbacks.note_away(error)
            except Exception:  # a fault of the program must not end the loop
                _log.exception("a sweep failed on a fault of the program; it goes on")
                next_sweep = loop.time() + self._settings.sweep_s
            await self._pause(until=next_sweep)

    def _listening(self) -> None:
        """Sweep once more: what came before the bus tells is found by nothing else."""
        self._unheard = True
        self._news.set()

    async def _pause(self, *, until: float) -> None:
        """Wait for that time or for news; while the ledger is away only the beginning of the end is news."""
        while not self._draining.begun:
            try:
                async with asyncio.timeout_at(until):
                    await self._news.wait()
            except TimeoutError:
                return
            if not self._setbacks.ledger_is_away:
                return
            self._news.clear()

    async def _sweep(self) -> None:
        """Put everything that may have to go on into the queue, and judge deadlines."""
        await self._executor.release_left()
        if self._sweeps % _LOOKS_AT_ALL == 0 or self._unheard:
            self._asleep.clear()
        self._sweeps += not self._unheard
        self._unheard = False
        unfinished = dict.fromkeys(await self._executor.unfinished())
        self._setbacks.forget_others(unfinished)
        self._asleep.intersection_update(unfinished)
        self._queue.update(dict.fromkeys(each for each in unfinished if each not in self._asleep))
        await self._asked.judge_deadlines()

    async def _take_up_queued(self) -> None:
        """Look at what is in the queue while there is room for it."""
        while self._queue and (room := self._room()) > 0:
            batch = list(islice(self._queue, max(room, _FEW)))
            for execution_id in batch:  # before anything of them is read: what is told meanwhile puts it back
                del self._queue[execution_id]
            try:
                await self._take_up(batch, held=await self._held(batch))
            finally:
                self._queue = {**dict.fromkeys(batch), **self._queue}

    async def _take_up(self, batch: list[ExecutionId], *, held: Collection[str]) -> None:
        """Look at these while there is room, and take each out of the list that was looked at."""
        while batch and self._room() > 0:
            execution_id = batch.pop(0)
            if execution_id in self._stretches or execution_id in held or self._setbacks.puts_off(execution_id):
                continue
            await self._look_at(execution_id)

    def _room(self) -> int:
        """Return how many more executions may be taken up now."""
        return 0 if self._draining.begun else self._settings.at_once - len(self._stretches)

    async def _held(self, executions: Sequence[ExecutionId]) -> set[str]:
        """Return which of them somebody holds who is not known to be dead.

        Leases stay for ever, so that all of them are only looked through for many.
        """
        if len(executions) > _FEW:
            live = await self._store.leases.live("execution/")
        else:
            live = [lease for each in executions for lease in await self._store.leases.live(each)]
        return {lease.name for lease in live if not is_gone(lease.holder)}

    async def _look_at(self, execution_id: ExecutionId) -> None:
        try:
            await self._consider(execution_id)
        except LedgerUnavailable:
            raise
        except Exception:  # one that cannot even be read must not stand before the others
            _log.exception("%s cannot be looked at", execution_id)
            self._setbacks.note_raised(execution_id)

    async def _consider(self, execution_id: ExecutionId) -> None:
        """Begin with an execution, or leave it alone until something happens to it."""
        try:
            view = await self._executor.view(execution_id)
        except NotFound:  # it was pruned meanwhile
            return
        reason = await self._due(view) if self._mine(view) else None
        if reason is None:
            self._asleep.add(execution_id)
        elif self._crashing and self._is_crashing(view):
            return  # the next sweep looks at it again
        else:
            if self._is_crashing(view):
                self._crashing = execution_id
            stretch = asyncio.create_task(self._stretch(view, reason), name=f"stretch of {execution_id}")
            self._stretches[execution_id] = stretch

    def _is_crashing(self, view: ExecutionView) -> bool:
        """Whether the execution is about to be given up, and might take others like it with it."""
        return view.crashes >= max(1, self._settings.crashes - ALONE_BEFORE)

    async def _due(self, view: ExecutionView) -> str | None:
        """Return why the execution can go on now, or None."""
        if view.state not in (ExecutionState.REQUESTED, ExecutionState.RUNNING, ExecutionState.WAITING):
            return None
        waits = view.state is ExecutionState.WAITING
        if view.cancel_requested_by is not None and (view.cancel_waits or not waits):
            return "cancelled"
        if waits and view.branch_waits and view.cancel_requested_by is None:
            return "a branch was cancelled"
        if view.state is ExecutionState.REQUESTED:
            return "asked"
        if view.state is ExecutionState.RUNNING:
            return "reopened" if view.reopened else "orphaned"
        answered = await self._asked.settled(view.waiting_for, after=view.last_begun)
        return "answered" if answered else None

    async def _stretch(self, view: ExecutionView, reason: str) -> None:
        """Work on one execution; whatever becomes of that, the service goes on."""
        execution_id = view.execution_id
        try:
            await self._executor.take_up(view, reason)
        except StaleWriter as error:
            _log.info("%s was taken over by another process: %s", execution_id, error.message)
            self._setbacks.note_raised(execution_id)
        except LedgerUnavailable as error:
            self._setbacks.note_away(error)
            self._setbacks.note_raised(execution_id)
        except Exception:  # a fault of the program must not end the others
            _log.exception("%s stopped on a fault of the program and is taken up again later", execution_id)
            self._setbacks.note_raised(execution_id)
        else:
            self._setbacks.note_ended(execution_id)
            self.wake(execution_id)  # what was told while it was in hand was not heard
        finally:
            del self._stretches[execution_id]
            if self._crashing == execution_id:
                self._crashing = None
            self._news.set()
