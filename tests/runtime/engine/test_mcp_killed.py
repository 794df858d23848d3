"""kill -9 in the middle of a call of an MCP server, and a server that is started anew in the middle of one (M6)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

pytest.importorskip("mcp", reason="the MCP SDK is not installed: pip install 'silicon-org[mcp]'")

from contracts import OrderState, StatusReport, TaskOrder
from runtime.capabilities.connections import read_connection
from runtime.capabilities.connections_mcp import McpConnection
from runtime.capabilities.mcp.server import McpServer
from runtime.capabilities.mcp.tool import mcp_capabilities
from runtime.capabilities.secrets import Secrets
from runtime.ledger import open_store
from runtime.settings import LedgerSettings, McpSettings
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.killed import killed_when_stuck
from tests.runtime.capabilities.mcp.conftest import Address, at_address, warm

__all__ = ["at_address", "warm"]

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]
WRITE = {"id": "do", "use": "desk.write", "with": {"line": "a", "then": "wait once"}}
LOOK = {"id": "do", "use": "desk.look", "with": {"text": "seen"}}
TRANSPORTS = pytest.mark.parametrize("transport", ["stdio", "http", "http, old"])
Reach = Callable[[str], Path]


async def a_world(home: Path, *, stuck: bool) -> World:
    """Return a world with the server that is declared in `home`; it says once the server is at work on a call."""
    clock = HandClock()
    store = await open_store(LedgerSettings(), home=home, clock=clock)
    server, tools = await opened(home)
    world = World(store, clock, *(cast(Tool, tool) for tool in tools))
    world.servers = [server]  # type: ignore[attr-defined]
    if stuck:
        world.saying = asyncio.create_task(_say_stuck(home))  # type: ignore[attr-defined]
    return world


async def _say_stuck(home: Path) -> None:
    await at_work(home)
    print("stuck", flush=True)


async def at_work(home: Path) -> None:
    """Return once the server has done what it was asked for, and not told it."""
    async with asyncio.timeout(60):
        while not any((home / file).exists() for file in ("effects", "looked")):  # noqa: ASYNC110  (another process)
            await asyncio.sleep(0.01)


async def opened(home: Path) -> tuple[McpServer, list[Any]]:
    """Return the server with its tools, the one that writes declared as the version that it offers."""
    declared = json.loads((home / "connection.json").read_text())
    settings, secrets = McpSettings(), Secrets({})

    def connected(**tools: Any) -> tuple[McpServer, list[Any]]:
        connection = read_connection({"kind": "mcp", **declared, "tools": tools})
        assert isinstance(connection, McpConnection)
        return mcp_capabilities("desk", connection, folder=home, settings=settings, secrets=secrets)

    asked, _ = connected()
    sha = (await asked.tools())["write"].sha256
    await asked.close()
    write = {"effect": "write", "sha256": sha, "parameters": {"line": "string", "then": "string"}}
    return connected(write=write, look={"effect": "read", "parameters": {"text": "string"}})


async def closed(world: World) -> None:
    for server in world.servers:  # type: ignore[attr-defined]
        await server.close()
    await world.store.close()


@pytest.fixture
def reach(tmp_path: Path, warm: list[str], at_address: Callable[..., Address]) -> Reach:
    """Return what writes down how the server is reached."""

    def declare(transport: str) -> Path:
        if transport == "stdio":
            declared: dict[str, Any] = {"command": "python", "args": [*warm, str(tmp_path)]}
        else:
            address = at_address(*(["--old"] if "old" in transport else []))
            declared = {"url": address.url, "allow_private": True}
        (tmp_path / "connection.json").write_text(json.dumps(declared))
        return tmp_path

    return declare


def lines(home: Path, file: str) -> list[str]:
    return (home / file).read_text().splitlines()


async def killed_and_resumed(home: Path, step: dict[str, Any]) -> tuple[World, TaskOrder, StatusReport]:
    """Let a process be killed in the middle of the step, and another one go on."""
    world = await a_world(home, stuck=False)
    order = world.order(step)
    await killed_when_stuck("tests.runtime.engine.test_mcp_killed", home, order)
    return world, order, await world.run(order)


@TRANSPORTS
@pytest.mark.parametrize(("happened", "times"), [(True, 1), (False, 2)])
async def test_an_effect_in_which_the_process_was_killed_is_in_doubt_and_a_person_says(
    reach: Reach, transport: str, happened: bool, times: int
) -> None:
    home = reach(transport)
    world, order, report = await killed_and_resumed(home, WRITE)
    assert (report.state, report.waiting_for) == (OrderState.WAITING, tuple(world.gate.doubts))
    assert len(lines(home, "effects")) == 1
    (card,) = world.gate.doubts
    world.gate.decide(card, happened)

    done = await world.run(order)
    told = lines(home, "effects")
    assert (done.state, len(told), len(set(told))) == (OrderState.DONE, times, 1)
    await closed(world)


@TRANSPORTS
async def test_a_read_in_which_the_process_was_killed_is_made_again_under_its_key(reach: Reach, transport: str) -> None:
    home = reach(transport)
    world, _, report = await killed_and_resumed(home, LOOK)

    assert (report.state, report.output) == (OrderState.DONE, {"text": "seen"})
    assert (len(lines(home, "looked")), len(set(lines(home, "looked")))) == (2, 1)
    assert not world.gate.doubts
    await closed(world)


@pytest.mark.parametrize("options", [(), ("--old", "--json")])
@pytest.mark.parametrize(("happened", "times"), [(True, 1), (False, 2)])
async def test_a_server_that_restarts_during_an_effect_leaves_it_to_a_person_and_is_met_again(
    tmp_path: Path, at_address: Callable[..., Address], options: tuple[str, ...], happened: bool, times: int
) -> None:
    address = at_address(*options)
    (tmp_path / "connection.json").write_text(json.dumps({"url": address.url, "allow_private": True}))
    world = await a_world(tmp_path, stuck=False)
    order = world.order(WRITE)
    running = asyncio.create_task(world.run(order))
    await at_work(tmp_path)
    await asyncio.to_thread(address.restart)
    report = await asyncio.wait_for(running, 60)
    assert (report.state, report.waiting_for) == (OrderState.WAITING, tuple(world.gate.doubts))
    (card,) = world.gate.doubts
    world.gate.decide(card, happened)

    assert (await world.run(order)).state is OrderState.DONE
    assert len(lines(tmp_path, "effects")) == times
    await closed(world)
