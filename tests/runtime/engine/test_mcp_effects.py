"""MCP tools on the engine's road: gated, of one version, in doubt when the server dies, large by reference."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

pytest.importorskip("mcp", reason="the MCP SDK is not installed: pip install 'silicon-org[mcp]'")

from contracts import OrderState
from runtime.capabilities.connections import read_connection
from runtime.capabilities.connections_mcp import McpConnection
from runtime.capabilities.mcp.server import McpServer
from runtime.capabilities.mcp.tool import mcp_capabilities
from runtime.capabilities.secrets import Secrets
from runtime.ledger.store import SqlStore
from runtime.settings import McpSettings
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.runtime.capabilities.mcp.conftest import warm

__all__ = ["warm"]

pytestmark = pytest.mark.anyio
WRITE = {"id": "do", "use": "desk.write", "with": {"line": "a"}}
DIE = {"id": "do", "use": "desk.write", "with": {"line": "a", "then": "die"}}


@pytest.fixture
async def world(sqlite_store: SqlStore, clock: HandClock, tmp_path: Path, warm: list[str]) -> AsyncIterator[World]:
    servers: list[McpServer] = []

    def opened(**tools: Any) -> list[Any]:
        declared = {"command": "python", "args": [*warm, str(tmp_path)], "tools": tools}
        connection = read_connection({"kind": "mcp", **declared})
        assert isinstance(connection, McpConnection)
        server, found = mcp_capabilities(
            "desk", connection, folder=tmp_path, settings=McpSettings(), secrets=Secrets({})
        )
        servers.append(server)
        return found

    opened()
    sha = (await servers[0].tools())["write"].sha256
    parameters = {"line": "string", "then": {"type": "string", "required": False}}
    write = {"effect": "irreversible", "sha256": sha, "parameters": parameters}
    large = {"effect": "read", "parameters": {"kib": "integer"}}
    yield World(sqlite_store, clock, *(cast(Tool, tool) for tool in opened(write=write, large=large)))
    for server in servers:
        await server.close()


def effects(folder: Path) -> list[str]:
    file = folder / "effects"
    return file.read_text().splitlines() if file.exists() else []


async def test_nothing_reaches_the_server_before_somebody_said_yes_and_nothing_after_a_no(
    world: World, tmp_path: Path
) -> None:
    world.gate.ask = True
    order = world.order(WRITE)
    waiting = await world.run(order)
    assert (waiting.state, effects(tmp_path)) == (OrderState.WAITING, [])
    (card,) = world.gate.cards
    world.gate.decide(card, False)

    denied = await world.run(order)
    assert denied.error is not None and denied.error.code == "DENIED"
    assert effects(tmp_path) == []


async def test_what_was_approved_is_not_done_by_another_version_of_the_tool(world: World, tmp_path: Path) -> None:
    (tmp_path / "changed").touch()  # `shout` reads otherwise now, `write` as before
    assert (await world.run(world.order(WRITE))).state is OrderState.DONE

    (tmp_path / "rewritten").touch()
    order = world.order({**WRITE, "id": "again"})
    refused = await world.run(order)
    assert refused.error is not None and refused.error.code == "TOOL_CHANGED"
    assert not (await world.view(order)).changed_the_world
    assert len(effects(tmp_path)) == 1


async def test_an_effect_during_which_the_server_died_waits_for_a_person_and_is_not_repeated(
    world: World, tmp_path: Path
) -> None:
    order = world.order(DIE)
    waiting = await world.run(order)
    assert (waiting.state, waiting.waiting_for) == (OrderState.WAITING, tuple(world.gate.doubts))
    (card,) = world.gate.doubts
    world.gate.decide(card, True)

    report = await world.run(order)
    assert (report.state, report.output) == (OrderState.DONE, {"confirmed_by_person": True})
    assert len(effects(tmp_path)) == 1


async def test_a_result_of_two_megabytes_is_kept_apart_from_its_step(world: World) -> None:
    order = world.order({"id": "do", "use": "desk.large", "with": {"kib": 2_048}})
    assert (await world.run(order)).state is OrderState.DONE

    facts = await world.store.ledger.read(str(order.order_id))
    (finished,) = [fact for fact in facts if fact.type == "step.finished"]
    assert len(str(finished.data)) < 2_000
    assert len(await world.store.blobs.get(finished.data["output_sha256"])) > 2 * 1_024 * 1_024
