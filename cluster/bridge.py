"""Runs an order in its slot: a fresh folder, the step engine, a lease kept alive, evidence sealed at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from cluster.control_plane import ControlPlane
from cluster.errors import SlotLost
from cluster.evidence import evidence_id_of, items_of, packages_of, seal
from cluster.sandbox.folders import remove_folders_of
from cluster.sandbox.port import SandboxDriver
from cluster.slot import HeldSlot
from contracts import EvidenceId, SlotAllocation, StatusReport, TaskOrder
from runtime.capabilities.port import Sandbox
from runtime.clock import Clock
from runtime.errors import LedgerUnavailable, StaleWriter
from runtime.ledger.port import Append, Lease, NewEvent, Store
from runtime.settings import SlotSettings


class StepEngine(Protocol):
    """What runs the steps of an order; `runtime.engine.Engine` is one."""

    async def run(
        self, order: TaskOrder, *, allocation: SlotAllocation | None = None, sandbox: Sandbox | None = None
    ) -> StatusReport:
        """Return how the order ended or stands; the same order again goes on where it stood."""
        ...


EngineFactory = Callable[[Sequence[Lease]], StepEngine]
"""Makes the engine of one order; every write of it carries these leases."""

DriverFor = Callable[[int], SandboxDriver]
"""Returns the sandbox driver of a slot, by its number."""


class Bridge:
    """Resident of one node. The engine runs here, in trusted code; only programs run inside the sandbox."""

    def __init__(
        self,
        store: Store,
        control_plane: ControlPlane,
        engine_for: EngineFactory,
        driver_for: DriverFor,
        *,
        home: Path,
        clock: Clock,
        settings: SlotSettings,
    ) -> None:
        self._store = store
        self._control_plane = control_plane
        self._engine_for = engine_for
        self._driver_for = driver_for
        self._home = home
        self._clock = clock
        self._settings = settings

    async def run(self, order: TaskOrder, held: HeldSlot) -> StatusReport:
        """Return the report of the order, with its evidence; the slot's folder is gone afterwards.

        Raises:
            SlotLost: the lease ran out or went to somebody else; the run was cancelled, the ledger has what was done.
        """
        driver = self._driver_for(held.index)
        slots, slot = self._home / "slots", held.allocation.slot_id.ulid
        await asyncio.to_thread(remove_folders_of, slots, slot)
        sandbox = await driver.open(slots / f"{slot}-{held.allocation.fence}")
        try:
            report = await self._run_while_held(order, held, sandbox)
        finally:
            await asyncio.shield(driver.close(sandbox))
        return await self._with_evidence(order, report, held)

    async def _run_while_held(self, order: TaskOrder, held: HeldSlot, sandbox: Sandbox) -> StatusReport:
        engine = self._engine_for((held.lease,))
        work = asyncio.create_task(engine.run(order, allocation=held.allocation, sandbox=sandbox))
        heartbeat = asyncio.create_task(self._keep_alive(held))
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

    async def _keep_alive(self, held: HeldSlot) -> None:
        """Renew the lease; return once it is lost."""
        while True:
            await asyncio.sleep(self._settings.lease_s / 3)
            try:
                held = await self._control_plane.renew(held)
            except StaleWriter:
                return
            except LedgerUnavailable:  # the next beat may get through; until then the lease still holds
                if self._clock.now() >= held.lease.expires_at:
                    return

    async def _with_evidence(self, order: TaskOrder, report: StatusReport, held: HeldSlot) -> StatusReport:
        if not report.state.final:
            return report
        sealed = await self._seal(order, held)
        others = tuple(evidence for evidence in report.evidence if evidence != sealed)
        return report.model_copy(update={"evidence": (*others, sealed)})

    async def _seal(self, order: TaskOrder, held: HeldSlot) -> EvidenceId:
        """Seal what the order's steps showed; evidence that is sealed already is left as it is."""
        stream = evidence_id_of(order)
        items = items_of(await self._store.ledger.read(order.order_id))
        earlier = packages_of(await self._store.ledger.read(stream))
        if earlier and earlier[-1].items == items:
            return earlier[-1].evidence_id
        package = seal(order, items, self._clock.now())
        append = Append(
            stream=stream,
            events=(NewEvent("evidence.sealed", {"package": package.to_json()}),),
            expected_version=len(earlier),
            organisation=order.organisation,
            source=f"/organisation/{order.organisation}/cluster/bridge",
            execution_id=order.execution_id,
            trace_id=order.trace_id,
            leases=(held.lease,),
        )
        await self._store.ledger.append(append)
        return package.evidence_id

    async def _renew_or_lost(self, order: TaskOrder, held: HeldSlot) -> None:
        try:
            await self._control_plane.renew(held)
        except StaleWriter as error:
            raise _lost(order, held) from error


def _lost(order: TaskOrder, held: HeldSlot) -> SlotLost:
    return SlotLost(
        f"The slot of {order.order_id} was lost while it worked; what was finished is kept and it goes on in another.",
        order_id=order.order_id, slot_id=held.allocation.slot_id,
    )  # fmt: skip


async def _cancel(*tasks: asyncio.Task[object] | asyncio.Task[StatusReport] | asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
