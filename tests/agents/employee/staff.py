"""A small department for tests: head → desk → analyst and notifier, beside a second desk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from agents.employee.dispatch import Dispatcher
from agents.employee.ports import Cluster, Isolation, Workforce
from agents.skills import Reach
from contracts import (
    Budget,
    Effect,
    ExecutionId,
    OrderId,
    OrderState,
    Parameter,
    PlanDefinition,
    StatusReport,
    Step,
    TaskOrder,
    Tier,
    ValueType,
    Workspace,
)
from runtime.capabilities.port import CapabilitySpec

NO_STORE: Any = None
KNOWN_AT = datetime(2013, 2, 8, 22, tzinfo=UTC)


@dataclass(frozen=True)
class FakeNode:
    id: str
    title: str = ""
    skills: Sequence[str] = ()
    can: Sequence[str] = ()
    manages: Sequence[FakeNode] = ()
    isolation: Isolation = "shared"
    workspace: Workspace | None = None


@dataclass(frozen=True)
class FakeSkill:
    name: str
    plan: PlanDefinition
    description: str = "Does it"
    tier: Tier = Tier.COGNITIVE
    when_to_use: str = ""
    when_not_to_use: str = ""
    words: tuple[str, ...] = ()
    reach: Reach = Reach.EXTENDED
    show_when: str = ""
    result: str = ""


@dataclass(frozen=True)
class FakeStaff:
    head: FakeNode
    skills: Mapping[str, FakeSkill]
    name: str = "airports"
    time_zone: str = "America/New_York"
    budget: Budget = field(default_factory=lambda: Budget(seconds=900, steps=200))


class FakeClock:
    def now(self) -> datetime:
        return KNOWN_AT


@dataclass
class Recorder:
    """A workforce and a cluster that only remember what they were handed."""

    orders: list[TaskOrder] = field(default_factory=list)

    async def deliver(self, order: TaskOrder) -> StatusReport:
        self.orders.append(order)
        return StatusReport(order_id=order.order_id, state=OrderState.WAITING)

    submit = deliver


def explain(**more: object) -> PlanDefinition:
    return PlanDefinition.model_validate(
        {
            "parameters": {
                "at": {"type": "date-time"},
                "origin": {"type": "string", "description": "Airport code", "example": "EWR"},
            },
            "steps": [
                {
                    "id": "measure",
                    "by": "analyst",
                    "use": "flights.query",
                    "with": {"sql": "select 1", "at": "{{ at }}"},
                }
            ],
            **more,
        }
    )


def department(plan: PlanDefinition | None = None) -> FakeStaff:
    desk = FakeNode(
        "desk", skills=("explain",),
        manages=(
            FakeNode("analyst", can=("flights.query", "echo"), workspace=Workspace(files=5)),
            FakeNode("notifier", can=("desk.waive",)),
        ),
    )  # fmt: skip
    middle = FakeNode("middle", manages=(desk,))
    other = FakeNode("other-desk", skills=("review",), manages=(FakeNode("other-analyst", can=("flights.query",)),))
    head = FakeNode("head", skills=("oversee",), manages=(middle, other))
    skills = {
        "explain": FakeSkill("explain", plan or explain()),
        "oversee": FakeSkill("oversee", PlanDefinition(steps=(Step(id="go", by="middle", skill="explain"),))),
        "review": FakeSkill("review", PlanDefinition(steps=(Step(id="look", use="echo"),)), tier=Tier.EXECUTION),
    }
    return FakeStaff(head, skills)


def spec(name: str, tier: Tier, effect: Effect = Effect.READ, **more: object) -> CapabilitySpec:
    text = Parameter(type=ValueType.ANY)
    return CapabilitySpec(
        name, "test", "", {"text": text}, {"text": "any"}, effect=effect, tier=tier, open_arguments=True, **more
    )  # type: ignore[arg-type]


SPECS = {
    "flights.query": spec("flights.query", Tier.EXECUTION, resources=("sql",), labels=("data",)),
    "echo": spec("echo", Tier.COGNITIVE),
    "desk.waive": spec("desk.waive", Tier.EXECUTION, Effect.IRREVERSIBLE),
}


def dispatcher(
    staff: FakeStaff | None = None, workforce: Workforce | None = None, cluster: Cluster | None = None
) -> Dispatcher:
    return Dispatcher(
        staff or department(), specs=SPECS, workforce=workforce or Recorder(), cluster=cluster or Recorder(),
        store=NO_STORE, clock=FakeClock(),
    )  # fmt: skip


def order(employee: str = "desk", plan: PlanDefinition | None = None, **more: object) -> TaskOrder:
    fields: dict[str, object] = {
        "order_id": OrderId.new(), "execution_id": ExecutionId.new(), "organisation": "airports",
        "employee": employee, "issued_by": "ann", "objective": "Explain the day", "plan": plan or explain(),
        "inputs": {"at": "2013-02-08T17:00:00", "origin": "EWR"}, "requested_by": "ann", "known_at": KNOWN_AT,
        "language": "zh", "trace_id": "trace", "budget": Budget(steps=20), "knowledge_scope": ("airports",),
        "context": {"season": "winter", "learnt": "old"},
    }  # fmt: skip
    return TaskOrder.model_validate({**fields, **more})
