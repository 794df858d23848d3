"""What a conversation leaves in every kind of ledger."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contracts import OrderState
from runtime.canonical import sha256
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import ScriptedModel, calls, done

pytestmark = pytest.mark.anyio
THINK: dict[str, Any] = {"id": "think", "react": "Go.", "tools": ["look"], "gives": {"n": "integer"}}
ODD = {"nul": "a\0b", "lone": "\ud800", "nan": float("nan"), "huge": 2**63, "zh": "航班 ✈", "long": "x" * 20_000}


async def talked(store: SqlStore, clock: HandClock) -> tuple[World, Any]:
    """Return a world and an order whose conversation held odd values and long ones, both ways."""
    world = World(store, clock, Tool("look", lambda a, c: {**ODD, "given": a}))
    world.model = ScriptedModel(calls(("look", ODD), ("look", {"n": 1}), content="\ud800"), done(n=2**63))
    order = world.order(THINK)
    report = await world.run(order)
    assert (report.state, report.output) == (OrderState.DONE, {"n": 2**63})
    return world, order


async def test_a_conversation_with_odd_and_long_values_is_stored_and_audited(store: SqlStore, clock: HandClock) -> None:
    """D14, D16 on every store."""
    world, order = await talked(store, clock)

    assert await store.ledger.verify() == []
    assert (await world.run(order)).output == {"n": 2**63}
    assert max(len(event.model_dump_json()) for event in await store.ledger.read(str(order.order_id))) < 15_000


async def test_each_request_has_its_hash_and_each_answer_and_result_is_kept_whole(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world, order = await talked(sqlite_store, clock)
    events = [(e.type, e.data or {}) for e in await sqlite_store.ledger.read(str(order.order_id))]
    answered: list[Any] = [data for kind, data in events if kind == "model.answered"]
    finished: list[Any] = [data for kind, data in events if kind == "call.finished"]
    assert isinstance(world.model, ScriptedModel)

    asked = [{"role": r.role, "messages": list(r.messages), "tools": list(r.tools)} for r in world.model.requests]
    assert [data["request_sha256"] for data in answered] == [sha256(each) for each in asked]  # type: ignore[arg-type]
    whole = json.loads(await sqlite_store.blobs.get(answered[0]["answer_sha256"]))
    assert whole["calls"][0]["arguments"]["long"] == ODD["long"] and whole["content"] == "\ufffd"
    results = [json.loads(await sqlite_store.blobs.get(data["output_sha256"])) for data in finished]
    assert [result["long"] == ODD["long"] for result in results] == [True, True]


@pytest.mark.parametrize("erased", ["model.answered", "call.finished"])
async def test_a_conversation_of_which_something_was_erased_can_still_be_looked_at(
    sqlite_store: SqlStore, clock: HandClock, erased: str
) -> None:
    world, order = await talked(sqlite_store, clock)
    stream = str(order.order_id)
    for event in await sqlite_store.ledger.read(stream):
        if event.type == erased:
            await sqlite_store.ledger.erase(stream, event.stream_version)

    assert await sqlite_store.ledger.verify() == []
    assert (await world.view(order)).unit("think").result is not None
