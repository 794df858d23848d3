"""What the parts of one run of one order share."""

from __future__ import annotations

import asyncio
import math
from collections import ChainMap
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from contracts import Limit, Problem, Step, StepMode, TaskOrder
from runtime.blackboard.port import Blackboard
from runtime.canonical import clean
from runtime.capabilities.port import Gate, Sandbox
from runtime.capabilities.router import Router
from runtime.clock import Clock
from runtime.context.blocks import Block
from runtime.context.budget import Gauge
from runtime.draining import Steps
from runtime.engine.account import Account
from runtime.engine.branches import is_in, steps_in
from runtime.engine.flights import Flights
from runtime.engine.flow import Flow
from runtime.engine.interrupt import Interrupter
from runtime.engine.journal import Journal
from runtime.engine.pace import sign_of
from runtime.engine.parallel import stop_all
from runtime.engine.ports import Delegate
from runtime.engine.scope import Outputs, Scope
from runtime.engine.shared import Shared
from runtime.engine.states import UnitState
from runtime.engine.view import OrderView, Unit
from runtime.known import Known
from runtime.ledger.grip import StillHeld, always
from runtime.ledger.port import Blobs, Ledger, NewEvent, Store
from runtime.model.port import Model
from runtime.settings.context import ContextSettings
from runtime.settings.groups import EngineSettings

T = TypeVar("T")


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
    steps: Steps
    """Those in progress, and whether one may begin in this process."""
    flow: Flow
    """What all parts of the run move together, whatever branch they are in."""
    account: Account
    """What the order may still spend."""
    known: Known
    """What this process knows of the orders of the stretch without reading them."""
    still_held: StillHeld = always
    """Asked before each effect."""
    interrupter: Interrupter = field(init=False)
    """Stops calls in progress after a cancel."""
    model: Model | None = None
    """Who reasons in steps that ask for it."""
    context: ContextSettings = field(default_factory=ContextSettings)
    """In which form models see what they see."""
    blocks: Sequence[Block] = ()
    """What else stands in their system prompts."""
    gauge: Gauge = field(default_factory=Gauge)
    """Tells whether their prompts fit."""
    shared: Shared | None = None
    """The budgets that the order shares with others."""
    flights: Flights = field(default_factory=Flights)
    """Reads in progress, which identical ones join."""
    cancelled_branches: Callable[[], Collection[str]] = tuple
    """Branches that were asked to stop, by name."""
    goes_on: bool = False
    """Whether the order had begun before this run of it, perhaps in a process that was killed."""
    branch: str = ""
    """The branch that is being carried out, by its name; empty outside of groups."""

    def __post_init__(self) -> None:
        self.interrupter = Interrupter(self.cancelled)

    @property
    def closing(self) -> bool:
        """Whether nothing new starts any more."""
        return self.flow.closing

    def close(self) -> None:
        """Let nothing new start; what runs is waited for."""
        self.flow.closing = True
        self.account.wake()

    def within(self, branch: str) -> Run:
        """Return the run as one branch sees it: the same work, which also stops when that branch is cancelled."""
        name, whole = self.journal.branches[branch], self.cancelled

        def cancelled() -> bool:
            return whole() or is_in(name, self.cancelled_branches())

        return replace(self, branch=name, cancelled=cancelled)

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

    def must_go_on(self, step: Step, index: int | None) -> bool:
        """Whether a step begins though the order is closing, because an earlier stretch left something out of it.

        What was announced may have been paid for, and an order below may be spending what it was granted: it is told
        in what this order reports, and its owner gets back what is left, only if it goes on to where it can be told.
        """
        if self.flow.broken or self.cancelled():
            return False
        parts = {part.id for part in steps_in(step)}
        units = (each for each in self.view.units.values() if each.step in parts)
        return any(unit.holds and (index is None or unit.index == index) for unit in units)

    def end(self, unit: Unit) -> None:
        """Return what the unit set aside; of a branch that was cancelled, the rest comes back when it is taken out."""
        self.account.end(unit, comes_back=self.cancelled())

    def is_last(self, step: Step) -> bool:
        """Whether the order ends with this step: it is the last of the plan, and all others are over."""
        *before, last = self.order.plan.steps
        if step.id != last.id or self.flow.beside:
            return False
        return all(self.view.state_of(each.id) in (UnitState.DONE, UnitState.SKIPPED) for each in before)

    def slow_down(self, problem: Problem) -> list[NewEvent]:
        """Let fewer steps of the plan be in progress after a failed attempt.

        Returns what tells of it, where the plan could have run wider; it belongs into the append of the failure.
        """
        pace, sign = self.flow.pace, sign_of(problem)
        before = pace.take(sign)
        if pace.width >= min(before, len(self.order.plan.steps)):
            return []
        return [NewEvent("dispatch.narrowed", {"from": before, "to": pace.width, "because": f"{sign}: {problem.code}"})]

    def in_progress(self, step: Step) -> AbstractAsyncContextManager[None]:
        """Return what lies around the work on a unit; a step that another employee does is in progress in its order."""
        return nullcontext() if step.mode is StepMode.EMPLOYEE else self.steps

    @property
    def patience_s(self) -> float:
        """How long the order can still wait for anything."""
        left = [math.inf]
        if self.order.deadline is not None:
            left.append((self.order.deadline - self.clock.now()).total_seconds())
        if Limit.SECONDS in self.account.limits:
            left.append(float(self.account.free(Limit.SECONDS)))
        return min(left)

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
        if grace_s is not None:
            return await self.interrupter.run(work, grace_s=grace_s)
        if self.flow.beside:  # the step has a task of its own
            return await work
        task = asyncio.ensure_future(work)  # so that orders below orders do not pile up on one stack
        try:
            return await task
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
