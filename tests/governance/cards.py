"""Cards, people, orders and effects for tests; each call makes fresh ids."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from contracts import (
    Action,
    CardId,
    CardKind,
    Confidence,
    DecisionCard,
    Effect,
    ExecutionId,
    Json,
    Option,
    OrderId,
    Parameter,
    PlanDefinition,
    Step,
    TaskOrder,
    ValueType,
)  # fmt: skip
from governance.access import Person, Role
from governance.approvals import ApprovalRule
from governance.approvals.matching import action_of
from runtime.capabilities.port import CapabilitySpec, EffectRequest

ORGANISATION = "airports"
NOW = datetime(2013, 2, 8, 22, 0, tzinfo=UTC)

MORGAN = Person("morgan", "Morgan Lee", frozenset({Role.APPROVER}), frozenset({"duty-managers"}))
SAM = Person("sam", "Sam Ortiz", frozenset({Role.APPROVER}), frozenset({"duty-managers"}))
ALEX = Person("alex", "Alex Roe", frozenset({Role.APPROVER}), frozenset({"duty-managers"}))
DANA = Person("dana", "Dana Kim", frozenset({Role.APPROVER, Role.ADMIN}), frozenset({"directors"}))
ROBIN = Person("robin", "Robin Hale", frozenset({Role.OPERATOR, Role.APPROVER}), frozenset({"duty-managers"}), "any")
KIM = Person(
    "kim", "Kim Park", frozenset({Role.APPROVER}), frozenset({"duty-managers"}), deputy_for=frozenset({"robin"})
)
VERA = Person("vera", "Vera Ng", frozenset({Role.VIEWER}), frozenset({"duty-managers"}), "vera")
PEOPLE = (MORGAN, SAM, ALEX, DANA, ROBIN, KIM, VERA)

MONEY = ApprovalRule("money", ("duty-managers",), within_s=7_200.0)
DEFAULT = ApprovalRule("default", ("duty-managers",))
RULES = {rule.name: rule for rule in (MONEY, DEFAULT)}

WAIVE = CapabilitySpec(
    name="desk.waive_fees",
    kind="service_tool",
    description="Waives rebooking fees.",
    parameters={
        "airports": Parameter(type=ValueType.ARRAY),
        "flights": Parameter(type=ValueType.INTEGER),
        "note": Parameter(type=ValueType.STRING, default="storm"),
    },
    gives={},
    effect=Effect.IRREVERSIBLE,
    policy="money",
)
ARGUMENTS: dict[str, Json] = {"airports": ["EWR"], "flights": 472}


def action(**changes: Any) -> Action:
    made = action_of(WAIVE, "notifier", ARGUMENTS)
    return Action.model_validate({**made.to_json(), **changes})


def option(id_: str, *actions: Action) -> Option:
    return Option(
        id=id_, title=id_, benefit="b", risk="r", cost="c", reversible=False, confidence=Confidence.LOW, actions=actions
    )


def card(*actions: Action, raised_at: datetime = NOW, **fields: Any) -> DecisionCard:
    values: dict[str, Any] = {
        "card_id": CardId.new(),
        "kind": CardKind.CHOICE,
        "execution_id": ExecutionId.new(),
        "order_id": OrderId.new(),
        "step": "choose",
        "organisation": ORGANISATION,
        "question": "Waive the fees?",
        "impact": "472 flights",
        "options": (option("waive", *(actions or (action(),))), option("nothing")),
        "policy": "money",
        "who": ("duty-managers",),
        "requested_by": "robin",
        "raised_at": raised_at,
        "deadline": raised_at + timedelta(hours=2),
    }
    return DecisionCard(**{**values, **fields})


def order(**fields: Any) -> TaskOrder:
    values: dict[str, Any] = {
        "order_id": OrderId.new(),
        "execution_id": ExecutionId.new(),
        "organisation": ORGANISATION,
        "employee": "notifier",
        "issued_by": "cancellation-desk",
        "objective": "Waive the fees",
        "plan": PlanDefinition(steps=(Step(id="do", use=WAIVE.name),)),
        "requested_by": "robin",
        "trace_id": "t",
    }
    return TaskOrder(**{**values, **fields})


def effect(
    carried_out: TaskOrder | None = None, arguments: Mapping[str, Json] = ARGUMENTS, **fields: Any
) -> EffectRequest:
    by = carried_out or order()
    values: dict[str, Any] = {"step": "do", "spec": WAIVE, "arguments": arguments, "key": f"{by.order_id}:do"}
    return EffectRequest(order=by, **{**values, **fields})


def say(key: str, /, **facts: object) -> str:
    """A catalogue that answers with the key and the facts it was given."""
    return f"{key} {facts.get('capability', '')}".strip()
