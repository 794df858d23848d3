"""The JSON of an order, which is made once where it is handed on and accepted in the same process."""

from __future__ import annotations

from contracts import PlanDefinition, TaskOrder
from runtime.canonical import Told
from runtime.once import once_for_each

_PLAN = {"plan"}


@once_for_each(64)
def json_of(order: TaskOrder) -> Told:
    """Return the JSON of an order; nobody may change it."""
    data = order.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=_PLAN)
    data["plan"] = _json_of_plan(order.plan)
    return Told(data)


@once_for_each(256)
def _json_of_plan(plan: PlanDefinition) -> Told:
    """Return the JSON of a plan, which is most of an order's and that of every order of its skill."""
    return Told(plan.to_json())
