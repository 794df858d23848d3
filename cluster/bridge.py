"""Runs an order in its slot: a fresh folder, the step engine, a lease kept alive, evidence sealed at the end.

`serve` makes it the resident of its node, which carries out what the control plane assigns to it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from cluster.control_plane import ControlPlane
from cluster.engines import EngineFactory, Engines, StepEngine
from cluster.errors import SandboxBroken, SlotLost
from cluster.evidence import with_evidence
from cluster.resident import Resident
from cluster.sandbox.folders import remove_folder
from cluster.sandbox.port import SandboxDriver
from cluster.sandbox.processes import kill_strays_of
from cluster.slot import HeldSlot
from cluster.warm import WarmSlots
from cluster.workspaces import OrderFiles
from contracts import OrderId, StatusReport, TaskOrder
from runtime.capabilities.port import Sandbox
from runtime.clock import Clock
from runtime.engine.resume import open_view
from runtime.engine.unsettled import doubtful_units
from runtime.errors import LedgerUnavailable, StaleWriter
from runtime.ledger.grip import Grip, always
from runtime.ledger.port import Lease, Store
from runtime.settings import ClusterSettings, FileSettings, SlotSettings

_LOOK_S = 5.0
"""How often is looked at least whether slots that are kept ready still are."""
_log = logging.getLogger(__name__)

DriverFor = Callable[[int], SandboxDriver]
"""Returns the sandbox driver of a slot, by its number on the node."""


class Bridge:
    """Resident of one node, one in each process. The engine runs here, trusted; only programs run in the sandbox.

    Args:
        engines: makes engines for orders that other processes submitted; without it only own ones are carried out.
    """

    def __init__(
        self,
        store: Store,
        control_plane: ControlPlane,
        driver_for: DriverFor,
        *,
        home: Path,
        clock: Clock,
        settings: SlotSettings,
        files: FileSettings | None = None,
        cluster: ClusterSettings | None = None,
        engines: Engines | None = None,
    ) -> None:
        self._store = store
        self._control_plane = control_plane
        self._driver_for = driver_for
        self._home = home
        self._clock = clock
        self._settings = settings
        self._files = files or FileSettings()
        cluster = cluster or ClusterSettings()
        self._warm = WarmSlots(
            control_plane, driver_for, home / "slots", count=cluster.prewarm, every_s=min(cluster.beat_s, _LOOK_S)
        )
        self._resident = Resident(
            control_plane, self.run, engines, clock=clock, settings=cluster, allocate_s=settings.allocate_s,
            freed=self._warm.wake,
        )  # fmt: skip

    async def serve(self, entered: Callable[[], None] = lambda: None, *, for_all: bool = True) -> None:
        """Carry out what the control plane assigns to this node, whoever submitted it, until cancelled.

        It says every `cluster.beat_s` that it lives and looks for orders all the time. When it is cancelled, orders in
        progress are given back and go on elsewhere from their last finished step. `entered` is called once others can
        see the node. Without `for_all` it carries out only what this process submitted. Meanwhile it keeps
        `cluster.prewarm` free slots ready.
        """
        warming = asyncio.create_task(self._warm.keep(), name="keeps slots ready")
        try:
            await self._resident.serve(entered, for_all=for_all)
        finally:
            await _cancel(warming)

    @property
    def working_on(self) -> frozenset[OrderId]:
        """Orders that this process carries out for the queue now."""
        return self._resident.working_on

    def wake(self) -> None:
        """Look at the queue now; that only shortens a wait."""
        self._resident.wake()

    async def submit(
        self, order: TaskOrder, engine_for: EngineFactory, *, leases: Sequence[Lease] = (), losses: int = 0,
        leaving: Callable[[], bool] = lambda: False,
    ) -> StatusReport:  # fmt: skip
        """Have the order done through the queue, in whatever slot of whatever process; see `Resident.submit`."""
        return await self._resident.submit(order, engine_for, leases=leases, losses=losses, leaving=leaving)

    async def settle_doubts(self, order: TaskOrder, engine_for: EngineFactory) -> StatusReport | None:
        """Return how an order stands that got no slot and has an effect in doubt; None when nothing is in doubt.

        Nobody holds it now. Its stream is written under the leases of the execution alone.
        """
        view = await open_view(self._store.ledger, str(order.order_id))
        if view.report is not None or not doubtful_units(view):
            return None
        report = await engine_for((), always).settle_doubts(order)
        if report is None or not report.state.final:
            return report
        return await with_evidence(order, report, store=self._store, clock=self._clock, leases=())

    async def release(self, held: HeldSlot) -> None:
        """Give back a slot that was taken beside the queue, and begin what waited for it."""
        self._resident.begin(await self._control_plane.release(held))
        self._warm.wake()

    async def drain(self, within_s: float) -> None:
        """Take no more of others' orders, and give those in progress back as their steps end; see `Resident.drain`."""
        await self._resident.drain(within_s)

    async def close(self) -> None:
        """Give back what is in progress, and leave the queue."""
        await self._resident.close()

    async def run(self, order: TaskOrder, held: HeldSlot, engine_for: EngineFactory) -> StatusReport:
        """Return the report of the order, with its evidence; the slot is recycled afterwards, whatever became of it.

        Each order has a folder and processes that nobody had before: those that wait in a warm slot, or new ones. They
        end with it, and what cannot be ended or removed then is before the slot's next order begins.

        Raises:
            SlotLost: the lease ran out or went to somebody else; the run was cancelled, the ledger has what was done.
        """
        grip = self._grip(held)
        heartbeat = asyncio.create_task(self._keep_alive(grip))  # making room for the order can take long, too
        work = asyncio.create_task(self._in_slot(order, held, engine_for, grip))
        try:
            await asyncio.wait({work, heartbeat}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise _lost(order, held)
            report = await work
        except StaleWriter:
            await self._renew_or_lost(order, held)
            raise  # it was another of the order's leases: somebody else runs the execution now
        finally:
            await _cancel(work, heartbeat)
        try:
            return await with_evidence(order, report, store=self._store, clock=self._clock, leases=(held.lease,))
        except StaleWriter:
            await self._renew_or_lost(order, held)
            raise

    async def _in_slot(
        self, order: TaskOrder, held: HeldSlot, engine_for: EngineFactory, grip: Grip
    ) -> StatusReport:  # fmt: skip
        """Make room for the order, have it done there, and recycle the slot."""
        driver = self._driver_for(held.index)
        slots, slot = self._home / "slots", held.allocation.slot_id.ulid
        ready = await self._warm.take(held)
        try:
            await asyncio.to_thread(_clear, slots / slot, None if ready is None else ready.folder)
            sandbox = ready or await driver.open(slots / f"{slot}-{held.allocation.fence}")
        except BaseException:
            if ready is not None:
                await _to_the_end(_recycle(driver, ready))
            raise
        try:
            return await self._carry_out(order, held, sandbox, engine_for((held.lease,), grip.still_held))
        finally:
            await _to_the_end(_recycle(driver, sandbox))

    async def _carry_out(
        self, order: TaskOrder, held: HeldSlot, sandbox: Sandbox, engine: StepEngine
    ) -> StatusReport:  # fmt: skip
        """Go on from what the finished steps left, in whatever slot they did."""
        files = await OrderFiles.open(
            self._store, order, sandbox.folder, files=self._files, slot=self._settings, leases=(held.lease,)
        )
        return await engine.run(order, allocation=held.allocation, sandbox=sandbox, files=files)

    def _grip(self, held: HeldSlot) -> Grip:
        async def renew() -> float:
            await self._control_plane.renew(held)
            return self._settings.lease_s

        return Grip((held.lease.expires_at - self._clock.now()).total_seconds(), renew)

    async def _keep_alive(self, grip: Grip) -> None:
        """Renew the lease; return once it is lost."""
        while True:
            await asyncio.sleep(self._settings.lease_s / 3)
            try:
                await grip.renew()
            except StaleWriter:
                return
            except LedgerUnavailable:  # the next beat may get through; until then the lease still holds
                if grip.left_s <= 0:
                    return

    async def _renew_or_lost(self, order: TaskOrder, held: HeldSlot) -> None:
        try:
            await self._control_plane.renew(held)
        except StaleWriter as error:
            raise _lost(order, held) from error


async def _to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Return when the work is done; cancelled meanwhile, only then."""
    doing = asyncio.ensure_future(work)
    try:
        await asyncio.shield(doing)
    except asyncio.CancelledError:
        await asyncio.wait({doing})
        raise


async def _recycle(driver: SandboxDriver, sandbox: Sandbox) -> None:
    """Empty a slot. An order that is done stays done where that fails: nobody begins here before it worked."""
    try:
        await driver.close(sandbox)
    except (OSError, SandboxBroken):
        _log.exception("the slot %s could not be emptied; that is tried again before its next order", sandbox.folder)


def _clear(slot: Path, ready: Path | None) -> None:
    """End and remove what earlier holders of a slot left behind, all but the folder that is `ready` for this one."""
    left = [folder for folder in slot.parent.glob(f"{slot.name}-*") if folder != ready]
    if left:
        kill_strays_of(slot, spare=ready)
    for folder in left:
        remove_folder(folder)


def _lost(order: TaskOrder, held: HeldSlot) -> SlotLost:
    return SlotLost(
        f"The slot of {order.order_id} was lost while it worked; what was finished is kept and it goes on in another.",
        order_id=order.order_id, slot_id=held.allocation.slot_id,
    )  # fmt: skip


async def _cancel(*tasks: asyncio.Task[object] | asyncio.Task[StatusReport] | asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
