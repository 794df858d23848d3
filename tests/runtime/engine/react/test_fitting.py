"""A prompt that is too large gives way in order, before anything is paid for; the goal never does."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from contracts import Json, OrderState
from runtime.canonical import sha256
from runtime.ledger.store import SqlStore
from runtime.model.port import ModelAnswer, ModelRequest
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import ScriptedModel, calls, done

pytestmark = pytest.mark.anyio
THINK: dict[str, Any] = {"id": "think", "react": "How many?", "tools": ["look"], "gives": {"n": "integer"}}


class Narrow(ScriptedModel):
    """Takes in so many tokens, and is never sent more."""

    def __init__(self, room: int, *answers: Any) -> None:
        super().__init__(*answers)
        self._room = room

    def room(self, role: str) -> int:
        return self._room

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        if request.role == "summarise":  # it has no words for what it is to make shorter
            return ModelAnswer("", facts={"usage_estimated": True})
        answer = await super().ask(request)
        return replace(answer, facts={"usage_estimated": True})  # so that nothing is learnt from it

    def name_of(self, role: str) -> str:
        return "gpt-4o"


def rows(count: int) -> dict[str, Json]:
    return {"rows": [f"flight UA{n:04} to JFK is {n * 7 % 61} minutes late" for n in range(count)]}


def a_world(store: SqlStore, clock: HandClock, model: Narrow, *results: Any) -> World:
    left = list(results)
    world = World(store, clock, Tool("look", lambda a, c: left.pop(0)))
    world.model = model
    return world


def size(request: ModelRequest) -> int:
    return len(json.dumps([list(request.messages), list(request.tools)], ensure_ascii=False))


async def test_a_goal_that_does_not_fit_is_told_before_any_call(sqlite_store: SqlStore, clock: HandClock) -> None:
    model = Narrow(100, done(n=1))
    world = a_world(sqlite_store, clock, model)

    report = await world.run(world.order({**THINK, "react": "How many? " * 200}))

    assert report.error is not None and report.error.code == "PROMPT_BUDGET_EXCEEDED"
    assert "task 2" in report.error.message and model.requests == []


async def test_what_was_whole_gives_way_to_digests_and_can_still_be_looked_into(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    first = {"note": "word " * 1_400}
    find = calls(("head", {"ref": sha256(first), "n": 3, "at": "$.note"}))
    model = Narrow(2_400, calls(("look", {"n": 1})), calls(("look", {"n": 2})), find, done(n=2))
    world = a_world(sqlite_store, clock, model, first, {"note": "other " * 1_300})
    order = world.order(THINK)

    report = await world.run(order)

    assert report.state is OrderState.DONE, report.error
    assert "word word word" in str(model.requests[1].messages)
    assert "word " * 300 not in str(model.requests[2].messages)
    assert "look" in [tool["function"]["name"] for tool in model.requests[2].tools]
    assert "head" in [tool["function"]["name"] for tool in model.requests[2].tools]
    found = await world.engine().past_requests(order.order_id)
    assert all(each.same for each in found)
    assert any("too large" in each.why or "long" in each.why for each in found[2].prompt.left_out)


async def test_the_newest_messages_stay_and_calls_keep_their_results(sqlite_store: SqlStore, clock: HandClock) -> None:
    asked = [calls(("look", {"why": f"reason {n} " * 400})) for n in range(9)]
    model = Narrow(8_000, *asked, done(n=9))
    world = a_world(sqlite_store, clock, model, *({"n": n} for n in range(9)))

    report = await world.run(world.order(THINK))

    assert report.state is OrderState.DONE, report.error
    last = model.requests[-1].messages
    assert "Step think: How many?" in str(last[1])
    assert "call_9_1" in str(last) and "reason 0 reason 0 " * 50 not in str(last)
    called = {call["id"] for message in last for call in message.get("tool_calls", ())}
    assert called == {message["tool_call_id"] for message in last if message["role"] == "tool"}


async def test_what_fits_for_sure_is_never_counted(
    sqlite_store: SqlStore, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str) -> Any:
        raise AssertionError("the tables were loaded")

    monkeypatch.setattr("runtime.context.tokens._tables", refuse)
    world = a_world(sqlite_store, clock, Narrow(50_000, calls(("look", {})), done(n=1)), rows(5))

    assert (await world.run(world.order(THINK))).state is OrderState.DONE


async def test_views_that_are_asked_for_at_once_share_a_part_of_the_window(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """X2: each of many parallel results is under the limit, and together they overflow."""
    digits = {"rows": [f"{n * 7_919 % 99_991:05}-{n * 104_729 % 999_983:06}" for n in range(2_000)]}
    ref = sha256(digits)
    views = calls(*(("head", {"ref": ref, "n": 150 + n}) for n in range(7)), ("search", {"query": "00"}))
    model = Narrow(8_000, calls(("look", {})), views, calls(("tail", {"ref": ref, "n": 100})), done(n=1))
    world = a_world(sqlite_store, clock, model, digits)

    report = await world.run(world.order(THINK))

    assert report.state is OrderState.DONE, report.error
    shared, single = ([str(m["content"]) for m in model.requests[n].messages if m["role"] == "tool"] for n in (2, 3))
    assert len(shared) == 9 and all("$.rows[" in view and len(view) <= 500 for view in shared[1:])
    assert "more" in shared[1] and 1_000 < len(single[-1]) <= 2_000 and "$.rows[1999]" in single[-1]
