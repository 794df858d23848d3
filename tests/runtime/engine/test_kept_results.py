"""Every result of a call is kept, for a replay, also where no step reads it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contracts import OrderState
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World, one_after_the_other

pytestmark = pytest.mark.anyio


async def given(store: SqlStore, order: Any, kind: str) -> list[Any]:
    """Return what the events of one type say that calls gave."""
    events = [event.data for event in await store.ledger.read(str(order.order_id)) if event.type == kind]
    return [json.loads(await store.blobs.get(str(data["given_sha256"]))) for data in events if data]


async def test_what_a_step_gives_that_hands_nothing_on_is_kept_and_not_handed_on(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, Tool("look", lambda a, c: {"n": 7}))
    order = world.order({"id": "look", "use": "look", "output": "none"}, plan={"gives": {"seen": "{{ look }}"}})

    assert (await world.run(order)).output == {"seen": None}
    assert await given(sqlite_store, order, "step.finished") == [{"n": 7}]
    assert await sqlite_store.ledger.verify() == []


@pytest.mark.parametrize("refused", [{"accept": ["n > 5"]}, {"gives": {"m": "integer"}}])
async def test_a_result_that_is_not_taken_is_kept(
    sqlite_store: SqlStore, clock: HandClock, refused: dict[str, Any]
) -> None:
    world = World(sqlite_store, clock, Tool("look", one_after_the_other({"n": 1}, {"n": 2})))
    order = world.order({"id": "look", "use": "look", **refused})

    assert (await world.run(order)).state is OrderState.FAILED
    kept = await given(sqlite_store, order, "step.failed")
    assert kept == [{"n": 1}, {"n": 2}][: len(world.tools["look"].calls)]
    assert await sqlite_store.ledger.verify() == []
