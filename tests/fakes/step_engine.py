"""A step engine that does one thing: runs a script in its slot and records a finished step."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from contracts import EvidenceItem, EvidenceKind, OrderState, SlotAllocation, StatusReport, TaskOrder
from runtime.capabilities.port import Sandbox
from runtime.errors import StaleWriter
from runtime.ledger.port import Append, Lease, NewEvent, Store


class OneStepEngine:
    """Writes `step.finished` with one item of evidence under the lease it was given, then waits until it may end."""

    def __init__(self, store: Store, leases: Sequence[Lease], *, may_end: asyncio.Event | None = None) -> None:
        self._store = store
        self._leases = leases
        self._may_end = may_end
        self.began = asyncio.Event()
        self.ended = asyncio.Event()
        self.allocation: SlotAllocation | None = None
        self.folder: Path | None = None

    async def run(
        self, order: TaskOrder, *, allocation: SlotAllocation | None = None, sandbox: Sandbox | None = None
    ) -> StatusReport:
        assert sandbox is not None
        self.allocation, self.folder = allocation, sandbox.folder
        self.began.set()
        try:
            if self._may_end is not None:
                await self._may_end.wait()
        finally:
            self.ended.set()
        events = await self._store.ledger.read(order.order_id)
        if not events:
            ended = await sandbox.run_python("result = 42")
            await self._store.ledger.append(self._finished(order, ended.answer.decode()))
        return StatusReport(order_id=order.order_id, state=OrderState.DONE, progress=1.0, output={"n": 42})

    def _finished(self, order: TaskOrder, answer: str) -> Append:
        item = EvidenceItem(
            kind=EvidenceKind.CALL, at=datetime(2013, 2, 8, tzinfo=UTC), step="do", sha256="0" * 64,
            facts={"answer": answer},
        )  # fmt: skip
        event = NewEvent("step.finished", {"step": "do", "evidence": [item.to_json()]})
        return Append(
            order.order_id, (event,), expected_version=0, organisation=order.organisation, source="/test",
            execution_id=order.execution_id, leases=tuple(self._leases),
        )  # fmt: skip


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
    """An engine whose every write comes too late."""

    async def run(
        self, order: TaskOrder, *, allocation: SlotAllocation | None = None, sandbox: Sandbox | None = None
    ) -> StatusReport:
        raise StaleWriter(f"Somebody else works on {order.order_id}.")
