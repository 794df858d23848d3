"""MCP servers that other people wrote: listed, called, wrong, killed in between, and large."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from runtime.errors import BusinessRefusal, CapabilityFailed
from tests.runtime.capabilities.mcp.conftest import Desk, Open
from tests.runtime.capabilities.mcp.installed import node_program, python_program

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("installed-mcp-servers"), pytest.mark.timeout(600)]
TEXT = {"text": "string"}


@pytest.fixture
def clock(desk: Open) -> Callable[..., Desk]:
    """The reference server of the time, made with the SDK of now."""
    program = python_program("mcp-server-time", "mcp-server-time==2026.10.19")
    parameters = {"timezone": "string"}
    now = {"tool": "get_current_time", "effect": "read", "parameters": parameters, "gives": {"timezone": "string"}}
    return lambda: desk(command=program, args=["--local-timezone", "UTC"], tools={"now": now})


@pytest.fixture
def books(desk: Open) -> Callable[..., Desk]:
    """The reference server of SQLite, made with the SDK of 2025."""
    program = python_program("mcp-server-sqlite", "mcp-server-sqlite==2025.4.25", "mcp<2")
    query = {"effect": "read", "parameters": {"query": "string"}}

    def open_books(**effects: dict[str, Any]) -> Desk:
        tools = {"read_query": query, **{name: {**query, **effect} for name, effect in effects.items()}}
        return desk(command=program, args=["--db-path", "books.db"], tools=tools)

    return open_books


async def test_the_time_is_listed_and_told_and_a_wrong_zone_is_an_error(clock: Callable[..., Desk]) -> None:
    here = clock()

    assert {"get_current_time", "convert_time"} <= set(await here.server.tools())
    assert (await here.call("now", timezone="Europe/Berlin")).output["timezone"] == "Europe/Berlin"
    with pytest.raises(CapabilityFailed, match="Atlantis"):
        await here.call("now", timezone="Atlantis/Deep")


async def test_the_time_goes_on_after_its_program_was_killed(clock: Callable[..., Desk]) -> None:
    here = clock()
    await here.call("now", timezone="UTC")
    _kill("mcp-server-time")

    assert (await here.call("now", timezone="UTC")).output["timezone"] == "UTC"
    assert here.server.status == "open, for the 2. time"


async def test_a_table_is_made_and_written_once_and_read_in_two_megabytes(books: Callable[..., Desk]) -> None:
    offered = await books().server.tools()
    effects = {name: {"effect": "write", "sha256": offered[name].sha256} for name in ("create_table", "write_query")}
    here = books(**effects)
    await here.call("create_table", query="CREATE TABLE notes (text TEXT)")
    await here.call("write_query", query="INSERT INTO notes VALUES (hex(zeroblob(1048576)))")

    read = (await here.call("read_query", query="SELECT count(*) AS n, text FROM notes")).output["text"]
    assert read.startswith("[{'n': 1, 'text': '0000") and len(read) > 2 * 1_024 * 1_024


async def test_a_database_goes_on_after_its_program_was_killed(books: Callable[..., Desk]) -> None:
    here = books()
    await here.call("read_query", query="SELECT 1")
    _kill("mcp-server-sqlite")

    assert (await here.call("read_query", query="SELECT 2 AS two")).output["text"] == "[{'two': 2}]"


@pytest.fixture
def everything(desk: Open) -> Callable[..., Desk]:
    """The reference server that shows every feature, made with the SDK for TypeScript."""
    tools = {
        "echo": {"effect": "read", "parameters": {"message": "string"}},
        "add": {"tool": "get-sum", "effect": "read", "parameters": {"a": "any", "b": "any"}},
        "picture": {"tool": "get-tiny-image", "effect": "read"},
        "weather": {
            "tool": "get-structured-content", "effect": "read", "parameters": {"location": "string"},
            "gives": {"temperature": "number", "conditions": "string"},
        },
    }  # fmt: skip
    return lambda **where: desk(tools=tools, **where)


@pytest.fixture
def program() -> str:
    return node_program("mcp-server-everything", "@modelcontextprotocol/server-everything@2026.8.31")


async def test_everything_over_stdio_gives_text_fields_and_pictures(
    everything: Callable[..., Desk], program: str
) -> None:
    here = everything(command=program, args=["stdio"])

    assert (await here.call("echo", message="hi")).output == {"text": "Echo: hi"}
    assert (await here.call("weather", location="New York")).output["conditions"]
    picture = await here.call("picture")
    assert picture.files[0].media_type == "image/png" and picture.files[0].data[:4] == b"\x89PNG"
    with pytest.raises((BusinessRefusal, CapabilityFailed), match="number"):
        await here.call("add", a="one", b=2)


async def test_everything_at_an_address_is_met_again_after_a_restart(
    everything: Callable[..., Desk], program: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    here = everything(url=f"http://127.0.0.1:{port}/mcp", allow_private=True)
    with _at(program, port):
        assert (await here.call("echo", message="a" * 100_000)).output == {"text": "Echo: " + "a" * 100_000}
    with _at(program, port):
        assert (await here.call("echo", message="again")).output == {"text": "Echo: again"}
    assert here.server.status == "open, for the 2. time"


@contextmanager
def _at(program: str, port: int) -> Iterator[None]:
    """Run the server at an address, and kill it at the end."""
    environment = {**os.environ, "PORT": str(port)}
    process = subprocess.Popen([program, "streamableHttp"], env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        assert any("listening on port" in line for line in process.stderr)
        yield
    finally:
        process.kill()
        process.communicate()


def _kill(program: str) -> None:
    """Kill the program that this test's process has started."""
    [found] = [
        child for child in psutil.Process().children() if any(Path(part).name == program for part in child.cmdline())
    ]
    found.kill()
