"""What the bridge needs to run the steps of an order; wiring hands it in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeAlias

from contracts import OrderId, SlotAllocation, StatusReport, TaskOrder
from runtime.capabilities.port import Sandbox
from runtime.engine.ports import SlotFiles
from runtime.ledger.grip import StillHeld
from runtime.ledger.port import Lease


class StepEngine(Protocol):
    """What runs the steps of an order; `runtime.engine.Engine` is one."""

    async def run(
        self, order: TaskOrder, *, allocation: SlotAllocation | None = None, sandbox: Sandbox | None = None,
        files: SlotFiles | None = None,
    ) -> StatusReport:  # fmt: skip
        """Return how the order ended or stands; the same order again goes on where it stood."""
        ...

    async def settle_doubts(self, order: TaskOrder) -> StatusReport | None:
        """Find out without a slot about effects that were announced and have no receipt; begin no step.

        Return how the order stands; None when nothing is in doubt and it takes a slot to go on.
        """
        ...


EngineFactory: TypeAlias = Callable[[Sequence[Lease], StillHeld], StepEngine]
"""Makes the engine of one order: every write of it carries these leases, and it asks before every effect."""


class Engines(Protocol):
    """Makes engines for orders that another process submitted."""

    def for_order(self, order: TaskOrder) -> AbstractAsyncContextManager[EngineFactory]:
        """Give what makes the engine of the order; it notices when the order's execution is cancelled.

        What it stores carries the lease of its slot alone: the execution may change hands while the order goes on.

        Raises:
            SiliconError: the order cannot be carried out here, for example its organisation's data is not here.
        """
        ...

    def hold(self, order_id: OrderId) -> bool:
        """Let no further step of the order begin here; return whether none is in progress any more."""
        ...
