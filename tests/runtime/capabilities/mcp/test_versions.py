"""Only what is declared can be called, and only the version that was declared."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from contracts import Effect
from runtime.capabilities.connections import read_connection
from runtime.capabilities.connections_mcp import McpConnection
from runtime.capabilities.errors import ToolChanged, ToolMissing
from runtime.capabilities.mcp.listing import differences
from runtime.capabilities.specs import mcp_specs
from runtime.errors import CapabilityFailed, surely_not
from tests.runtime.capabilities.mcp.conftest import Address, Open

pytestmark = pytest.mark.anyio
SHA = "0" * 64


@pytest.mark.parametrize("options", [(), ("--old",)])
async def test_a_tool_that_changes_while_the_session_is_open_is_noticed(desk: Open, options: tuple[str, ...]) -> None:
    tools = {name: {"effect": "read"} for name in ("change", "echo")}
    sha = (await desk(*options).server.tools())["shout"].sha256
    here = desk(*options, tools={**tools, "shout": {"effect": "read", "sha256": sha}})
    assert (await here.call("shout", text="a")).output == {"text": "a"}
    await here.call("change")

    with pytest.raises(ToolChanged, match=r"no approval covers it.*silicon doctor") as raised:
        await here.call("shout", text="b")
    assert surely_not(raised.value.facts)
    assert (await here.call("echo", text="as it was")).output == {"text": "as it was"}


async def test_a_change_of_a_tool_that_is_not_pinned_is_logged_once_and_stands_in_the_evidence(
    desk: Open, caplog: pytest.LogCaptureFixture
) -> None:
    here = desk()
    before = (await here.call("shout", text="a")).evidence[0].facts["tool_sha256"]
    await here.call("change")
    after = [(await here.call("shout", text=text)).evidence[0].facts["tool_sha256"] for text in "bc"]

    assert after[0] == after[1] != before
    assert [record.message for record in caplog.records if record.levelname == "WARNING"] == ["mcp tool changed"]


@pytest.mark.parametrize("options", [(), ("--old",)])
async def test_a_list_is_asked_for_again_only_after_it_changed(desk: Open, options: tuple[str, ...]) -> None:
    here = desk(*options)
    await here.call("echo", text="the change is listened for now")
    await here.call("change")
    await here.call("echo", text="a")
    listed = len(here.lines("listed"))
    for _ in range(3):
        await here.call("echo", text="b")

    assert len(here.lines("listed")) == listed


async def test_an_effect_is_made_only_while_the_version_is_the_one_that_was_declared(
    desk: Open, at_address: Callable[..., Address]
) -> None:
    address = at_address()
    sha = (await desk(url=address.url, allow_private=True).server.tools())["shout"].sha256
    here = desk(url=address.url, allow_private=True, tools={"shout": {"effect": "write", "sha256": sha}})
    await here.call("shout", text="a")
    (here.folder / "changed").touch()
    address.restart()

    with pytest.raises(ToolChanged) as raised:
        await here.call("shout", text="b")
    assert surely_not(raised.value.facts)


async def test_a_tool_that_is_not_there_is_told_with_those_that_are(desk: Open) -> None:
    with pytest.raises(ToolMissing, match=r"offers no tool wish.*echo") as raised:
        await desk(tools={"wish": {"effect": "read"}}).call("wish")

    assert surely_not(raised.value.facts)


async def test_without_a_listed_tool_nothing_can_be_called_and_the_list_can_be_seen(desk: Open) -> None:
    here = desk(tools={})

    assert here.tools == {}
    assert "write" in await here.server.tools()


async def test_the_word_of_a_server_that_it_only_reads_changes_no_declared_effect(desk: Open) -> None:
    listed = (await desk().server.tools())["write"]
    declared = _declared(effect="irreversible", sha256=listed.sha256).tools["write"]

    assert declared.effect is Effect.IRREVERSIBLE and not listed.says_it_writes
    assert list(differences(declared, listed)) == ["it needs `line`, which is not declared"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"sha256": SHA}, "it changed"),
        ({"parameters": {"line": "string", "colour": "string"}}, "it takes no `colour`"),
        ({"parameters": {"line": "integer"}}, "`line` is string, declared as integer"),
        ({"parameters": {"then": "string"}}, "it needs `line`"),
    ],
)
async def test_each_difference_between_declared_and_offered_is_named(
    desk: Open, changes: dict[str, object], told: str
) -> None:
    listed = (await desk().server.tools())["write"]
    declared = {"effect": "write", "sha256": listed.sha256, "parameters": {"line": "string"}, **changes}

    assert any(told in each for each in differences(_declared(**declared).tools["write"], listed))


def test_another_version_address_or_price_is_another_declaration_for_approvals() -> None:
    declared = {"effect": "write", "sha256": SHA}
    before = mcp_specs("desk", _declared(**declared))[0].sha256

    assert mcp_specs("desk", _declared(**declared))[0].sha256 == before
    for changed in (
        _declared(**{**declared, "sha256": "1" * 64}),
        _declared(**declared, tool="other"),
        _declared(**declared, price="1 EUR"),
        _declared(command="elsewhere", **declared),
    ):
        assert mcp_specs("desk", changed)[0].sha256 != before


def _declared(command: str = "desk-server", **tool: object) -> McpConnection:
    connection = read_connection({"kind": "mcp", "command": command, "tools": {"write": tool}})
    assert isinstance(connection, McpConnection)
    return connection


@pytest.mark.parametrize("missing", ["mcp", "httpx2"])
async def test_without_the_library_the_error_says_what_to_install(
    desk: Open, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    import sys

    for name in list(sys.modules):
        if name.startswith("runtime.capabilities.mcp.") or name.partition(".")[0] == missing:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)

    with pytest.raises(CapabilityFailed, match=r"pip install 'silicon-org\[mcp\]'") as raised:
        await desk().call("echo", text="a")
    assert surely_not(raised.value.facts)
