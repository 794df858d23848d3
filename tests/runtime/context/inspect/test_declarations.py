from __future__ import annotations

import inspect
from typing import Any

import jsonschema
import pytest

import runtime.context.inspect as tools
from runtime.context.inspect import DECLARATIONS, INSPECT


@pytest.mark.parametrize("name", INSPECT)
def test_every_parameter_of_a_tool_is_one_of_its_function(name: str) -> None:
    function: Any = DECLARATIONS[name]["function"]
    takes = inspect.signature(getattr(tools, name)).parameters

    jsonschema.Draft202012Validator.check_schema(function["parameters"])
    assert set(function["parameters"]["properties"]) - {"ref"} <= set(takes)
    assert ("ref" in function["parameters"]["required"]) == (name != "search")  # which reaches all the order has


def test_the_cheapest_tool_stands_first_and_the_whole_last() -> None:
    assert (INSPECT[0], INSPECT[-1]) == ("outline", "get_stored_data")
