"""A model passes on what it was shown by reference: tools get the original, by the exact id and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import Effect, OrderState, Parameter, ValueType
from runtime.canonical import sha256
from runtime.engine.react.references import ReferenceUnknown, reference_in
from runtime.ledger.store import SqlStore
from runtime.model.port import ModelRequest
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import ScriptedModel, calls, done

pytestmark = pytest.mark.anyio
ROWS = [{"flight": number, "late": number % 7} for number in range(500)]
STEP: dict[str, Any] = {"id": "think", "react": "Go.", "tools": ["look", "keep"], "gives": {"n": "integer"}}


def a_world(store: SqlStore, clock: HandClock, *answers: Any, effect: Effect = Effect.READ) -> World:
    world = World(store, clock, Tool("look", lambda a, c: {"rows": ROWS}), Tool("keep", lambda a, c: {}, effect))
    world.model = ScriptedModel(calls(("look", {})), *answers, done(n=1))
    return world


def told_id(request: ModelRequest) -> str:
    found = json.loads(request.messages[-1]["content"])
    assert found["__stored"] is True
    return str(found["__refId"])


def keeps(form: Callable[[str], Any]) -> Any:
    return lambda request: calls(("keep", {"data": form(told_id(request))}))


@pytest.mark.parametrize(
    "form",
    [lambda ref: {"__ref": ref}, lambda ref: ref, lambda ref: {"__stored": True, "__refId": ref, "__summary": "{"}],
    ids=["reference", "bare id", "what stood for it"],
)
async def test_a_reference_becomes_the_original(sqlite_store: SqlStore, clock: HandClock, form: Any) -> None:
    world = a_world(sqlite_store, clock, keeps(form))

    assert (await world.run(world.order(STEP))).state is OrderState.DONE

    assert world.tools["keep"].calls == [{"data": {"rows": ROWS}}]


async def test_a_reference_deep_inside_an_argument_becomes_the_original(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, keeps(lambda ref: {"days": [{"__ref": ref}]}))

    await world.run(world.order(STEP))

    assert world.tools["keep"].calls == [{"data": {"days": [{"rows": ROWS}]}}]


async def test_the_arguments_are_checked_hashed_and_approved_as_the_original(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, keeps(lambda ref: {"__ref": ref}), effect=Effect.WRITE)
    world.gate.ask = True
    order = world.order(STEP)

    assert (await world.run(order)).state is OrderState.WAITING
    ((card, request),) = world.gate.cards.items()
    world.gate.decide(card, True)
    assert (await world.run(order)).state is OrderState.DONE

    assert request.arguments == {"data": {"rows": ROWS}}
    finished = [e for e in await sqlite_store.ledger.read(str(order.order_id)) if e.type == "call.finished"]
    assert finished[-1].data and finished[-1].data["arguments_sha256"] == sha256({"data": {"rows": ROWS}})


async def test_the_model_sees_its_own_words_and_not_the_original(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, keeps(lambda ref: {"__ref": ref}))

    await world.run(world.order(STEP))

    assert isinstance(world.model, ScriptedModel)
    said = world.model.requests[-1].messages[-2]["tool_calls"][0]["function"]["arguments"]
    assert "__ref" in said and len(said) < 200


async def test_an_id_that_was_not_shown_is_refused_and_told(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, calls(("keep", {"data": {"__ref": "f" * 64}})))

    assert (await world.run(world.order(STEP))).state is OrderState.DONE

    assert isinstance(world.model, ScriptedModel)
    assert world.tools["keep"].calls == [] and "Nothing was shown in this step" in world.model.told[-1]["content"]


async def test_a_call_of_the_same_answer_cannot_refer_to_what_is_not_there_yet(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    address = sha256({"rows": ROWS})
    world = a_world(sqlite_store, clock)
    world.model = ScriptedModel(calls(("look", {}), ("keep", {"data": {"__ref": address}})), done(n=1))

    await world.run(world.order(STEP))

    assert world.tools["keep"].calls == []


async def test_what_another_step_was_shown_is_not_shown_to_this_one(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock)
    address = sha256({"rows": ROWS})
    world.model = ScriptedModel(
        calls(("look", {})), done(n=1), calls(("keep", {"data": {"__ref": address}})), done(n=1)
    )

    await world.run(world.order(STEP, {**STEP, "id": "other", "after": ["think"]}))

    assert world.tools["keep"].calls == []


async def test_the_original_has_to_fit_the_schema(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, keeps(lambda ref: ref))
    tool = world.tools["keep"]
    object.__setattr__(tool.spec, "parameters", {"data": Parameter(type=ValueType.STRING)})

    await world.run(world.order(STEP))

    assert isinstance(world.model, ScriptedModel)
    assert tool.calls == [] and "do not fit keep" in world.model.told[-1]["content"]


async def test_the_output_of_the_step_can_be_what_was_kept(sqlite_store: SqlStore, clock: HandClock) -> None:
    def ends(request: ModelRequest) -> Any:
        return done(found={"__ref": told_id(request)})

    world = a_world(sqlite_store, clock)
    world.model = ScriptedModel(calls(("look", {})), ends)

    report = await world.run(world.order({**STEP, "gives": {"found": "object"}}))

    assert report.output == {"found": {"rows": ROWS}}


IDS = st.text(alphabet="0123456789abcdef", min_size=64, max_size=64)


@given(shown=IDS, data=st.data())
def test_whatever_is_not_exactly_an_id_that_was_shown_refers_to_nothing(shown: str, data: st.DataObject) -> None:
    near = [shown[:8], shown[:-1], shown + "0", f" {shown}", f"{shown}\n", f"sha256:{shown}", [shown], None, {}]
    value: Any = data.draw((st.sampled_from(near) | st.text() | IDS).filter(lambda other: other != shown))

    assert reference_in(value, lambda: {shown}) is None
    with pytest.raises(ReferenceUnknown):
        reference_in({"__ref": value}, lambda: {shown})


@given(shown=st.sets(IDS, min_size=1), data=st.data())
def test_the_exact_id_refers_to_what_was_shown_under_it(shown: set[str], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(shown)))

    assert reference_in(name, lambda: shown) == reference_in({"__ref": name}, lambda: shown) == name


@given(value=st.dictionaries(st.text(), st.integers()))
def test_an_object_with_more_in_it_than_a_reference_is_data(value: dict[str, Any]) -> None:
    assert reference_in({**value, "__ref": "x", "more": 1}, lambda: {"x"}) is None
