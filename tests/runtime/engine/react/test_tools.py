"""The tools of one step, as a model sees them."""

from __future__ import annotations

from typing import Any

import pytest

from contracts import Parameter, Step, ValueType
from runtime.capabilities.port import CapabilitySpec
from runtime.engine.react.state import Call
from runtime.engine.react.tools import Toolbox, UnknownTool

STEP = Step.model_validate({"id": "think", "react": "Go.", "tools": ["desk.find"]})


def a_spec(name: str) -> CapabilitySpec:
    parameters = {"day": Parameter(type=ValueType.STRING)}
    return CapabilitySpec(name=name, kind="builtin_tool", description="Finds.", parameters=parameters, gives={})


def called(name: str) -> Call:
    return Call("think:-:1:1", "think", None, 1, name, {})


@pytest.mark.parametrize("written", ["desk.find", "desk_find"])
def test_tools_are_declared_under_our_names_and_found_by_both(written: str) -> None:
    spec = a_spec("desk.find")
    box = Toolbox(STEP, [spec], {})

    assert [tool["function"]["name"] for tool in box.declarations()] == ["desk.find", "step_control"]
    assert box.spec_for(called(written)) is spec


def test_a_capability_of_the_name_of_our_own_tool_is_declared_under_another() -> None:
    spec = a_spec("step_control")
    box = Toolbox(STEP, [spec], {})
    shown, ours = (tool["function"]["name"] for tool in box.declarations())

    assert ours == "step_control" != shown
    assert box.spec_for(called(shown)) is spec


def test_an_unknown_tool_is_told_with_the_nearest_names() -> None:
    with pytest.raises(UnknownTool, match=r"no tool 'desk\.fnd' in this step\. There is: desk\.find"):
        Toolbox(STEP, [a_spec("desk.find")], {}).spec_for(called("desk.fnd"))


@pytest.mark.parametrize(("given", "same"), [({}, True), ({"day": "today"}, False)])
def test_a_tool_with_nothing_bound_is_declared_by_the_same_object_in_every_step(given: Any, same: bool) -> None:
    spec = a_spec("desk.find")

    assert (Toolbox(STEP, [spec], {}).declarations()[0] is Toolbox(STEP, [spec], given).declarations()[0]) is same
