"""`silicon doctor ORG` asks each MCP server, and names what is unknown, changed or declared otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the MCP SDK is not installed: pip install 'silicon-org[mcp]'")

from agents.organisation import Organisation
from console.doctor_connections import connections_of
from console.doctor_mcp import mcp_servers_of
from console.views_system import Health
from runtime.capabilities.connections import read_connection
from runtime.capabilities.secrets import Secrets
from runtime.settings import McpSettings
from tests.fakes import mcp_server

pytestmark = pytest.mark.anyio
SHA = "0" * 64


def organisation_with(folder: Path, **declared: Any) -> Organisation:
    given = {"kind": "mcp", "command": "python", "args": [str(mcp_server.__file__), str(folder)], **declared}
    organisation = Organisation.__new__(Organisation)
    object.__setattr__(organisation, "folder", folder)
    object.__setattr__(organisation, "connections", {"desk": read_connection(given)})
    return organisation


async def test_each_tool_that_is_not_as_declared_is_named(tmp_path: Path) -> None:
    tools = {
        "echo": {"effect": "read", "parameters": {"text": "string"}},
        "shout": {"effect": "write", "parameters": {"text": "string"}, "sha256": SHA},
        "wish": {"effect": "read"},
    }
    found = await mcp_servers_of(organisation_with(tmp_path, tools=tools), McpSettings())

    assert [(each.name, each.health) for each in found] == [
        ("desk", Health.GOOD), ("desk.shout", Health.BROKEN), ("desk.wish", Health.BROKEN), ("desk", Health.NOTE),
    ]  # fmt: skip
    assert f"it changed: declared is sha256 {SHA}" in found[1].what
    assert found[2].what == "the server offers no tool wish"
    assert "also offers about, ask, broken" in found[3].what and "echo" not in found[3].what


async def test_what_is_told_of_a_tool_can_be_declared_once_its_effect_is_filled_in(tmp_path: Path) -> None:
    import yaml

    found = await mcp_servers_of(organisation_with(tmp_path), McpSettings())
    [told] = [each for each in found if each.what == "it offers write"]
    declared = yaml.safe_load(told.mend.split("has: ")[1].rstrip(".").replace("…", "irreversible"))

    again = await mcp_servers_of(organisation_with(tmp_path, tools=declared), McpSettings())
    assert [each.health for each in again] == [Health.GOOD, Health.NOTE]


async def test_a_server_that_does_not_start_is_broken_and_says_why(tmp_path: Path) -> None:
    [told] = await mcp_servers_of(organisation_with(tmp_path, command="/no/such/program"), McpSettings())

    assert told.health is Health.BROKEN and "/no/such/program: No such file or directory" in told.what


async def test_what_a_server_says_in_the_end_is_told_without_the_secrets_that_it_got(tmp_path: Path) -> None:
    words = "import os, sys; sys.exit('cannot log in with ' + os.environ['DESK_KEY'])"
    organisation = organisation_with(tmp_path, args=["-c", words], env=["DESK_KEY"])
    [told] = await mcp_servers_of(organisation, McpSettings(), Secrets({"DESK_KEY": "canary-of-the-desk"}, tmp_path))

    assert "cannot log in with [redacted]" in told.what


async def test_what_would_stop_every_call_is_told_without_asking_the_server(tmp_path: Path) -> None:
    organisation = organisation_with(tmp_path, env=["DESK_KEY"])
    [told] = connections_of(organisation, Secrets({}, tmp_path))

    assert told.health is Health.BROKEN and told.what == "the secret DESK_KEY for the variable DESK_KEY is not set"
    assert await mcp_servers_of(organisation, McpSettings(), but={"desk"}) == []
    private = organisation_with(tmp_path, command=None, args=[], url="http://127.0.0.1:1/mcp")
    assert "every call is refused" in next(iter(connections_of(private))).what
