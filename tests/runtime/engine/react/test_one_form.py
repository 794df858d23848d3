"""A datum stands in a prompt once: whole, or as its reference with a summary."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime.context.errors import RepresentationTwice
from runtime.context.parts import Form, Part
from runtime.context.prompt import Prompt, Said
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import ScriptedModel, calls, done, says

pytestmark = pytest.mark.anyio
THINK: dict[str, Any] = {"id": "think", "react": "How many?", "tools": ["look"], "gives": {"n": "integer"}}
ROWS = {"rows": [f"flight {n} to JFK" for n in range(10)], "note": "x" * 150}


def a_world(store: SqlStore, clock: HandClock, *answers: Any, look: Any = ROWS) -> World:
    world = World(store, clock, Tool("look", lambda a, c: look))
    world.model = ScriptedModel(*answers)
    return world


def last_messages(world: World) -> list[dict[str, Any]]:
    assert isinstance(world.model, ScriptedModel)
    return [dict(message) for message in world.model.requests[-1].messages]


def content_of(world: World, role: str) -> list[str]:
    return [message["content"] for message in last_messages(world) if message["role"] == role]


async def test_a_result_that_comes_again_is_pointed_to(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, calls(("look", {"at": 1})), calls(("look", {"at": 2})), done(n=3))

    await world.run(world.order(THINK))

    first, second = map(json.loads, content_of(world, "tool"))
    assert first == ROWS and second["__same_as"] == "call_1_1"


async def test_an_input_that_a_tool_gives_again_is_pointed_to(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, calls(("look", {"at": 1})), done(n=3))

    await world.run(world.order({**THINK, "with": {"known": ROWS}}))

    assert json.loads(content_of(world, "tool")[0])["__same_as"] == "input known"


async def test_what_a_model_repeats_of_a_result_is_cut(sqlite_store: SqlStore, clock: HandClock) -> None:
    retold = says(f"I saw {json.dumps(ROWS, separators=(',', ':'), sort_keys=True)}, which is it.")
    world = a_world(sqlite_store, clock, calls(("look", {"at": 1})), retold, done(n=3))

    await world.run(world.order(THINK))

    assert content_of(world, "assistant")[1] == "I saw [as in call_1_1], which is it."


async def test_small_values_are_words_and_stand_wherever_they_come_up(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(
        sqlite_store, clock, calls(("look", {"at": 1})), calls(("look", {"at": 2})), done(n=3), look={"ok": True}
    )  # fmt: skip

    await world.run(world.order(THINK))

    assert content_of(world, "tool") == ['{"ok":true}'] * 2


def test_a_prompt_that_shows_one_datum_in_two_forms_is_refused_with_both_places() -> None:
    ref = "a" * 64
    whole = Said("tool", (Part("transcript", "…", "call think:-:1:1 of look", ref),))
    index = Said("system", (Part("index", "…", "step weather, output", ref, Form.SUMMARY),))

    with pytest.raises(RepresentationTwice) as refused:
        Prompt((index, whole))

    told = refused.value.message
    assert "step weather, output" in told and "call think:-:1:1 of look" in told and "transcript" in told


DATA = st.sampled_from([{"rows": [word * 60] * 5} for word in ("ab", "cd", "ef")] + [{"n": 1}, {"long": "z" * 9_000}])


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(results=st.lists(DATA, min_size=1, max_size=6), known=DATA, retells=st.booleans())
async def test_no_prompt_of_any_run_holds_a_datum_twice(
    sqlite_store: SqlStore, clock: HandClock, results: list[Any], known: Any, retells: bool
) -> None:
    left = list(results)
    asked = [calls(("look", {"at": number})) for number, _ in enumerate(results)]
    retold = [says(json.dumps(results[0], separators=(",", ":"), sort_keys=True))] if retells else []
    world = World(sqlite_store, clock, Tool("look", lambda a, c: left.pop(0)))
    world.model = ScriptedModel(*asked, *retold, done(n=1))

    await world.run(world.order({**THINK, "with": {"known": known}}))

    for request in world.model.requests:
        texts = [str(message["content"]) for message in request.messages]
        data = {json.dumps(each, separators=(",", ":"), sort_keys=True)[1:-1] for each in (*results, known)}
        assert all(sum(each in text for text in texts) <= 1 for each in data if len(each) >= 200)
