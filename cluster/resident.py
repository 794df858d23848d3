"""One process's part in the queue: it says that it lives, carries out what is assigned to it, and waits for reports."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from cluster.control_plane import Accepted, ControlPlane, Entered
from cluster.engines import EngineFactory, Engines
from cluster.errors import SlotLost
from cluster.for_others import for_others
from cluster.slot import HeldSlot
from contracts import OrderId, StatusReport, TaskOrder
from runtime.clock import Clock
from runtime.errors import LedgerError, LedgerUnavailable
from runtime.ledger.port import Lease
from runtime.settings import ClusterSettings

CarryOut: TypeAlias = Callable[[TaskOrder, HeldSlot, EngineFactory], Awaitable[StatusReport]]
"""Has an order done in a slot; `Bridge.run` does."""

_LOOK_S = 0.1
"""How often is looked whether the step of an order that is to move has ended."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Waiting:
    """An order of this process that is in the queue or with another process."""

    order: TaskOrder
    engine_for: EngineFactory
    report: asyncio.Future[StatusReport]
    since: float
    """Time of the event loop."""
    entered: bool = False
    """Whether the queue has it. Before, whoever submits it is told by the queue itself that nobody can take it."""


@dataclass(slots=True)
class _Work:
    """An order that this process carries out."""

    held: HeldSlot
    task: asyncio.Task[None] = field(init=False)


