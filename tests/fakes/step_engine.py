"""Step engines that a test holds by the hand: they wait until they may end, or lose their lease."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from contracts import OrderState, SlotAllocation, StatusReport, TaskOrder
from runtime.capabilities.port import Sandbox
from runtime.engine.ports import SlotFiles
from runtime.errors import StaleWriter
from runtime.ledger.port import Append, Lease, NewEvent, Store


class OneStepEngine:
    """Waits until it may end, then writes one event under the lease it was given."""

    def __init__(self, store: Store, leases: Sequence[Lease], *, may_end: asyncio.Event | None = None) -> None:
        self._store = store
        self._leases = leases
        self._may_end = may_end
        self.began = asyncio.Event()
        self.ended = asyncio.Event()
        self.allocation: SlotAllocation | None = None
        self.folder: Path | None = None

    async def run(
        self, order: TaskOrder, *, allocation: SlotAllocation | None = None, sandbox: Sandbox | None = None,
        files: SlotFiles | None = None,
    ) -> StatusReport:  # fmt: skip
        assert sandbox is not None
        self.allocation, self.folder = allocation, sandbox.folder
        self.began.set()
        try:
            if self._may_end is not None:
                await self._may_end.wait()
        finally:
            self.ended.set()
        await self._store.ledger.append(
            Append(
                order.order_id, (NewEvent("order.accepted"),), expected_version=0, organisation=order.organisation,
                source="/test", leases=tuple(self._leases),
            )
        )  # fmt: skip
        return StatusReport(order_id=order.order_id, state=OrderState.DONE, progress=1.0)


class Engines:
    """Makes the engines of a test and keeps them. `may_end` of each in turn; those after the last may end at once."""

    def __init__(self, store: Store, *may_end: asyncio.Event) -> None:
        self._store = store
        self._may_end = list(may_end)
        self._made: asyncio.Queue[OneStepEngine] = asyncio.Queue()
        self.count = 0

    def __call__(self, leases: Sequence[Lease]) -> OneStepEngine:
        may_end = self._may_end[self.count] if self.count < len(self._may_end) else None
        self.count += 1
        engine = OneStepEngine(self._store, leases, may_end=may_end)
        self._made.put_nowait(engine)
        return engine

    async def next_begun(self) -> OneStepEngine:
        """Return the next engine, once it runs."""
        engine = await self._made.get()
        await engine.began.wait()
        return engine


class LosesItsLease:
    """An engine whose every write comes too late, because of what `first` does."""

    def __init__(self, first: Callable[[], Awaitable[None]]) -> None:
        self._first = first

    async def run(
        self, order: TaskOrder, *, allocation: SlotAllocation | None = None, sandbox: Sandbox | None = None,
        files: SlotFiles | None = None,
    ) -> StatusReport:  # fmt: skip
        await self._first()
        raise StaleWriter(f"Somebody else works on {order.order_id}.")
