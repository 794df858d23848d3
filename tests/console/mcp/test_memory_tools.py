"""Memory as tools for agents of others, over the official SDK: within the rights of their person."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.server.lowlevel import Server

from console.application import open_application
from console.mcp.face_tool import Caller
from console.mcp.memory_tools import MEMORY_TOOLS
from console.ports import Application
from runtime.errors import SiliconError
from runtime.settings.load import load
from tests.console.desks import make_organisation

pytestmark = pytest.mark.anyio


@pytest.fixture
async def application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Application]:
    monkeypatch.setenv("SILICON_HOME", str(tmp_path / "home"))
    make_organisation(tmp_path / "desk")
    async with open_application(load()) as opened:
        yield opened


def serving(application: Application, folder: Path, person: str) -> Server[Any]:
    """Return a server as later faces will make it: the tools, for one person."""
    tools = {tool.name: tool for tool in MEMORY_TOOLS}
    caller = Caller(application, folder, person)

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        listed = [
            types.Tool(
                name=tool.name, description=tool.description, input_schema=dict(tool.input_schema),
                annotations=types.ToolAnnotations(read_only_hint=tool.reads),
            )
            for tool in MEMORY_TOOLS
        ]  # fmt: skip
        return types.ListToolsResult(tools=listed)

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            given = await tools[params.name].call(caller, params.arguments or {})
        except SiliconError as error:
            return types.CallToolResult(content=[types.TextContent(text=error.message)], is_error=True)
        assert isinstance(given, dict)
        return types.CallToolResult(content=[types.TextContent(text=str(given))], structured_content=given)

    return Server("memory", on_list_tools=list_tools, on_call_tool=call_tool)


async def test_an_agent_remembers_and_finds_for_its_person_and_nobody_else(
    application: Application, tmp_path: Path
) -> None:
    folder = tmp_path / "desk"
    async with Client(serving(application, folder, "planner")) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == {tool.name for tool in MEMORY_TOOLS}
        written = await client.call_tool("memory_write", {"text": "I want to sit at the window."})
        assert written.structured_content is not None and written.structured_content["became"] == "written"
        found = await client.call_tool("memory_search", {"query": "where to sit"})
        assert found.structured_content is not None
        assert [each["text"] for each in found.structured_content["memories"]] == ["I want to sit at the window."]
        pages = await client.call_tool("memory_auto", {})
        assert pages.structured_content is not None and "window" in str(pages.structured_content["pages"])
        products = await client.call_tool("product_search", {"query": "anything"})
        assert products.structured_content == {"products": []}
    async with Client(serving(application, folder, "clerk")) as client:
        for tool, given in (("memory_search", {"query": "where to sit"}), ("memory_auto", {})):
            answer = await client.call_tool(tool, given)
            assert "window" not in str(answer.structured_content)


@pytest.mark.parametrize(
    ("tool", "given", "says"),
    [
        ("memory_search", {}, "query"),
        ("memory_search", {"query": "x", "whose": "planner"}, "whose"),
        ("memory_search", {"query": "x", "top": 0}, "top"),
        ("memory_write", {"text": "x", "class": "rule"}, "class"),
        ("memory_write", {"text": "x", "says": ["a", "b"]}, "says"),
        ("product_search", {"query": "x", "kinds": ["secret"]}, "kinds"),
    ],
)
async def test_arguments_that_do_not_fit_are_told_to_the_agent(
    application: Application, tmp_path: Path, tool: str, given: dict[str, Any], says: str
) -> None:
    async with Client(serving(application, tmp_path / "desk", "planner")) as client:
        answer = await client.call_tool(tool, given)
    assert answer.is_error and says in str(answer.content)
