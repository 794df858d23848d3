"""What the parts of one run of one order share."""

from __future__ import annotations

import asyncio
from collections import ChainMap
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from contracts import Problem, Step, TaskOrder
from runtime.blackboard.port import Blackboard
from runtime.canonical import clean
from runtime.capabilities.port import Gate, Sandbox
from runtime.capabilities.router import Router
from runtime.clock import Clock
from runtime.engine.journal import Journal
from runtime.engine.outcome import Stop
from runtime.engine.parallel import stop_all
from runtime.engine.ports import Delegate
from runtime.engine.scope import Outputs, Scope
from runtime.engine.view import OrderView, Unit
from runtime.ledger.port import Blobs, Ledger, NewEvent, Store
from runtime.settings.groups import EngineSettings

T = TypeVar("T")
POLL_S = 0.1
"""How often a call in progress looks whether the execution was cancelled."""


@dataclass
class Run:
    """One order being carried out."""

    order: TaskOrder
    view: OrderView
    journal: Journal
    store: Store
    router: Router
    gate: Gate
    delegate: Delegate | None
    blackboard: Blackboard
    sandbox: Sandbox | None
    clock: Clock
    settings: EngineSettings
    cancelled: Callable[[], bool]
    outputs: Outputs
    sleep: Callable[[float], Awaitable[None]]
    grace_s: float
    """How long an effect in progress gets to end after a cancel."""
    closing: bool = False
    """Whether nothing new starts any more."""
    under_way: int = 0
    """Units that have begun and are not counted in the usage yet."""

    @property
    def ledger(self) -> Ledger:
        """The ledger."""
        return self.store.ledger

    @property
    def blobs(self) -> Blobs:
        """Where long values are."""
        return self.store.blobs

    @property
    def stopping(self) -> bool:
        """Whether no unit may begin."""
        return self.closing or self.cancelled()

    def step(self, step_id: str) -> Step:
        """Return the step of the plan, or branch, of that id."""
        return next(step for step in self.order.plan.all_steps() if step.id == step_id)

    def scope(self) -> Scope:
        """Return what every step of the plan can see."""
        order = self.order
        known_at = order.known_at or self.view.accepted_at or self.clock.now()
        values = {
            **{name: parameter.default for name, parameter in order.plan.parameters.items()},
            **order.inputs,
            "context": order.context,
            "known_at": known_at.isoformat().replace("+00:00", "Z"),
        }
        return Scope(ChainMap(values, self.outputs))

    def call_key(self, unit: Unit) -> str:
        """Return the idempotency key: the same after a crash and on a retry, another one after a revision."""
        key = f"{self.order.order_id.ulid}:{unit.step}"
        key += "" if unit.index is None else f":{unit.index}"
        return key if unit.revisions == 0 else f"{key}:r{unit.revisions}"

    async def interruptible(self, work: Coroutine[Any, Any, T], *, grace_s: float | None) -> T:
        """Return what `work` gives, or stop it when the execution is cancelled.

        Args:
            grace_s: how long it may go on after a cancel; None lets it end by itself, as an order below does.

        Raises:
            Stop: it was stopped.
        """
        task = asyncio.ensure_future(work)
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=POLL_S)
                if not task.done() and grace_s is not None and self.cancelled():
                    await asyncio.wait({task}, timeout=grace_s)
                    break
            if task.done():
                return task.result()
            raise Stop
        finally:
            await stop_all([task])

    async def pause(self, seconds: float) -> None:
        """Wait before another try; raise Stop when the execution is cancelled meanwhile."""

        async def wait() -> None:
            await self.sleep(seconds)

        await self.interruptible(wait(), grace_s=0)

    async def give_up(self, step: Step, index: int | None, problem: Problem) -> None:
        """Record that a unit failed for good."""
        await self.journal.write(failed(step, index, problem, final=True))


def failed(step: Step, index: int | None, problem: Problem, *, final: bool, **more: Any) -> NewEvent:
    """Return the event of a failed attempt."""
    data = {"step": step.id, "index": index, "problem": problem.to_json(), "final": final, **more}
    return NewEvent("step.failed", clean_data(data))


def clean_data(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data of an event without fields that hold nothing, apart from `index`, which says so."""
    kept = {name: value for name, value in data.items() if value is not None or name == "index"}
    return {name: clean(value) for name, value in kept.items()}
