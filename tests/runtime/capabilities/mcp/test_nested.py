"""Arguments with something inside them: declared as the server has them, seen by models, held before they are sent."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the MCP SDK is not installed: pip install 'silicon-org[mcp]'")

from contracts import Step
from runtime.capabilities.registry import Registry
from runtime.capabilities.router import Router
from runtime.engine.react.tools import Toolbox
from runtime.errors import InvalidArguments, surely_not
from runtime.model.requests.schemas import normalise
from tests.fakes.calls import a_call
from tests.runtime.capabilities.mcp.conftest import Desk, Open

pytestmark = pytest.mark.anyio


async def declared_by_doctor(desk: Open) -> Desk:
    """Return a connection that declares the tool as `silicon doctor` tells it."""
    told: Any = (await desk(tools={}).server.tools())["travel"].declaration()
    assert set(told) == {"tool", "takes", "sha256"}
    return desk(tools={"travel": {"effect": "write", **told}})


async def test_what_the_doctor_tells_of_nested_arguments_can_be_declared_and_has_no_words_of_the_server(
    desk: Open,
) -> None:
    spec = (await declared_by_doctor(desk)).tools["travel"].spec

    assert {name: parameter.type.value for name, parameter in spec.parameters.items()} == {
        "route": "object", "rooms": "array", "note": "string",
    }  # fmt: skip
    assert "Ignore" not in json.dumps(spec.schema) and "Where to" not in json.dumps(spec.schema)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"route": {"to": 7}}, "`route.to` must be text"),
        ({"route": {"to": "JFK", "via": 1}}, "There is no `via` here"),
        ({"route": {"to": "JFK"}, "rooms": ["suite"]}, "`rooms\\[0\\]` must be one of single, double"),
    ],
)
async def test_what_does_not_fit_inside_is_told_and_never_sent(desk: Open, given: dict[str, Any], told: str) -> None:
    here = await declared_by_doctor(desk)
    router = Router(Registry(here.tools.values()))

    with pytest.raises(InvalidArguments, match=told) as raised:
        await router.call("desk.travel", given, a_call(), timeout_s=None)
    assert surely_not(raised.value.facts)


async def test_nested_arguments_arrive_as_they_are_and_null_is_left_out(desk: Open) -> None:
    router = Router(Registry((await declared_by_doctor(desk)).tools.values()))
    given = {"route": {"to": "JFK", "then": {"to": "LAX"}}, "rooms": ["double"], "note": None}
    result: Any = await router.call("desk.travel", given, a_call(), timeout_s=None)

    assert json.loads(result.output["text"]) == {"route": given["route"], "rooms": ["double"]}


async def test_a_model_sees_what_is_inside_and_its_schema_is_fit_for_an_endpoint(desk: Open) -> None:
    spec = (await declared_by_doctor(desk)).tools["travel"].spec
    box = Toolbox(Step.model_validate({"id": "do", "react": "Go.", "tools": [spec.name]}), [spec], {"note": "bound"})
    seen = box.declarations()[0]["function"]["parameters"]

    assert seen["properties"]["route"]["properties"]["to"] == {"type": "string"}
    assert "note" not in seen["properties"]
    assert normalise(seen, strict=True).schema["properties"]["rooms"]