class Resident:
    """Serves the queue on behalf of one process.

    It begins with the first order that is submitted, or with `serve`, and goes on until `close`. It keeps nothing that
    the queue does not tell: an order that it carries out when it dies goes on elsewhere.
    """

    def __init__(
        self, plane: ControlPlane, carry_out: CarryOut, engines: Engines | None, *, clock: Clock,
        settings: ClusterSettings, allocate_s: float, freed: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        """Take what carries orders out; `freed` hears when one is over and has given its slot back."""
        self._plane = plane
        self._carry_out = carry_out
        self._engines = engines
        self._clock = clock
        self._settings = settings
        self._allocate_s = allocate_s
        self._freed = freed
        self._waiting: dict[OrderId, _Waiting] = {}
        self._working: dict[OrderId, _Work] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._for_all = False
        self._entered = False
        self._entering = asyncio.Lock()
        self._pulled_at: datetime | None = None
        self._news = asyncio.Event()
        self._attending: asyncio.Task[None] | None = None

    @property
    def working_on(self) -> frozenset[OrderId]:
        """Orders of the queue that this process carries out now."""
        return frozenset(self._working)

    def wake(self) -> None:
        """Look at the queue now. It only shortens a wait: whatever is told here is found without it as well."""
        self._news.set()

    async def submit(
        self, order: TaskOrder, engine_for: EngineFactory, *, leases: Sequence[Lease], losses: int,
        leaving: Callable[[], bool],
    ) -> StatusReport:  # fmt: skip
        """Return the report of the order, whoever carried it out.

        Args:
            leases: of the execution; who lost them gets no report, and takes nothing back.
            leaving: whether the order is to go on when its submitter stops waiting for it.

        Raises:
            NoNodeFits, QueueFull, NoSlotFree: nobody carries it out.
            StaleWriter, LedgerUnavailable: as the engine.
        """
        await self._enter()
        loop = asyncio.get_running_loop()
        waiting = self._waiting[order.order_id] = _Waiting(order, engine_for, loop.create_future(), loop.time())
        entering = asyncio.ensure_future(self._plane.enqueue(order, leases=leases, losses=losses))
        try:
            entered = await asyncio.shield(entering)
            waiting.entered = True
            self._begin(entered.accepted)
            return entered.report or await waiting.report
        except asyncio.CancelledError:
            await asyncio.shield(self._stop_waiting(order.order_id, entering, leaving=leaving()))
            raise
        finally:
            waiting.report.cancel()  # nobody hears what is told from now on
            if self._waiting.get(order.order_id) is waiting:
                del self._waiting[order.order_id]

    async def serve(self, entered: Callable[[], None] = lambda: None, *, for_all: bool = True) -> None:
        """Carry out anybody's orders until cancelled; then what is in progress is given back."""
        self._for_all = for_all
        while True:
            try:
                if self._entered:
                    await self._plane.beat(for_all=for_all, pulled_at=self._pulled_at)
                await self._enter()
                break
            except LedgerUnavailable as error:
                _log.warning("the queue cannot be entered yet: %s", error)
                await asyncio.sleep(self._settings.beat_s)
        entered()
        assert self._attending is not None
        try:
            await asyncio.shield(self._attending)
        finally:
            await asyncio.shield(self.close())

    async def drain(self, within_s: float) -> None:
        """Take no more of others' orders, and give back those in progress, each once its step has ended.

        What is still in a step after `within_s` is stopped there.
        """
        self._for_all = False
        if self._entered:
            await self._quietly(self._plane.beat(for_all=False, pulled_at=self._pulled_at))
        try:
            async with asyncio.timeout(within_s):
                while others := [each for each in self._working if each not in self._waiting]:
                    self._move(others)
                    await asyncio.wait({self._working[each].task for each in others}, timeout=_LOOK_S)
        except TimeoutError:
            _log.info("%d orders of others are stopped in a step", len(self._working))

    async def close(self) -> None:
        """Give back what is in progress, and leave the queue."""
        if self._attending is not None:
            self._attending.cancel()
            await asyncio.gather(self._attending, return_exceptions=True)
            self._attending = None
        while tasks := [task for task in self._tasks if not task.done()]:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)  # the end of one may begin another
        if self._entered:
            self._entered = self._for_all = False
            try:
                await self._plane.leave()
            except LedgerError as error:
                _log.info("the queue could not be left; this process will be missed there: %s", error)

    def begin(self, accepted: Iterable[Accepted]) -> None:
        """Carry out what came free with a slot that this process gave back."""
        self._begin(accepted)

    async def _enter(self) -> None:
        """Enter the queue, so that whatever is submitted here has somebody who waits for it."""
        async with self._entering:
            if not self._entered:
                await self._plane.beat(for_all=self._for_all, pulled_at=self._clock.now())
                self._entered = True
            if self._attending is None:
                self._attending = asyncio.create_task(self._attend(), name="serves the queue")

    async def _attend(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._beat(), name="beats")
            tasks.create_task(self._pull(), name="pulls")

    async def _beat(self) -> None:
        while True:
            try:
                await self._plane.beat(for_all=self._for_all, pulled_at=self._pulled_at)
            except LedgerError as error:
                _log.warning("this node could not say that it lives: %s", error)
            except Exception:  # a fault of the program must not end the sign of life
                _log.exception("this node could not say that it lives")
            await asyncio.sleep(self._settings.beat_s)

    async def _pull(self) -> None:
        """Look at the queue for ever. While this stands still, the node gets nothing, whatever its beats say."""
        while True:
            self._news.clear()
            try:
                await self._look()
                self._pulled_at = self._clock.now()
            except LedgerUnavailable as error:
                _log.warning("the queue could not be looked at: %s", error)
            except Exception:  # a fault of the program must not end the loop
                _log.exception("the queue could not be looked at")
            try:
                async with asyncio.timeout(self._settings.pull_s):
                    await self._news.wait()
            except TimeoutError:
                continue

    async def _look(self) -> None:
        seen = await self._plane.look()
        self._begin(seen.accepted)
        for report in seen.reports:
            self._tell(report.order_id, report)
        self._move([each for each in seen.moving if each in self._working and each not in self._waiting])
        await self._tell_of_standstill()

    def _move(self, order_ids: Iterable[OrderId]) -> None:
        """Give back orders of others that have no step in progress; the others get there."""
        for order_id in order_ids:
            if self._engines is not None and self._engines.hold(order_id):
                self._working[order_id].task.cancel()

    async def _tell_of_standstill(self) -> None:
        """End the wait of orders for which nothing moved for too long."""
        now = asyncio.get_running_loop().time()
        due = [
            waiting
            for order_id, waiting in self._waiting.items()
            if waiting.entered and order_id not in self._working and now - waiting.since >= self._allocate_s
        ]
        if not due:
            return
        still = await self._plane.stand_still([waiting.order for waiting in due], self._allocate_s)
        for waiting in due:
            error = still.get(waiting.order.order_id)
            if error is None:
                waiting.since = now
            else:
                await self._plane.withdraw(waiting.order.order_id)
                if not waiting.report.done():
                    waiting.report.set_exception(error)

    def _begin(self, accepted: Iterable[Accepted]) -> None:
        for each in accepted:
            before = self._working.get(each.order_id)
            work = self._working[each.order_id] = _Work(each.held)
            work.task = asyncio.create_task(
                self._work(each, None if before is None else before.task), name=f"carries out {each.order_id}"
            )
            self._tasks.add(work.task)
            work.task.add_done_callback(self._tasks.discard)

    async def _work(self, accepted: Accepted, before: asyncio.Task[None] | None) -> None:
        """Carry one order out; whatever becomes of it, the queue is told, and nothing is raised.

        `before` worked on it in a slot that the order has lost, and may not know that yet: it ends first.
        """
        order_id, held = accepted.order_id, accepted.held
        following: Sequence[Accepted] = ()
        try:
            if before is not None:
                before.cancel()
                await asyncio.wait({before})
            following = await self._carried_out(accepted)
        except asyncio.CancelledError:
            await asyncio.shield(self._quietly(self._plane.give_back(order_id, held)))
            raise
        except LedgerError as error:  # the lease of the slot runs out, and the order goes on where it stood
            _log.warning("%s is left to others: %s", order_id, error)
        except Exception:
            _log.exception("%s is left to others", order_id)
        finally:
            if self._working.get(order_id) is not None and self._working[order_id].held is held:
                del self._working[order_id]
            self._begin(following)
            self._freed()

    async def _carried_out(self, accepted: Accepted) -> Sequence[Accepted]:
        order_id, held = accepted.order_id, accepted.held
        waiting = self._waiting.get(order_id)
        if waiting is None and accepted.order is None:  # submitted here, and nobody waits for it any more
            await self._plane.withdraw(order_id)
            return ()
        try:
            if waiting is not None:
                report = await self._carry_out(waiting.order, held, waiting.engine_for)
            else:
                report = await self._carry_out_for_others(accepted)
        except SlotLost as error:
            _log.info("%s", error.message)
            return await self._plane.lose(order_id, held)
        except Exception as error:
            if waiting is None:
                raise
            await self._quietly(self._plane.withdraw(order_id))
            if not waiting.report.done():
                waiting.report.set_exception(error)
            return ()
        finishing = asyncio.ensure_future(self._plane.finish(order_id, held, report))
        try:
            following = await asyncio.shield(finishing)
        except asyncio.CancelledError:
            await asyncio.wait({finishing})
            if not finishing.cancelled() and finishing.exception() is None:  # nobody else begins what came with it
                self._begin(finishing.result())
            raise
        self._tell(order_id, report)
        return following

    async def _carry_out_for_others(self, accepted: Accepted) -> StatusReport:
        """Carry out what another process submitted."""
        order = accepted.order
        if order is None or self._engines is None:
            raise LedgerError(f"{accepted.order_id} came to a process that cannot carry it out.")
        return await for_others(
            order, self._engines, lambda engine_for: self._carry_out(order, accepted.held, engine_for)
        )

    def _tell(self, order_id: OrderId, report: StatusReport) -> None:
        waiting = self._waiting.get(order_id)
        if waiting is not None and not waiting.report.done():
            waiting.report.set_result(report)

    async def _stop_waiting(self, order_id: OrderId, entering: asyncio.Future[Entered], *, leaving: bool) -> None:
        """Stop an order that nobody waits for any more, wherever it is; with `leaving` one elsewhere goes on."""
        await asyncio.wait({entering})
        if not entering.cancelled() and entering.exception() is None:  # what came with it has nobody else to begin it
            self._begin(each for each in entering.result().accepted if each.order_id != order_id)
        work = self._working.get(order_id)
        if work is not None:
            work.task.cancel()
            await asyncio.gather(work.task, return_exceptions=True)
        await self._quietly(self._plane.withdraw(order_id, elsewhere_goes_on=leaving))

    async def _quietly(self, telling: Awaitable[object]) -> None:
        """Tell the queue; where the ledger is away, what is not told is found out when the leases run out."""
        try:
            await telling
        except LedgerError as error:
            _log.info("the queue could not be told: %s", error)
