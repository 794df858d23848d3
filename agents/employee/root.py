"""The first order of an execution: what the head of the organisation is asked to do."""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar

from agents.employee.dispatch import skill_of, work_of
from agents.employee.parameters import complete
from agents.employee.plans import Work
from agents.employee.ports import Staff
from contracts import Budget, ExecutionId, ExecutionRequest, Money, Name, OrderId, TaskOrder, Tier
from runtime.errors import InvalidArguments

N = TypeVar("N", int, float)
HOW = "--with {name}=value` or in `parameters"
"""How a person passes a parameter, on the command line or in a request to the HTTP API."""


def root_order(
    request: ExecutionRequest,
    staff: Staff,
    *,
    skill: Name | None,
    order_id: OrderId,
    execution_id: ExecutionId,
    trace_id: str,
    now: datetime,
) -> TaskOrder:
    """Return the order for the head.

    With a skill of the head's own it is that skill's plan, else one step that hands the work down the chain of
    command; with a plan of the requester's, that plan. It touches nothing, so that a request can be tried before it is
    accepted.

    Args:
        skill: what was chosen by name or by the goal's words; None when the request brings a plan.
        now: the moment that counts when the request names none.

    Raises:
        InvalidArguments: parameters are missing or unknown; names all of them and how to pass them.
        NotFound: there is no such skill.
        PermissionRefused: nobody has the skill.
    """
    known_at = request.known_at or now
    work, own_skill, tier = _work(request, staff, skill, known_at)
    return TaskOrder(
        order_id=order_id,
        execution_id=execution_id,
        organisation=request.organisation,
        employee=staff.head.id,
        issued_by=request.requested_by,
        objective=request.goal,
        skill=own_skill,
        plan=work.plan,
        inputs=work.inputs,
        tier=tier,
        workspace=staff.head.workspace if tier is Tier.EXECUTION else None,
        approval_mode=request.governance.approval_mode,
        budget=narrower(request.governance.budget, staff.budget),
        knowledge_scope=request.knowledge_scope,
        requested_by=request.requested_by,
        known_at=known_at,
        language=request.language,
        priority=request.priority,
        trace_id=trace_id,
    )


def narrower(one: Budget, other: Budget) -> Budget:
    """Return the budget that keeps the limits of both.

    Raises:
        InvalidArguments: they name money of different currencies, which nothing here can compare.
    """
    return Budget(
        tokens=_least(one.tokens, other.tokens),
        money=_less_money(one.money, other.money),
        seconds=_least(one.seconds, other.seconds),
        steps=_least(one.steps, other.steps),
    )


def _work(
    request: ExecutionRequest, staff: Staff, skill: Name | None, known_at: datetime
) -> tuple[Work, Name | None, Tier]:  # fmt: skip
    parameters = request.plan.parameters if request.plan is not None else {}
    whose = "the plan"
    known = None
    if request.plan is None:
        if skill is None:
            raise InvalidArguments("The request names neither a skill nor a plan, so there is nothing to run.")
        known = skill_of(staff, skill)
        parameters, whose = known.plan.parameters, f"the skill {known.name}"
    inputs = complete(
        parameters, request.parameters, known_at=known_at, time_zone=staff.time_zone, whose=whose, how=HOW,
        language=request.language,
    )  # fmt: skip
    if known is None:
        assert request.plan is not None, "a request without a skill brings a plan"
        return Work(request.plan, inputs), None, Tier.COGNITIVE
    work, own = work_of(staff, staff.head, known, inputs)
    return work, known.name if own else None, known.tier if own else Tier.COGNITIVE


def _least(one: N | None, other: N | None) -> N | None:
    given = [limit for limit in (one, other) if limit is not None]
    return min(given) if given else None


def _less_money(one: Money | None, other: Money | None) -> Money | None:
    if one is None or other is None:
        return one or other
    if one.currency != other.currency:
        raise InvalidArguments(
            f"The request's budget is in {one.currency} and the organisation's in {other.currency}; "
            "give the request's in the organisation's currency."
        )
    return min(one, other, key=lambda money: money.amount)
