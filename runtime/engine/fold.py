"""From the events of an order's stream to its view, one small function for each type of event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, TypeVar

from contracts import (
    Event,
    EvidenceId,
    Limit,
    Money,
    PlanDefinition,
    Problem,
    SlotAllocation,
    StatusReport,
    TaskOrder,
    Usage,
    asked_id,
)  # fmt: skip
from runtime.engine.drawn import forget_settled
from runtime.engine.fold_below import HANDLERS as BELOW
from runtime.engine.fold_below import count_below, counted
from runtime.engine.happened import Data, Happened
from runtime.engine.react.fold import HANDLERS as REACT
from runtime.engine.react.fold import begin_anew, go_on, take_denied
from runtime.engine.result import Result
from runtime.engine.states import Move, UnitState, next_state
from runtime.engine.view import Intent, OrderView, Recent, Unit, UnitKey
from runtime.errors import surely_not


def fold_order(events: Iterable[Event]) -> OrderView:
    """Return what the events of one order's stream say together, in their order."""
    view = OrderView()
    for event in events:
        apply(view, event)
    return view


def apply(view: OrderView, event: Happened) -> None:
    """Take in the next event of the stream; one that is not known here, or was erased, only counts."""
    view.version = event.stream_version
    handle = _HANDLERS.get(event.type)
    if handle is not None and event.data is not None:
        if event.stream_version > view.recent.since:
            _note(view.recent, event, event.data)
        handle(view, event, event.data)
        if view.draws:
            forget_settled(view, event.type, event.data)


def group_of(plan: PlanDefinition) -> dict[str, str]:
    """Return branch → the group it belongs to, for every branch of the plan."""
    return {branch.id: step.id for step in plan.all_steps() for branch in step.parallel}


C = TypeVar("C", TaskOrder, StatusReport)


def _unit(view: OrderView, data: Data, move: Move) -> Unit:
    unit = view.unit(data["step"], data.get("index"))
    view.move(unit, next_state(unit.state, move))
    return unit


def _note(recent: Recent, event: Happened, data: Data) -> None:
    """Remember the place of the event for the next snapshot."""
    if "step" in data and not event.type.startswith("compensation."):
        recent.units.setdefault((data["step"], data.get("index")), []).append(event.stream_version)
    else:
        recent.order.append(event.stream_version)


def _accepted(view: OrderView, event: Happened, data: Data) -> None:
    view.order = _read(view, TaskOrder, data["order"])
    view.accepted_at = event.time


def _read(view: OrderView, kind: type[C], data: Mapping[str, Any]) -> C:
    """Return what was stored: as its writer has it, unless something was taken out on the way to the ledger."""
    said = view.said
    if said is None or not isinstance(said.value, kind):
        return kind.read(data)
    view.said = None
    return said.value if said.data == data else kind.read(data)


def _allocated(view: OrderView, event: Happened, data: Data) -> None:
    view.allocation = SlotAllocation.read(data["allocation"])


def _reserved(view: OrderView, event: Happened, data: Data) -> None:
    unit = view.unit(data["step"], data.get("index"))
    unit.reserved[data.get("call", "")] = tuple(map(Money.read, data["reserved"]))


def _drawn(view: OrderView, event: Happened, data: Data) -> None:
    view.draws, unit = True, view.unit(data["step"], data.get("index"))
    rows = {row: {Limit(limit): Decimal(some) for limit, some in each.items()} for row, each in data["rows"].items()}
    unit.drawn = {**(unit.drawn or {}), data["what"]: rows}


def _intended(view: OrderView, event: Happened, data: Data) -> None:
    unit = _unit(view, data, Move.INTEND)
    unit.intent = Intent(
        data["key"], data["use"], data["arguments_sha256"], data["capability_sha256"], data.get("card"),
        instance=data.get("instance"),
    )  # fmt: skip
    unit.waiting, unit.doubts, unit.denied = (), (), ()
    if "reserved" in data:
        _reserved(view, event, data)


def _waiting(view: OrderView, event: Happened, data: Data) -> None:
    unit = _unit(view, data, Move.WAIT)
    unit.waiting = tuple(asked_id(each) for each in data["ids"])
    if "usage" in data:
        count_below(view, event, unit, data)
    if data.get("in_doubt"):
        unit.doubts = unit.waiting
    take_denied(unit, data)
    if "held" in data:
        unit.held = Result.from_data(data["held"], event.time)


