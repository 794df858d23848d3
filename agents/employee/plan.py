"""Plan: the declared plan of an order, looked at before anything of it runs."""

from __future__ import annotations

from collections.abc import Iterator

from agents.employee import tree
from agents.employee.ports import Node
from contracts import Name, PlanDefinition, Step, TaskOrder
from runtime.errors import InvalidArguments


def plan(order: TaskOrder, head: Node, employee: Name) -> PlanDefinition:
    """Return the plan that the employee is going to follow.

    Raises:
        InvalidArguments: the order is for somebody else, or a step names somebody who is not below the employee.
    """
    if order.employee != employee:
        raise InvalidArguments(
            f"{order.order_id} is for {order.employee}, but {employee} got it.",
            order_id=order.order_id, employee=employee,
        )  # fmt: skip
    me = tree.find(head, employee)
    for name in dict.fromkeys(_targets(order.plan.all_steps())):
        tree.find(me, name)
    return order.plan


def _targets(steps: Iterator[Step]) -> Iterator[Name]:
    for step in steps:
        if step.by is not None:
            yield step.by
        if step.otherwise is not None and step.otherwise.by is not None:
            yield step.otherwise.by
