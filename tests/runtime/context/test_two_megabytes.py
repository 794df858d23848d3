"""Results of two megabytes, from every kind of capability and from exceptions: the model sees a reference to them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from contracts import OrderState, PlanDefinition, StatusReport
from runtime.canonical import sha256
from runtime.capabilities.connections import HttpConnection, read_connection
from runtime.capabilities.http import http_capabilities
from runtime.capabilities.port import Capability, SandboxResult
from runtime.capabilities.python_code import PythonCode
from runtime.capabilities.secrets import Secrets
from runtime.capabilities.sql import SqlQuery
from runtime.context.tokens import count
from runtime.errors import BusinessRefusal
from runtime.ledger.store import SqlStore
from runtime.settings import HttpSettings, McpSettings, SlotSettings, SqlSettings
from tests.fakes import mcp_server
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.http_service import Answer, HttpService
from tests.fakes.model import ScriptedModel, calls, done
from tests.fakes.slot_folder import SlotFolder
from tests.runtime.capabilities.mcp.conftest import Desk

pytestmark = pytest.mark.anyio
ROWS = [{"id": f"R-{number:06}", "note": f"第{number}行 " + "x" * 180} for number in range(10_000)]
"""More than two megabytes as JSON."""
BOUND = 2_500
"""Characters that stand for one result at most: its digest, its reference and how to look into it."""
WHOLE = 8_000
"""Tokens of a prompt in which one such result stands."""
THINK = {"id": "think", "react": "Look.", "gives": {"n": "integer"}}


@pytest.fixture
def serve() -> Iterator[HttpService]:
    server = HttpService(lambda asked: Answer(value={"rows": ROWS}))
    yield server
    server.stop()


def tokens_of(world: World) -> int:
    """Return what the newest prompt takes, tools included."""
    assert isinstance(world.model, ScriptedModel)
    request = world.model.requests[-1]
    return count(json.dumps([*request.messages, *request.tools], ensure_ascii=False), "gpt-4o").tokens


async def told_by(
    world: World, capability: Capability, arguments: dict[str, Any], sandbox: SlotFolder | None = None
) -> str:
    """Return what a model is told that called this capability."""
    name = capability.spec.name
    world.tools = {name: capability}  # type: ignore[dict-item]
    world.model = ScriptedModel(calls((name, arguments)), done(n=1))
    report: StatusReport = await world.engine().run(world.order({**THINK, "tools": [name]}), sandbox=sandbox)
    assert report.state is OrderState.DONE, report.error
    (told,) = [str(each["content"]) for each in world.model.told if each["role"] == "tool"]
    return told


def require_reference(world: World, told: str, original: Any) -> None:
    """Hold that what the model is told is the reference of the original, and its prompt small."""
    stands = json.loads(told)
    assert stands["__stored"] is True and stands["__refId"] == sha256(original)
    assert stands["__originalLength"] > 2_000_000 and len(told) <= BOUND
    assert tokens_of(world) <= WHOLE


async def test_a_builtin_capability(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock)

    told = await told_by(world, Tool("look", lambda a, c: {"rows": ROWS}), {})

    require_reference(world, told, {"rows": ROWS})


async def test_a_service_over_http(sqlite_store: SqlStore, clock: HandClock, serve: HttpService) -> None:
    operations = {"rows": {"method": "GET", "path": "/rows"}}
    declared = {"kind": "http", "base": serve.address, "allow_private": True, "operations": operations}
    connection, world = read_connection(declared), World(sqlite_store, clock)
    assert isinstance(connection, HttpConnection)
    service, (operation,) = http_capabilities(
        "desk", connection, settings=HttpSettings(response_kib=8_192), secrets=Secrets({})
    )

    told = await told_by(world, operation, {})
    await service.close()

    require_reference(world, told, {"rows": ROWS})


async def test_a_query(sqlite_store: SqlStore, clock: HandClock, tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "rows.duckdb") as db:
        db.execute("CREATE TABLE rows AS SELECT i AS id, repeat('x', 200) AS note FROM range(10000) t(i)")
    (tmp_path / "known.sql").write_text("CREATE TEMP VIEW all_rows AS SELECT * FROM facts.rows;")
    connection, world = (
        read_connection({"kind": "duckdb", "file": "rows.duckdb", "known": "known.sql"}),
        World(sqlite_store, clock),
    )
    query = SqlQuery("rows", connection, folder=tmp_path, time_zone="UTC", settings=SqlSettings())  # type: ignore[arg-type]

    told = await told_by(world, query, {"sql": "SELECT * FROM all_rows"})
    query.close()

    stands = json.loads(told)
    assert stands["__stored"] is True and stands["__originalLength"] > 2_000_000
    assert len(told) <= BOUND and tokens_of(world) <= WHOLE


async def test_a_tool_of_an_mcp_server(sqlite_store: SqlStore, clock: HandClock, tmp_path: Path) -> None:
    server = [mcp_server.__file__, str(tmp_path)]
    tools = {"large": {"effect": "read", "parameters": {"kib": "integer"}}}
    desk = Desk(tmp_path, {"command": "python", "args": server, "tools": tools}, McpSettings(), {})
    world = World(sqlite_store, clock)

    told = await told_by(world, desk.tools["large"], {"kib": 2_048})
    await desk.server.close()

    stands = json.loads(told)
    assert stands["__stored"] is True and stands["__originalLength"] > 2_000_000
    assert len(told) <= BOUND and tokens_of(world) <= WHOLE


async def test_a_script(sqlite_store: SqlStore, clock: HandClock, tmp_path: Path) -> None:
    ended = {"state": "done", "result": {"rows": ROWS}}
    slot = SlotFolder(tmp_path, SandboxResult(0, "", "", None, 0.1, answer=json.dumps(ended).encode()))
    world = World(sqlite_store, clock)

    told = await told_by(world, PythonCode(SlotSettings()), {"script": "result = 1"}, slot)

    require_reference(world, told, {"result": {"rows": ROWS}})


@pytest.mark.parametrize("telling", [None, "words"])
async def test_an_order_of_a_skill(sqlite_store: SqlStore, clock: HandClock, telling: str | None) -> None:
    world = World(sqlite_store, clock, Tool("look", lambda a, c: {"rows": ROWS}))
    world.skills = {"count": PlanDefinition.model_validate({"steps": [{"id": "see", "use": "look"}]})}
    world.model = ScriptedModel(calls(("count", {})), done(n=1))
    engine = world.engine()
    assert world.staff is not None
    world.staff.telling = (lambda output: "word " * 500_000) if telling else None

    report = await engine.run(world.order({**THINK, "skills": ["count"]}))

    assert report.state is OrderState.DONE, report.error
    (told,) = [str(each["content"]) for each in world.model.told if each["role"] == "tool"]
    assert "__refId" in told and len(told) <= BOUND
    assert tokens_of(world) <= WHOLE


@pytest.mark.parametrize("kind", [BusinessRefusal, RuntimeError])
async def test_the_text_of_an_exception(sqlite_store: SqlStore, clock: HandClock, kind: type[Exception]) -> None:
    world = World(sqlite_store, clock)
    world.tools = {"look": Tool("look", lambda a, c: kind("broken " * 300_000))}
    world.model = ScriptedModel(calls(("look", {})), calls(("look", {"again": True})), done(n=1))

    await world.run(world.order({**THINK, "tools": ["look"]}))

    assert "broken" in str(world.model.told) and tokens_of(world) <= WHOLE


async def test_thirty_results_at_once_that_would_fit_alone_but_not_together(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    def of_19_000_tokens(arguments: Any, context: Any) -> dict[str, str]:
        return {"text": f"part {arguments['part']}: " + "word " * 18_990}

    world = World(sqlite_store, clock, Tool("look", of_19_000_tokens))
    world.model = ScriptedModel(calls(*(("look", {"part": part}) for part in range(30))), done(n=1))

    report = await world.run(world.order({**THINK, "tools": ["look"]}))

    assert report.state is OrderState.DONE, report.error
    results = [json.loads(each["content"]) for each in world.model.told if each["role"] == "tool"]
    assert len({each["__refId"] for each in results}) == 30
    assert tokens_of(world) < 2 * 19_000
