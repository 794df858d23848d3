"""From the events of an order's stream to its view, one small function for each type of event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from contracts import (
    DataProduct,
    Event,
    EvidenceId,
    Finding,
    OrderId,
    PlanDefinition,
    Problem,
    SlotAllocation,
    StatusReport,
    TaskOrder,
    Usage,
    asked_id,
)  # fmt: skip
from runtime.engine.result import Result
from runtime.engine.states import Move, UnitState, next_state
from runtime.engine.view import Child, Intent, OrderView, Unit
from runtime.errors import surely_not


def fold_order(events: Iterable[Event]) -> OrderView:
    """Return what the events of one order's stream say together, in their order."""
    view = OrderView()
    for event in events:
        apply(view, event)
    return view


def apply(view: OrderView, event: Event) -> None:
    """Take in the next event of the stream; one that is not known here, or was erased, only counts."""
    view.version = event.stream_version
    handle = _HANDLERS.get(event.type)
    if handle is not None and event.data is not None:
        handle(view, event, event.data)


def group_of(plan: PlanDefinition) -> dict[str, str]:
    """Return branch → the group it belongs to, for every branch of the plan."""
    return {branch.id: step.id for step in plan.all_steps() for branch in step.parallel}


Data = Mapping[str, Any]


def _unit(view: OrderView, data: Data, move: Move) -> Unit:
    unit = view.unit(data["step"], data.get("index"))
    unit.state = next_state(unit.state, move)
    return unit


def _accepted(view: OrderView, event: Event, data: Data) -> None:
    view.order = TaskOrder.read(data["order"])
    view.accepted_at = event.time


def _allocated(view: OrderView, event: Event, data: Data) -> None:
    view.allocation = SlotAllocation.read(data["allocation"])


def _dispatched(view: OrderView, event: Event, data: Data) -> None:
    unit = _unit(view, data, Move.DISPATCH)
    unit.child = Child(OrderId(data["order_id"]), data.get("order"), data.get("order_sha256"))
    view.children.append(unit.child.order_id)


def _intended(view: OrderView, event: Event, data: Data) -> None:
    unit = _unit(view, data, Move.INTEND)
    unit.intent = Intent(
        data["key"], data["use"], data["arguments_sha256"], data["capability_sha256"], data.get("card")
    )
    unit.waiting, unit.doubts = (), ()


def _waiting(view: OrderView, event: Event, data: Data) -> None:
    unit = _unit(view, data, Move.WAIT)
    unit.waiting = tuple(asked_id(each) for each in data["ids"])
    if data.get("in_doubt"):
        unit.doubts = unit.waiting
    if "held" in data:
        unit.held = Result.from_data(data["held"])


def _finished(view: OrderView, event: Event, data: Data) -> None:
    unit = _unit(view, data, Move.FINISH)
    unit.result = Result.from_data(data)
    unit.held = None
    view.finished.append((unit.step, unit.index))
    _take_in(view, unit, unit.result)


def _failed(view: OrderView, event: Event, data: Data) -> None:
    final = bool(data.get("final"))
    unit = _unit(view, data, Move.GIVE_UP if final else Move.RETRY)
    unit.failures.append(Problem.read(data["problem"]))
    unit.waiting, unit.child, unit.held = (), unit.child if final else None, None
    if unit.intent is not None:
        known = "result" in data or surely_not(unit.failures[-1].facts)
        unit.intent = replace(unit.intent, open=unit.intent.open and not known)
    if "result" in data:  # the effect happened, but its result was not accepted
        unit.result = Result.from_data(data["result"])
        view.finished.append((unit.step, unit.index))
        _take_in(view, unit, unit.result)
    unit.happened = unit.happened or bool(data.get("happened"))
    unit.sealed += tuple(EvidenceId(name) for name in data.get("sealed", ()))
    if "usage" in data:
        unit.usage = unit.usage + Usage.read(data["usage"])
        view.usage = view.usage + Usage.read(data["usage"])


def _take_in(view: OrderView, unit: Unit, result: Result) -> None:
    unit.usage = unit.usage + result.usage
    view.usage = view.usage + result.usage
    view.evidence.extend(result.evidence)
    view.artifacts.extend(result.artifacts)


def _skipped(view: OrderView, event: Event, data: Data) -> None:
    _unit(view, data, Move.SKIP).why = data["why"]


def _revised(view: OrderView, event: Event, data: Data) -> None:
    view.revisions = data["revision"]
    unit = view.unit(data["step"], data.get("index"))
    unit.revisions += 1
    unit.change = data["change"]
    unit.since_revision = len(unit.failures)
    unit.intent = None


def _reopened(view: OrderView, event: Event, data: Data) -> None:
    view.reopened += 1
    view.report = None
    groups = group_of(view.order.plan) if view.order else {}
    for unit in view.units.values():
        group = groups.get(unit.step, "")
        around = (view.units.get((group, index)) for index in (None, unit.index))
        over = any(whole is not None and whole.state is UnitState.DONE for whole in around)
        if unit.state is UnitState.FAILED and not over and unit.result is None:
            unit.state = next_state(unit.state, Move.REOPEN)
            unit.since_revision = len(unit.failures)
            if unit.intent is None or not unit.intent.open:  # in doubt, it stays the call that it was, under its key
                unit.revisions, unit.change = 0, None
            unit.doubts = ()  # whoever looks again may ask again


def _undo(view: OrderView, event: Event, data: Data) -> None:
    intended = event.type == "compensation.intended"
    view.undone[data["key"]] = "intended" if intended else ("done" if data["ok"] else "failed")


_HANDLERS: Mapping[str, Callable[[OrderView, Event, Data], None]] = {
    "order.accepted": _accepted,
    "order.allocated": _allocated,
    "order.reopened": _reopened,
    "step.dispatched": _dispatched,
    "effect.intended": _intended,
    "step.waiting": _waiting,
    "step.finished": _finished,
    "step.failed": _failed,
    "step.skipped": _skipped,
    "plan.revised": _revised,
    "product.made": lambda view, event, data: view.products.append(DataProduct.read(data["product"])),
    "finding.made": lambda view, event, data: view.findings.append(Finding.read(data["finding"])),
    "compensation.intended": _undo,
    "compensation.finished": _undo,
    "order.finished": lambda view, event, data: setattr(view, "report", StatusReport.read(data["report"])),
}
