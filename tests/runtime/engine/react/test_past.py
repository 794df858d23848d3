"""What a model was told in the past is put together again from the ledger, to the byte."""

from __future__ import annotations

from typing import Any

import pytest

from contracts import OrderState
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import ScriptedModel, calls, done, says

pytestmark = pytest.mark.anyio
MEASURE: dict[str, Any] = {"id": "measure", "use": "look", "with": {"at": "all"}}
THINK: dict[str, Any] = {
    "id": "think", "react": "What of {{ measure.rows }} rows?", "tools": ["look"],
    "with": {"seen": "{{ measure.note }}"}, "gives": {"n": "integer"},
}  # fmt: skip
LAST: dict[str, Any] = {"id": "last", "react": "Conclude.", "gives": {"n": "integer"}, "after": ["think"]}


def a_world(store: SqlStore, clock: HandClock) -> World:
    world = World(store, clock, Tool("look", lambda a, c: {"rows": 3, "note": "long " * 80, "at": a["at"]}))
    world.model = ScriptedModel(
        calls(("look", {"at": "gate"}), ("working_memory", {"insight": "Gates differ."})),
        says("no json at all"),
        calls(("look", {"at": "long" * 3_000})),
        done(n=3),
        done(n=4),
    )
    return world


async def test_every_answered_request_is_what_was_sent(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock)
    order = world.order(MEASURE, THINK, LAST)
    assert (await world.run(order)).state is OrderState.DONE
    assert isinstance(world.model, ScriptedModel)
    length = len(await world.kinds(order))

    found = await world.engine().past_requests(order.order_id)

    assert [(each.step, each.answer, each.same) for each in found] == [
        ("think", 1, True), ("think", 2, True), ("think", 3, True), ("think", 4, True), ("last", 1, True),
    ]  # fmt: skip
    assert [list(each.prompt.messages) for each in found] == [list(sent.messages) for sent in world.model.requests]
    inspect = ["outline", "search", "context", "head", "tail"]
    assert found[0].tools == ["look", "working_memory", *inspect, "step_control"]
    assert len(await world.kinds(order)) == length


async def test_each_part_tells_where_it_came_from_and_what_was_left_out(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock)
    order = world.order(MEASURE, THINK, LAST)
    await world.run(order)

    fourth = (await world.engine().past_requests(order.order_id))[3].prompt

    origins = {part.origin for part in fourth.parts}
    assert {"the platform", "the order", "the plan", "step think, with.seen", "call think:-:1:1 of look"} <= origins
    assert any("long" in each.why for each in fourth.left_out)


async def test_another_setting_makes_another_prompt_and_that_is_told(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock)
    order = world.order(MEASURE, THINK, LAST)
    await world.run(order)
    world.settings = world.settings.model_copy(update={"inline_output": 100_000})

    found = await world.engine().past_requests(order.order_id)

    assert [each.same for each in found] == [True, True, True, False, True]


@pytest.mark.parametrize("inline_output", [8_000, 10], ids=["short", "long"])
async def test_what_was_erased_of_the_beginning_is_not_told_again_by_what_there_is_now(
    sqlite_store: SqlStore, clock: HandClock, inline_output: int
) -> None:
    world = a_world(sqlite_store, clock)
    order = world.order(MEASURE, THINK, LAST)
    await world.run(order)
    for event in await sqlite_store.ledger.read(str(order.order_id)):
        if event.type == "context.opened":
            await sqlite_store.ledger.erase(str(order.order_id), event.stream_version)
    length = len(await world.kinds(order))
    world.settings = world.settings.model_copy(update={"inline_output": inline_output})

    found = await world.engine().past_requests(order.order_id)

    assert [each.same for each in found] == [False] * 5
    assert "the plan" not in {part.origin for each in found for part in each.prompt.parts}
    assert len(await world.kinds(order)) == length


async def test_inputs_stand_in_the_order_in_which_the_ledger_has_them(sqlite_store: SqlStore, clock: HandClock) -> None:
    """A process that goes on reads the plan from the ledger, where names are sorted."""
    world = World(sqlite_store, clock)
    world.model = ScriptedModel(says("no json at all"), done(n=3))
    order = world.order({**LAST, "after": [], "with": {"zone": "north", "area": "gate", "more": ["x" * 1_000] * 5}})
    assert (await world.run(order)).state is OrderState.DONE

    found = await world.engine().past_requests(order.order_id)

    assert [each.same for each in found] == [True, True]
