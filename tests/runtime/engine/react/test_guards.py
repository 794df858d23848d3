"""Every correction of a model is counted, for its model and tool."""

from __future__ import annotations

from typing import Any

import pytest

from contracts import Parameter, PlausibilityRule, ValueType
from runtime.ledger.store import SqlStore
from runtime.model.port import ModelAnswer
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import ScriptedModel, calls, done, says

pytestmark = pytest.mark.anyio
THINK: dict[str, Any] = {"id": "think", "react": "Go.", "tools": ["look"], "gives": {"n": "integer"}}
AGAIN = calls(("look", {"n": 1}))
ODD = PlausibilityRule(check="false", message="Odd.")


class NamedModel(ScriptedModel):
    def name_of(self, role: str) -> str:
        return f"model-that-{role}s"


def answered(content: str = "", **facts: Any) -> ModelAnswer:
    return ModelAnswer(content or '{"n": 1}', facts=facts)


@pytest.mark.parametrize(
    ("answers", "guard", "tool", "times"),
    [
        ([says("no json"), done(n=1)], "answer_refused", "", 1),
        ([done(n="x")] * 3, "answer_refused", "", 3),
        ([calls(("look", {"n": "x"})), done(n=1)], "arguments_invalid", "look", 1),
        ([calls(("step_control", {"say": "what"})), done(n=1)], "arguments_invalid", "step_control", 1),
        ([calls(("look_up", {})), done(n=1)], "unknown_tool", "", 1),
        ([AGAIN] * 3, "call_repeated", "look", 1),
        ([calls(("look", {"n": n})) for n in range(4)], "iteration_limit", "", 1),
        ([answered(faults=["calls came as text"])], "calls_as_text", "", 1),
        ([answered(dropped=["look: no arguments fit it"])], "tool_dropped", "look", 1),
        ([answered(usage_estimated=True)], "usage_estimated", "", 1),
        ([AGAIN, done(n=1)], "result_suspicious", "look", 1),
    ],
)
async def test_it_is_counted(
    sqlite_store: SqlStore, clock: HandClock, answers: list[ModelAnswer], guard: str, tool: str, times: int
) -> None:
    plausible = (ODD,) if guard == "result_suspicious" else ()
    world = World(sqlite_store, clock, Tool("look", lambda a, c: {}, plausible=plausible))
    world.tools["look"].spec = _with_a_number(world.tools["look"].spec)
    world.model = NamedModel(*answers)

    await world.run(world.order({**THINK, "iterations": 4}))

    assert dict(world.guards) == {(guard, "model-that-reasons", tool): times}


def _with_a_number(spec: Any) -> Any:
    fields = {name: getattr(spec, name) for name in spec.__dataclass_fields__}
    number = Parameter(type=ValueType.INTEGER, required=False)
    return type(spec)(**{**fields, "parameters": {"n": number}, "open_arguments": False})
