"""Runs an order in its slot: a fresh folder, the step engine, a lease kept alive, evidence sealed at the end.

`serve` makes it the resident of its node, which carries out what the control plane assigns to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from cluster.control_plane import ControlPlane
from cluster.engines import EngineFactory, Engines, StepEngine
from cluster.errors import SlotLost
from cluster.evidence import with_evidence
from cluster.resident import Resident
from cluster.sandbox.folders import remove_folder
from cluster.sandbox.port import SandboxDriver
from cluster.sandbox.processes import kill_strays_of
from cluster.slot import HeldSlot
from cluster.workspaces import OrderFiles
from contracts import OrderId, StatusReport, TaskOrder
from runtime.capabilities.port import Sandbox
from runtime.clock import Clock
from runtime.errors import LedgerUnavailable, StaleWriter
from runtime.ledger.grip import Grip
from runtime.ledger.port import Lease, Store
from runtime.settings import ClusterSettings, FileSettings, SlotSettings

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
        self._resident = Resident(
            control_plane, self.run, engines, clock=clock, settings=cluster or ClusterSettings(),
            allocate_s=settings.allocate_s,
        )  # fmt: skip

    async def serve(self, entered: Callable[[], None] = lambda: None, *, for_all: bool = True) -> None:
        """Carry out what the control plane assigns to this node, whoever submitted it, until cancelled.

        It says every `cluster.beat_s` that it lives and looks for orders all the time. When it is cancelled, orders in
        progress are given back and go on elsewhere from their last finished step. `entered` is called once others can
        see the node. Without `for_all` it carries out only what this process submitted.
        """
        await self._resident.serve(entered, for_all=for_all)

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

    async def release(self, held: HeldSlot) -> None:
        """Give back a slot that was taken beside the queue, and begin what waited for it."""
        self._resident.begin(await self._control_plane.release(held))

    async def drain(self, within_s: float) -> None:
        """Take no more of others' orders, and give those in progress back as their steps end; see `Resident.drain`."""
        await self._resident.drain(within_s)

    async def close(self) -> None:
        """Give back what is in progress, and leave the queue."""
        await self._resident.close()

    async def run(self, order: TaskOrder, held: HeldSlot, engine_for: EngineFactory) -> StatusReport:
        """Return the report of the order, with its evidence; the slot's folder is gone afterwards.

        Raises:
            SlotLost: the lease ran out or went to somebody else; the run was cancelled, the ledger has what was done.
        """
        driver = self._driver_for(held.index)
        slots, slot = self._home / "slots", held.allocation.slot_id.ulid
        await asyncio.to_thread(_clear, slots / slot)
        sandbox = await driver.open(slots / f"{slot}-{held.allocation.fence}")
        try:
            report = await self._run_while_held(order, held, sandbox, engine_for)
        finally:
            await asyncio.shield(driver.close(sandbox))
        try:
            return await with_evidence(order, report, store=self._store, clock=self._clock, leases=(held.lease,))
        except StaleWriter:
            await self._renew_or_lost(order, held)  # emptying the folder took longer than the lease
            raise

    async def _run_while_held(
        self, order: TaskOrder, held: HeldSlot, sandbox: Sandbox, engine_for: EngineFactory
    ) -> StatusReport:
        grip = self._grip(held)
        engine = engine_for((held.lease,), grip.still_held)
        work = asyncio.create_task(self._carry_out(order, held, sandbox, engine))
        heartbeat = asyncio.create_task(self._keep_alive(grip))
        try:
            await asyncio.wait({work, heartbeat}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise _lost(order, held)
            return await work
        except StaleWriter:
            await self._renew_or_lost(order, held)
            raise  # it was another of the order's leases: somebody else runs the execution now
        finally:
            await _cancel(work, heartbeat)

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


def _clear(slot: Path) -> None:
    """End and remove what earlier holders of a slot left behind when their process was killed."""
    left = list(slot.parent.glob(f"{slot.name}-*"))
    if left:
        kill_strays_of(slot)
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
