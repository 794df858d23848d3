"""The picture of a running execution, folded from its events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from console.views import ModelAsked, StepState
from contracts import Event, ExecutionId, OrderState


@dataclass
class LiveStep:
    """One step as far as it is known; repetitions of one step are counted on it."""

    id: str
    what: str = ""
    """The capability, or the employee it goes to."""
    state: StepState = StepState.PENDING
    started: datetime | None = None
    seconds: float = 0.0
    finished: int = 0
    """How many repetitions are finished."""
    repeated: bool = False
    orders: list[LiveOrder] = field(default_factory=list)


@dataclass
class LiveOrder:
    """One order and its steps."""

    order_id: str
    employee: str
    skill: str | None
    started: datetime
    state: OrderState = OrderState.RUNNING
    seconds: float = 0.0
    steps: dict[str, LiveStep] = field(default_factory=dict)


class Progress:
    """Folds the events of one execution; an event seen before changes nothing."""

    def __init__(self) -> None:
        self.root: LiveOrder | None = None
        self.execution_id: ExecutionId | None = None
        self.state = OrderState.RUNNING
        self._orders: dict[str, LiveOrder] = {}
        self._versions: dict[tuple[str, str, int | None], int] = {}
        """Step of an order → version of its last event."""
        self._gone_on: datetime | None = None
        """When the execution went on last: what was going on before is not any more."""
        self._position = 0

    def apply(self, event: Event) -> bool:
        """Take one event in; return whether the picture changed."""
        if event.position <= self._position or event.data is None:
            return False
        self._position = event.position
        self.execution_id = event.execution_id or self.execution_id
        kind, _, what = event.type.partition(".")
        if event.type == "order.accepted":
            return self._accept(event.data.get("order"), event.time)
        order = self._orders.get(event.subject)
        if "step" in event.data:
            step, index = str(event.data["step"]), cast("int | None", event.data.get("index"))
            self._versions[event.subject, step, index] = event.stream_version
        if kind == "step" and order is not None:
            return self._step(order, what, event.data, event.time)
        if event.type == "model.answered" and order is not None:
            return self._step(order, "dispatched", event.data, event.time)  # its first sign of life
        if event.type == "order.finished" and order is not None:
            return self._finish(order, event.data.get("report"), event.time)
        return self._execution(event)

    def holds(self, sign: ModelAsked) -> bool:
        """Whether the step is still at what the sign says, as far as events tell."""
        order = self._orders.get(sign.order_id)
        if order is None or order.state is not OrderState.RUNNING or not _is_since(sign, self._gone_on):
            return False
        return self._versions.get((sign.order_id, sign.step, sign.index), 0) <= sign.version

    def take_in(self, sign: ModelAsked) -> str:
        """Let the step of a sign that holds be under way, which no event says yet; return whose it is."""
        order = self._orders[sign.order_id]
        self._step(order, "dispatched", {"step": sign.step}, sign.since)
        return place_of(order.employee, sign.step, sign.index)

    def orders(self) -> Iterator[LiveOrder]:
        """Yield every order, in the order they were given."""
        yield from self._orders.values()

    def order(self, subject: str) -> LiveOrder | None:
        """Return the order whose stream that is."""
        return self._orders.get(subject)

    def _accept(self, data: Any, at: datetime) -> bool:
        if not isinstance(data, dict) or data.get("order_id") in self._orders:
            return False
        order = LiveOrder(str(data["order_id"]), str(data["employee"]), data.get("skill"), at)
        for step in data.get("plan", {}).get("steps", ()):
            order.steps[step["id"]] = LiveStep(
                step["id"], _what(step), repeated=bool(step.get("for_each") or step.get("until"))
            )
        self._orders[order.order_id] = order
        chain: list[dict[str, Any]] = data.get("chain") or []
        parent = self._orders.get(chain[-1]["order_id"]) if chain else None
        if parent is None:
            self.root = self.root or order
            return True
        step_id = str(chain[-1].get("step"))
        parent.steps.setdefault(step_id, LiveStep(step_id)).orders.append(order)
        return True

    def _step(self, order: LiveOrder, what: str, data: Mapping[str, Any], at: datetime) -> bool:
        step = order.steps.setdefault(str(data.get("step")), LiveStep(str(data.get("step"))))
        match what:
            case "dispatched":
                step.started = step.started or at
                step.state = StepState.RUNNING
            case "waiting":
                step.state = StepState.WAITING
            case "finished":
                step.seconds += float(data.get("seconds") or 0.0)
                step.finished += 1
                step.what = step.what or str(data.get("use") or "")
                step.state = StepState.DONE
            case "failed":
                step.state = StepState.FAILED if data.get("final") else StepState.RUNNING
            case "skipped":
                step.state = StepState.SKIPPED
            case _:
                return False
        return True

    def _finish(self, order: LiveOrder, report: Any, at: datetime) -> bool:
        state = report.get("state") if isinstance(report, dict) else None
        order.state = OrderState(state) if state else OrderState.DONE
        order.seconds = max(0.0, (at - order.started).total_seconds())
        return True

    def _execution(self, event: Event) -> bool:
        match event.type:
            case "execution.waiting":
                self.state = OrderState.WAITING
                for order in self._orders.values():
                    if not order.state.final:
                        order.state = OrderState.WAITING
            case "execution.finished":
                report: Any = (event.data or {}).get("report")
                self.state = OrderState(report["state"]) if isinstance(report, dict) else OrderState.DONE
            case "execution.resumed":
                self._gone_on = event.time
                self.state = OrderState.RUNNING
                for order in self._orders.values():
                    if not order.state.final:
                        order.state, order.started = OrderState.RUNNING, event.time
            case _:
                return False
        return True


def place_of(employee: str, step: object, index: object) -> str:
    """Return a step of somebody, for people."""
    return f"{employee}/{step}" + (f"[{index}]" if index is not None else "")


def _is_since(sign: ModelAsked, moment: datetime | None) -> bool:
    return moment is None or sign.since >= moment


def _what(step: Mapping[str, Any]) -> str:
    if step.get("parallel"):
        return f"{len(step['parallel'])} branches"
    return str(step.get("use") or step.get("by") or step.get("skill") or "")
