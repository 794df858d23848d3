"""A process that carries an order out in a slot and stays in its third step until it is killed.

`python holder.py HOME ORDER`, the order as JSON; it says `holding` once the third step has written half a file.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cluster import Bridge, Gateway, RlimitsDriver, open_control_plane, this_node
from contracts import Json, StatusReport, TaskOrder
from runtime.blackboard.on_ledger import LedgerBlackboard
from runtime.capabilities.builtin import builtin_capabilities
from runtime.capabilities.port import CallContext
from runtime.capabilities.registry import Registry
from runtime.capabilities.router import Router
from runtime.clock import SystemClock
from runtime.engine.engine import Engine
from runtime.ledger import open_store
from runtime.ledger.grip import StillHeld
from runtime.ledger.port import Lease, Store
from runtime.settings import BlackboardSettings, ClusterSettings, EngineSettings, LedgerSettings, SlotSettings
from tests.fakes.engine_world import CardGate, Tool

SLOT = SlotSettings(count=1, allocate_s=30, lease_s=5)


async def carry_out(home: Path, order: TaskOrder, store: Store, third: Tool) -> StatusReport:
    """Have the order done in a slot of this home; `third` is what its capability `third` does."""
    board = LedgerBlackboard(
        store.ledger, order.execution_id, organisation=order.organisation, settings=BlackboardSettings()
    )

    def engine_for(leases: Sequence[Lease], still_held: StillHeld) -> Engine:
        return Engine(
            store=store, router=Router(Registry([*builtin_capabilities(SLOT), third])), gate=CardGate(),
            clock=SystemClock(), settings=EngineSettings(), blackboard=board, delegate=None, leases=leases,
            cancelled=lambda: False, redact=lambda value: value, still_held=still_held,
        )  # fmt: skip

    node = this_node(home, SLOT, labels=(), cannot_enforce=())
    plane = open_control_plane(store, node, SystemClock(), slot=SLOT, cluster=ClusterSettings())
    bridge = Bridge(store, plane, lambda index: RlimitsDriver(SLOT), home=home, clock=SystemClock(), settings=SLOT)
    try:
        return await Gateway(plane, bridge, engine_for).submit(order)
    finally:
        await bridge.close()


async def _hold(arguments: Mapping[str, Json], context: CallContext) -> Any:
    assert context.sandbox is not None
    (context.sandbox.folder / "half.txt").write_text("half")
    (context.sandbox.folder / "one.txt").unlink()  # what a step that never ended did is not done
    print("holding", flush=True)
    await asyncio.Event().wait()


async def main(home: Path, order: TaskOrder) -> None:
    """Begin the order."""
    store = await open_store(LedgerSettings(), home=home, clock=SystemClock())
    await carry_out(home, order, store, Tool("third", _hold))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), TaskOrder.model_validate_json(sys.argv[2])))