def _finished(view: OrderView, event: Happened, data: Data) -> None:
    unit = _unit(view, data, Move.FINISH)
    unit.settled_at = event.stream_version
    unit.result = Result.from_data(data, event.time)
    unit.held = None
    unit.reserved.clear()
    if unit.child is not None:
        unit.child = replace(
            unit.child, order=None, order_sha256=None
        )  # nobody gives it again, and each would stay in memory
    view.finished.append((unit.step, unit.index))
    _take_in(view, event, unit, unit.result)


def _failed(view: OrderView, event: Happened, data: Data) -> None:
    final = bool(data.get("final"))
    unit = _unit(view, data, Move.GIVE_UP if final else Move.RETRY)
    unit.failures.append(Problem.read(data["problem"]))
    unit.waiting, unit.held, unit.denied = (), None, ()
    unit.child = counted(unit.child, data) if final else None
    if final or "result" in data or "usage" in data or surely_not(unit.failures[-1].facts):
        unit.reserved.clear()  # settled, or nothing came of it; else the same call is made again under its key
    if unit.intent is not None:
        known = "result" in data or surely_not(unit.failures[-1].facts)
        unit.intent = replace(unit.intent, open=unit.intent.open and not known)
    if "result" in data:  # the effect happened, but its result was not accepted
        unit.result = Result.from_data(data["result"], event.time)
        view.finished.append((unit.step, unit.index))
        _take_in(view, event, unit, unit.result)
    if unit.react is not None:
        unit.react.tell(unit.failures[-1])
    view.happened = view.happened or bool(data.get("happened"))
    view.seal(event.stream_version, [EvidenceId(name) for name in data.get("sealed", ())])
    if "usage" in data:
        view.spend(event.stream_version, unit, Usage.read(data["usage"]))


def _take_in(view: OrderView, event: Happened, unit: Unit, result: Result) -> None:
    view.spend(event.stream_version, unit, result.spent)
    view.happened = view.happened or result.happened
    view.use(event.stream_version, (name for name in (*result.uses, result.use) if name))
    if result.artifacts:
        view.artifacts[event.stream_version] = result.artifacts
    view.seal(event.stream_version, result.sealed)


def _skipped(view: OrderView, event: Happened, data: Data) -> None:
    unit = _unit(view, data, Move.SKIP)
    unit.settled_at, unit.why = event.stream_version, data["why"]


def _revised(view: OrderView, event: Happened, data: Data) -> None:
    view.revisions = max(view.revisions, data["revision"])
    unit = view.unit(data["step"], data.get("index"))
    unit.revisions += 1
    unit.change = data["change"]
    unit.way = data.get("way", 1 if unit.change == "otherwise" else unit.way)  # there was one way only, once
    unit.since_revision = len(unit.failures)
    unit.intent = None
    begin_anew(unit)


def _reopened(view: OrderView, event: Happened, data: Data) -> None:
    view.reopened += 1
    view.report, view.narrowed = None, None
    groups = group_of(view.order.plan) if view.order else {}
    for unit in view.units.values():
        group = groups.get(unit.step, "")
        over = any(_was_done(view, (group, index), event.stream_version) for index in (None, unit.index))
        if unit.state is UnitState.FAILED and not over and unit.result is None:
            view.move(unit, next_state(unit.state, Move.REOPEN))
            unit.since_revision = len(unit.failures)
            if unit.intent is None or not unit.intent.open:  # in doubt, it stays the call that it was, under its key
                unit.revisions, unit.change, unit.way = 0, None, 0
            unit.doubts = ()  # whoever looks again may ask again
            go_on(unit)


def _was_done(view: OrderView, key: UnitKey, version: int) -> bool:
    """Whether the unit was done when the event of that version happened; a snapshot may tell of a later end."""
    settled_at = view.settled.get(key)
    return view.state(key) is UnitState.DONE and (settled_at is None or settled_at < version)


def _undo(view: OrderView, event: Happened, data: Data) -> None:
    intended = event.type == "compensation.intended"
    view.undone[data["key"]] = "intended" if intended else ("done" if data["ok"] else "failed")


_HANDLERS: Mapping[str, Callable[[OrderView, Happened, Data], None]] = {
    "order.accepted": _accepted,
    "order.allocated": _allocated,
    "order.reopened": _reopened,
    "budget.drawn": _drawn,
    "budget.reserved": _reserved,
    "effect.intended": _intended,
    "step.waiting": _waiting,
    "step.finished": _finished,
    "step.failed": _failed,
    "step.skipped": _skipped,
    "plan.revised": _revised,
    "dispatch.narrowed": lambda view, event, data: setattr(view, "narrowed", data["to"]),
    "compensation.intended": _undo,
    "compensation.finished": _undo,
    **BELOW,
    **REACT,
    "order.finished": lambda view, event, data: setattr(view, "report", _read(view, StatusReport, data["report"])),
}
