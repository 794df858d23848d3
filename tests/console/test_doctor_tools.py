from __future__ import annotations

from typing import Any

import pytest

from console.doctor_tools import tools_of
from console.views import Health
from contracts import ExecutionId, OrderId, OrderState
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import ScriptedModel, calls, done
from tests.stores import clock, sqlite_store

__all__ = ["clock", "sqlite_store"]

pytestmark = pytest.mark.anyio


async def executed(store: SqlStore, *events: NewEvent) -> None:
    execution, order = ExecutionId.new(), OrderId.new()
    begun = NewEvent("execution.requested", {})
    for stream, told in ((execution, [begun]), (order, events)):
        if told:
            await store.ledger.append(Append(str(stream), told, 0, "acme", "/test", execution_id=execution))


def failed(category: str = "invalid_arguments", **facts: Any) -> NewEvent:
    return NewEvent("call.failed", {"problem": {"code": "X", "category": category, "facts": facts}})


async def test_the_tool_with_most_wrong_calls_comes_first_with_how_often_it_was_called(sqlite_store: SqlStore) -> None:
    await executed(sqlite_store, failed(use="pay"), failed(use="look"))
    await executed(sqlite_store, failed(use="look"), NewEvent("call.finished", {"use": "look"}), failed(name="made_up"))

    (found,) = await tools_of(sqlite_store.ledger)

    assert found.health is Health.NOTE
    assert found.what.endswith("look 2 of 3, (no such tool) 1 of 1, pay 1 of 1")


async def test_calls_that_failed_for_another_reason_are_not_counted(sqlite_store: SqlStore) -> None:
    await executed(sqlite_store, failed("network", use="look"), NewEvent("call.finished", {"use": "look"}))

    (found,) = await tools_of(sqlite_store.ledger)

    assert found.health is Health.GOOD and found.facts == {}


async def test_nothing_is_said_where_no_model_called_anything(sqlite_store: SqlStore) -> None:
    await executed(sqlite_store)

    assert await tools_of(sqlite_store.ledger) == []


async def test_what_the_engine_writes_is_what_is_read(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, Tool("look", lambda a, c: {}))
    world.model = ScriptedModel(calls(("look", {"data": {"__ref": "x"}})), calls(("lok", {})), done(n=1))
    order = world.order({"id": "think", "react": "Go.", "tools": ["look"], "gives": {"n": "integer"}})
    begun = Append(str(order.execution_id), [NewEvent("execution.requested", {})], 0, "acme", "/test")
    await sqlite_store.ledger.append(begun)

    assert (await world.run(order)).state is OrderState.DONE

    (found,) = await tools_of(sqlite_store.ledger)
    assert found.facts == {"look": {"wrong": 1, "calls": 1}, "(no such tool)": {"wrong": 1, "calls": 1}}
