"""A conversation that fills its window is compacted: the order stays, nothing done is done again, nothing is lost."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from contracts import Effect, OrderState, Usage
from runtime.canonical import sha256
from runtime.context.errors import ContextIncompressible
from runtime.ledger.store import SqlStore
from runtime.model.port import ModelAnswer, ModelRequest
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import Crash, CrashingStore
from tests.fakes.engine_world import Tool, World, with_store
from tests.fakes.model import calls, done
from tests.runtime.engine.react.test_fitting import Narrow

pytestmark = pytest.mark.anyio
THINK: dict[str, Any] = {
    "id": "think", "react": "Visit every gate.", "tools": ["look", "pay"], "gives": {"n": "integer"}, "iterations": 40,
}  # fmt: skip
GATES = 24


class Walker:
    """Visits gate after gate by what its prompt says is done, and pays at the third."""

    def __init__(self, room: int, *, words: str = "", costs: Usage | None = None) -> None:
        self.requests: list[ModelRequest] = []
        self._room = room
        self._words = words
        self._costs = costs or Usage()
        self._next = 1

    def room(self, role: str) -> int:
        return self._room

    def name_of(self, role: str) -> str:
        return "gpt-4o"

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        if request.role == "summarise":
            request.course.settles(self._costs)
            return ModelAnswer(self._words, facts={"usage_estimated": True})
        self.requests.append(request)
        number, self._next = self._next, self._next + 1
        answer = calls(("look", {"gate": f"G{number:02}"}))
        if number == 3:
            answer = calls(("pay", {"to": "ann"}))
        if number > GATES:
            answer = done(n=number - 1)
        return replace(answer, facts={"usage_estimated": True})


def a_world(store: SqlStore, clock: HandClock, room: int = 8_000, **model: Any) -> World:
    def look(arguments: Any, context: Any) -> dict[str, Any]:
        gate = arguments["gate"]
        return {"gate": gate, "note": f"{gate} has {len(gate) * 7} seats. " + f"Nothing else of {gate}. " * 110}

    world = World(store, clock, Tool("look", look), Tool("pay", lambda a, c: {"receipt": "R-4711"}, Effect.WRITE))
    world.model = Walker(room, **model)  # type: ignore[assignment]
    return world


def walker(world: World) -> Walker:
    assert isinstance(world.model, Walker)
    return world.model


async def test_a_long_conversation_is_handed_over_and_goes_on(
    sqlite_store: SqlStore, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    world = a_world(sqlite_store, clock)
    order = world.order(THINK)

    report = await world.run(order)

    assert f"the conversation of step think of {order.order_id} fills its model's window (compact)" in caplog.messages

    assert (report.state, report.output) == (OrderState.DONE, {"n": GATES}), report.error
    assert "context.compacted" in await world.kinds(order)
    assert world.tools["pay"].calls == [{"to": "ann"}]
    last = json.dumps([dict(message) for message in walker(world).requests[-1].messages])
    assert "Order: Do it." in last and "Visit every gate." in last and "R-4711" in last
    sizes = [len(json.dumps([dict(m) for m in request.messages])) for request in walker(world).requests]
    assert sizes[-1] < max(sizes)


async def test_no_call_is_without_its_result_in_any_prompt(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock)

    await world.run(world.order(THINK))

    for request in walker(world).requests:
        called = [call["id"] for message in request.messages for call in message.get("tool_calls", ())]
        answered = [message["tool_call_id"] for message in request.messages if message["role"] == "tool"]
        assert called == answered


async def test_requests_after_a_compaction_are_put_together_again_to_the_byte(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock)
    order = world.order(THINK)
    await world.run(order)

    found = await world.engine().past_requests(order.order_id)

    assert len(found) == GATES + 1 and all(each.same for each in found)
    assert any(part.origin == "the hand-over" for part in found[-1].prompt.parts)


@pytest.mark.parametrize("committed", [True, False], ids=["after the commit", "before the commit"])
async def test_a_process_that_dies_while_it_compacts_goes_on_with_the_same_conversation(
    sqlite_store: SqlStore, clock: HandClock, committed: bool
) -> None:
    """X4: what is done stays done."""
    whole = CrashingStore(sqlite_store)
    world = with_store(a_world(sqlite_store, clock), whole)
    order = world.order(THINK)
    await world.run(order)
    at = (await world.kinds(order)).index("context.compacted")
    world = a_world(sqlite_store, clock)
    order = world.order(THINK)
    with pytest.raises(Crash):
        await with_store(world, CrashingStore(sqlite_store, at, committed=committed)).run(order)

    report = await with_store(world, sqlite_store).run(order)

    assert report.state is OrderState.DONE, report.error
    assert world.tools["pay"].calls == [{"to": "ann"}]


async def test_what_may_not_be_compressed_alone_is_named(sqlite_store: SqlStore, clock: HandClock) -> None:
    """X5: no try every turn, and a typed failure at the end."""
    world = a_world(sqlite_store, clock, room=900)

    report = await world.run(world.order({**THINK, "react": "Visit every gate. " * 200}))

    assert report.error is not None and report.error.code in ("CONTEXT_INCOMPRESSIBLE", "PROMPT_BUDGET_EXCEEDED")
    assert walker(world).requests == []


async def test_what_a_view_showed_is_handed_over_under_the_reference_of_the_data(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    rows: dict[str, Any] = {"rows": [f"flight UA{n:04} to JFK is {n * 7 % 61} minutes late" for n in range(500)]}
    ref = sha256(rows)
    views = [calls(("head", {"ref": ref, "n": 60 + n})) for n in range(12)]
    answers = [calls(("look", {})), *views, done(n=1)]
    world = World(sqlite_store, clock, Tool("look", lambda a, c: rows))
    world.model = model = Narrow(8_000, *answers)
    order = world.order({**THINK, "tools": ["look"]})

    report = await world.run(order)

    assert report.state is OrderState.DONE, report.error
    told = next(str(m["content"]) for m in model.requests[-1].messages if '"phases"' in str(m["content"]))
    phases = json.loads(told[told.index("{") :])["phases"]
    assert {each["ref"] for phase in phases for each in phase["done"]} == {ref}
    assert {each for phase in phases for each in phase["originals"]} == {ref}


async def test_words_that_gained_nothing_are_still_counted(
    sqlite_store: SqlStore, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def in_vain(*_: Any, ask: Any, **__: Any) -> Any:
        await ask(ModelRequest(role="summarise", messages=()))
        raise ContextIncompressible(7_800, 8_000, 7_700, {}, "it would gain too little")

    monkeypatch.setattr("runtime.engine.react.compacting.compact", in_vain)
    world = a_world(sqlite_store, clock, costs=Usage(tokens_in=600, tokens_out=100))
    order = world.order(THINK)

    report = await world.run(order)

    happened = await sqlite_store.ledger.read(str(order.order_id))
    tried = [event.data for event in happened if event.type == "context.compacted"]
    assert tried and {(each["tier"], each["why"]) for each in tried} == {("full", "it would gain too little")}
    assert report.usage.tokens_out == 100 * len(tried)
