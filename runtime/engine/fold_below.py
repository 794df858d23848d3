"""What events say of orders below: given, granted more, and what they spent so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from contracts import Budget, OrderId, Usage
from runtime.engine.happened import Data, Happened
from runtime.engine.states import Move, UnitState, next_state
from runtime.engine.view import Child, OrderView, Unit


def holder_of(view: OrderView, data: Data) -> Unit:
    """Return what holds the order: the unit, or the part of it that one call of its model is."""
    unit = view.unit(data["step"], data.get("index"))
    return unit.part(data["call"]) if "call" in data else unit


def count_below(view: OrderView, event: Happened, holder: Unit, data: Data) -> None:
    """Count what an order below spent that goes on later; it gets a new grant before it does."""
    holder.child = counted(holder.child, data)
    if holder.child is not None:
        holder.child = replace(holder.child, granted=None)
    view.spend(event.stream_version, view.unit(holder.step, holder.index), Usage.read(data["usage"]))


def counted(child: Child | None, data: Data) -> Child | None:
    """Return the order below with what the event says it spent."""
    if child is None or "usage" not in data:
        return child
    return replace(child, counted=child.counted + Usage.read(data["usage"]))


def end_part(holder: Unit, state: UnitState) -> None:
    """Let the order that a call became be over; nobody gives it again, and each would stay in memory."""
    holder.state = state
    if holder.child is not None:
        holder.child = replace(holder.child, order=None, order_sha256=None)


def _dispatched(view: OrderView, event: Happened, data: Data) -> None:
    holder = holder_of(view, data)
    _move(view, holder, Move.DISPATCH)
    granted = Budget.read(data["granted"]) if "granted" in data else None
    holder.child = Child(OrderId(data["order_id"]), data.get("order"), data.get("order_sha256"), granted)
    view.children.append(holder.child.order_id)


def _granted(view: OrderView, event: Happened, data: Data) -> None:
    holder = holder_of(view, data)
    if holder.state is UnitState.PENDING:  # its order goes on after this one was reopened
        _move(view, holder, Move.DISPATCH)
    if holder.child is not None:
        holder.child = replace(holder.child, granted=Budget.read(data["granted"]))


def _settled(view: OrderView, event: Happened, data: Data) -> None:
    count_below(view, event, holder_of(view, data), data)


def _move(view: OrderView, holder: Unit, move: Move) -> None:
    state = next_state(holder.state, move)
    if holder.call:  # a part stands in no tally
        holder.state = state
    else:
        view.move(holder, state)


HANDLERS: Mapping[str, Callable[[OrderView, Happened, Data], None]] = {
    "step.dispatched": _dispatched,
    "budget.granted": _granted,
    "budget.settled": _settled,
}
