"""What a plan passes inside an argument, held against its schema before anything runs."""

from __future__ import annotations

from typing import Any

import pytest

from contracts import Effect, Parameter, PlanDefinition, ValueType
from runtime.capabilities.port import CapabilitySpec
from runtime.engine.check import check_plan

LEG: dict[str, Any] = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "seats": {"type": "integer", "maximum": 9}},
    "required": ["to"],
    "additionalProperties": False,
}
TRAVEL = CapabilitySpec(
    "travel", "mcp_tool", "",
    {"leg": Parameter(type=ValueType.OBJECT), "all": Parameter(type=ValueType.ARRAY, required=False)}, {}, Effect.READ,
    schema={"type": "object", "properties": {"leg": LEG, "all": {"type": "array", "items": LEG}}, "required": ["leg"]},
)  # fmt: skip
LOOK = CapabilitySpec("look", "mcp_tool", "", {}, {
    "place": "string", "many": "array", "leg": {"type": "object", "properties": {"seats": {"type": "string"}}},
    "good": {"type": "object", "properties": {"to": {"type": "string"}, "more": {}}},
})  # fmt: skip
JFK = {"to": "JFK"}


def faults(**given: Any) -> list[str]:
    specs = {spec.name: spec for spec in (TRAVEL, LOOK)}
    steps = [{"id": "look", "use": "look"}, {"id": "go", "use": "travel", "with": given}]
    plan = PlanDefinition.model_validate({"steps": steps})
    found = check_plan(plan, specs=specs, gives_of=lambda step: specs[step.use or ""].gives)
    return [f"{'.'.join(map(str, fault.path))}: {fault.message} {fault.hint}".strip() for fault in found]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"leg": {"to": 7}}, "steps.1.with.leg: Inside `leg`: `to` must be text, not 7."),
        ({"leg": {"seats": 12, "to": "{{ look.place }}"}}, "steps.1.with.leg.seats: `leg.seats`: 12 is greater"),
        ({"leg": {"seats": 2, "from": "{{ look.place }}"}}, "steps.1.with.leg: `leg` needs `to`."),
        ({"leg": {"to": "{{ look.many }}"}}, "steps.1.with.leg.to: `leg.to` must be string, but it is array."),
        ({"leg": "{{ look.leg }}"}, "steps.1.with.leg: `leg` needs `to`, and what is bound to it does not give that."),
        ({"leg": "{{ look.leg }}"}, "steps.1.with.leg: `leg.seats` must be integer, but it is string."),
        ({"leg": JFK, "all": [JFK, {"too": "{{ look.place }}", **JFK}]},
         "steps.1.with.all.1.too: There is no `too` in `all[1]`. Did you mean `to`?"),
    ],
)  # fmt: skip
def test_what_does_not_fit_inside_is_found_at_its_place(given: dict[str, Any], told: str) -> None:
    assert any(fault.startswith(told) for fault in faults(**given)), faults(**given)


def test_what_fits_or_is_not_known_is_no_fault() -> None:
    assert faults(leg={"to": "{{ look.place }}"}, all="{{ look.many }}") == []
    assert faults(leg="{{ look.good }}", all=[JFK]) == []
