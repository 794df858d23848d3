"""Branches of parallel groups as people name them, and what of an execution lies in one."""

from __future__ import annotations

from collections.abc import Mapping

from console.told import events_of
from contracts import ExecutionId, Json, Step, TaskOrder
from runtime.engine.branches import branches_of, is_in, steps_in
from runtime.engine.resume import open_view
from runtime.errors import NotFound
from runtime.ledger.port import Store


async def require_branch(store: Store, execution_id: ExecutionId, branch: str) -> bool:
    """Return whether a branch has not ended yet; raise NotFound with those that the execution has so far."""
    orders = await orders_of(store, execution_id)
    found = {name: (stream, step) for stream, order in orders.items() for step, name in branches_of(order).items()}
    if branch not in found:
        there = f"It has: {', '.join(found)}." if found else "It has no parallel group so far."
        raise NotFound(f"{execution_id} has no branch {branch}. {there}", branch=branch, branches=list[Json](found))
    stream, step = found[branch]
    around = next(whole.id for whole in orders[stream].plan.steps if step in map(_id, steps_in(whole)))
    view = await open_view(store.ledger, stream)
    return view.report is None and not any(view.state((each, None)).settled for each in (around, step))


async def orders_of(store: Store, execution_id: ExecutionId) -> Mapping[str, TaskOrder]:
    """Return stream → order, for every order of an execution that somebody began with."""
    return {
        event.subject: TaskOrder.read(event.data["order"])  # type: ignore[arg-type]
        async for event in events_of(store, execution_id)
        if event.type == "order.accepted" and event.data is not None
    }


def _id(step: Step) -> str:
    return step.id


def lies_in(branch: str, order: TaskOrder | None, step: str | None) -> bool:
    """Whether a step of an order is part of a branch."""
    if order is None:
        return False
    return is_in(branches_of(order).get(step or "", order.branch), {branch})
