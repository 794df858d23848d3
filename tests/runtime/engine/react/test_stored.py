"""Large results stand in a conversation by their reference, and the model looks into them with bounded tools."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contracts import Budget, Json, OrderState, Usage
from runtime.canonical import sha256
from runtime.ledger.store import SqlStore
from runtime.model.port import ModelAnswer, ModelRequest
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import ScriptedModel, calls, done
from tests.runtime.engine.react.looking import THINK, model_of

pytestmark = pytest.mark.anyio
ROWS: dict[str, Json] = {"rows": [{"flight": f"UA{n:04}", "to": "JFK", "late": n * 7 % 61} for n in range(400)]}
REF = sha256(ROWS)
INSPECT = ["outline", "search", "context", "head", "tail", "get_stored_data"]


def a_world(store: SqlStore, clock: HandClock, *answers: Any, look: Any = ROWS, **settings: Any) -> World:
    world = World(store, clock, Tool("look", lambda a, c: look), **settings)
    world.model = ScriptedModel(*answers)
    return world


def told(world: World) -> list[str]:
    return [str(m["content"]) for m in model_of(world).requests[-1].messages if m["role"] == "tool"]


def tools(request: ModelRequest) -> list[str]:
    return [tool["function"]["name"] for tool in request.tools]


LOOK = calls(("look", {}))


async def test_a_long_result_is_told_by_a_digest_and_can_be_looked_into_from_then_on(
    store: SqlStore, clock: HandClock
) -> None:
    world = a_world(store, clock, LOOK, calls(("search", {"ref": REF, "query": "UA0123"})), done(n=3))

    report = await world.run(world.order(THINK))

    assert report.state is OrderState.DONE, report.error
    marker = json.loads(told(world)[0])
    assert (marker["__refId"], marker["__toolType"], marker["__stored"]) == (REF, "look", True)
    assert "array of 400 objects" in marker["__summary"] and len(marker["__summary"]) <= 1_000
    assert marker["__hint"].index("outline") < marker["__hint"].index("get_stored_data")
    assert "$.rows[123]" in told(world)[1]
    assert tools(model_of(world).requests[0]) == ["look", "step_control"]
    assert tools(model_of(world).requests[1]) == ["look", *INSPECT, "step_control"]


async def test_a_short_list_of_many_is_stored_too(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, LOOK, done(n=3), look={"ids": list(range(11))})

    await world.run(world.order(THINK))

    assert json.loads(told(world)[0])["__refId"] == sha256({"ids": list(range(11))})


async def test_what_is_asked_for_whole_stands_there_once(sqlite_store: SqlStore, clock: HandClock) -> None:
    data: dict[str, Json] = {"rows": [f"row {n} of the list" for n in range(300)]}
    ref = sha256(data)
    world = a_world(sqlite_store, clock, LOOK, calls(("get_stored_data", {"ref": ref})), done(n=3), look=data)

    await world.run(world.order(THINK))

    first, whole = told(world)
    assert json.loads(first) == {"__refId": ref, "__same_as": "a later result"}
    assert json.loads(whole) == data


async def test_what_a_tool_of_the_engine_shows_is_never_stored_again(sqlite_store: SqlStore, clock: HandClock) -> None:
    looks = [calls((name, {"ref": REF, **more})) for name, more in (("outline", {}), ("head", {"n": 200}))]
    world = a_world(sqlite_store, clock, LOOK, *looks, done(n=3))

    await world.run(world.order({**THINK, "always_store": True}))

    assert all("__stored" not in each and len(each) <= 4_000 for each in told(world)[1:])


async def test_data_that_the_step_was_not_shown_cannot_be_looked_into(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, LOOK, calls(("outline", {"ref": "f" * 64})), done(n=3))

    await world.run(world.order(THINK))

    assert "REFERENCE_UNKNOWN" in told(world)[1]


async def test_a_very_long_original_is_condensed_by_a_model_and_paid_for(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock)
    world.model = Condensing(LOOK, calls(("get_stored_data", {"ref": REF})), done(n=3))

    report = await world.run(world.order(THINK))

    assert "400 flights to JFK" not in told(world)[1]  # 400 stands nowhere in the data: code refuses it
    assert '"__fallbackTruncated"' in told(world)[1] or "fallback" in told(world)[1]
    assert report.usage.tokens_in == 3 * 10 + 7


async def test_without_tokens_for_it_the_beginning_stands_for_a_long_original(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock)
    world.model = Condensing(LOOK, calls(("get_stored_data", {"ref": REF})), done(n=3), words="Flights to JFK.")

    report = await world.run(world.order(THINK, budget=Budget(tokens=35)))

    assert report.state is OrderState.DONE, report.error
    assert "__fallbackTruncated" in told(world)[1]


async def test_a_stored_result_of_an_earlier_step_is_listed_and_looked_into(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    measure = {"id": "measure", "use": "look"}
    later = {**THINK, "tools": [], "after": ["measure"]}
    world = a_world(sqlite_store, clock, calls(("context", {"ref": REF, "anchor": "$.rows[7]"})), done(n=3))

    report = await world.run(world.order(measure, later))

    assert report.state is OrderState.DONE, report.error
    system = str(model_of(world).requests[0].messages[0]["content"])
    assert "- step measure: {rows: 400 × {" in system and REF in system
    assert "UA0007" in told(world)[0]


async def test_a_long_input_that_is_declared_as_summary_is_condensed_once(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    measure = {"id": "measure", "use": "look"}
    later = {**THINK, "with": {"seen": "{{ measure.rows }}"}, "material": {"seen": "summary"}, "after": ["measure"]}
    world = a_world(sqlite_store, clock)
    world.model = Condensing(LOOK, done(n=3), words="Flights to JFK, some late.")
    order = world.order(measure, later)

    report = await world.run(order)

    assert report.state is OrderState.DONE, report.error
    assert all("Flights to JFK, some late." in str(r.messages[1]["content"]) for r in model_of(world).requests)
    assert report.usage.tokens_in == 2 * 10 + 7
    assert (await world.kinds(order)).count("context.condensed") == 1
    assert all(each.same for each in await world.engine().past_requests(order.order_id))


@pytest.mark.parametrize(
    ("material", "whole", "summary"),
    [(None, False, True), ("full", True, False), ("reference", False, False), ("summary", False, True)],
)
async def test_an_input_reaches_the_prompt_in_the_form_that_is_declared(
    sqlite_store: SqlStore, clock: HandClock, material: str | None, whole: bool, summary: bool
) -> None:
    measure = {"id": "measure", "use": "look"}
    later = {
        **THINK, "tools": [], "with": {"seen": "{{ measure.rows }}"},
        **({"material": {"seen": material}} if material else {}),
    }  # fmt: skip
    world = a_world(sqlite_store, clock)
    world.model = Condensing(done(n=3))

    await world.run(world.order(measure, later))

    task = str(model_of(world).requests[0].messages[1]["content"])
    assert ("UA0399" in task, "__summary" in task) == (whole, summary)
    assert whole or sha256(ROWS["rows"]) in task


async def test_inputs_that_together_take_too_much_room_are_shortened_the_largest_first(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, done(n=3))
    given = {"a": "x" * 2_500, "b": "y" * 2_000, "c": "z" * 300}

    await world.run(world.order({**THINK, "with": given}))

    task = str(model_of(world).requests[0].messages[1]["content"])
    assert ["x" * 2_500 in task, "y" * 2_000 in task, "z" * 300 in task] == [False, True, True]


async def test_the_preview_is_kept_and_never_shown(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, LOOK, done(n=3))
    order = world.order(THINK)
    await world.run(order)

    events = await sqlite_store.ledger.read(str(order.order_id))
    (kept,) = [event.data for event in events if event.type == "call.finished" and event.data]
    preview = (await sqlite_store.blobs.get(str(kept["preview_sha256"]))).decode()
    assert len(preview) == 12_000
    assert not any(preview[:3_000] in str(request.messages) for request in model_of(world).requests)


async def test_a_capability_with_the_name_of_such_a_tool_keeps_working(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, Tool("search", lambda a, c: {"found": a["query"]}))
    named = lambda request: calls((tools(request)[0], {"query": "x"}))  # noqa: E731
    world.model = ScriptedModel(named, done(n=1))

    report = await world.run(world.order({**THINK, "tools": ["search"]}))

    assert report.state is OrderState.DONE and world.tools["search"].calls == [{"query": "x"}]


class Condensing(ScriptedModel):
    """Condenses to the same words whatever it is given, and counts what that takes."""

    def __init__(self, *answers: Any, words: str = "400 flights to JFK, all late.") -> None:
        super().__init__(*answers)
        self._words = words

    def most(self, request: ModelRequest) -> Usage:
        return Usage(tokens_in=100 if request.role == "summarise" else 10)

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        if request.role != "summarise":
            return await super().ask(request)
        request.course.settles(Usage(tokens_in=7))
        return ModelAnswer(self._words)


NOTE = calls(("working_memory", {"insight": "Gate B7 was given up: it floods."}))


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ("UA0123", "step first, what look gave"),
        ("R-4711", "step paid, its result"),
        ("floods", "noted in step first"),
        ("Ruthenium", "step first, answer 3 of its model"),
    ],
)
async def test_one_search_reaches_all_that_the_order_has(
    sqlite_store: SqlStore, clock: HandClock, query: str, where: str
) -> None:
    words = ModelAnswer('{"n": 1, "why": "Ruthenium was meant."}')
    world = a_world(sqlite_store, clock, LOOK, NOTE, words, calls(("search", {"query": query})), done(n=3))
    world.tools["pay"] = Tool("pay", lambda a, c: {"receipt": "R-4711"})
    first, paid = {**THINK, "id": "first"}, {"id": "paid", "use": "pay", "after": ["first"]}
    last = {**THINK, "tools": [], "after": ["paid"], "with": {"seen": ROWS}}

    report = await world.run(world.order(first, paid, last))

    assert report.state is OrderState.DONE, report.error
    assert f"## {where}" in told(world)[0] and query in told(world)[0] and len(told(world)[0]) <= 4_000


async def test_what_a_search_of_the_whole_order_named_can_be_looked_into(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    find = calls(("search", {"query": "UA0123"}))
    look = calls(("context", {"ref": REF, "anchor": "$.rows[123]"}))
    world = a_world(sqlite_store, clock, LOOK, done(n=1), find, look, done(n=3))
    first = {**THINK, "id": "first"}
    last = {**THINK, "tools": [], "after": ["first"], "with": {"long": "x " * 3_000}}

    report = await world.run(world.order(first, last))

    assert report.state is OrderState.DONE, report.error
    assert REF in told(world)[0] and "UA0123" in told(world)[1]


async def test_a_hash_that_stands_in_some_data_is_no_reference(sqlite_store: SqlStore, clock: HandClock) -> None:
    """Blobs are shared by all; only what the engine named for this order can be read."""
    foreign = sha256({"secret": "of somebody else" * 600})
    find = calls(("search", {"query": foreign}))
    world = a_world(
        sqlite_store, clock, LOOK, find, calls(("outline", {"ref": foreign})), done(n=3),
        look={"rows": [f"{foreign} {n}" for n in range(20)]},
    )  # fmt: skip

    await world.run(world.order(THINK))

    assert foreign in told(world)[1] and "REFERENCE_UNKNOWN" in told(world)[2]


@pytest.mark.parametrize(
    ("tool", "given"), [("head", {"n": 2.0}), ("tail", {"n": 2.0}), ("context", {"anchor": "$.rows[1]", "before": 1.0})]
)
async def test_numbers_without_a_fraction_are_whole_ones(
    sqlite_store: SqlStore, clock: HandClock, tool: str, given: dict[str, Any]
) -> None:
    world = a_world(sqlite_store, clock, LOOK, calls((tool, {"ref": REF, **given})), done(n=3))

    report = await world.run(world.order(THINK))

    assert report.state is OrderState.DONE, report.error
    assert "UA0" in told(world)[1] and "__error" not in told(world)[1]


@pytest.mark.parametrize("erased", ["insight.noted", "call.finished"])
async def test_what_was_erased_is_not_found_and_hinders_no_search(
    sqlite_store: SqlStore, clock: HandClock, erased: str
) -> None:
    find = calls(("search", {"query": "UA0123"}), ("search", {"query": "floods"}))
    world = a_world(sqlite_store, clock, LOOK, NOTE, done(n=1))
    order = world.order({**THINK, "id": "first"}, {**THINK, "after": ["first"], "with": {"seen": ROWS}})
    assert (await world.run(order)).state is OrderState.FAILED  # the script ends before the second step
    for event in await sqlite_store.ledger.read(str(order.order_id)):
        if event.type == erased:
            await sqlite_store.ledger.erase(str(order.order_id), event.stream_version)
    world.model, world.reopen = ScriptedModel(find, done(n=3)), True

    report = await world.run(order)

    assert report.state is OrderState.DONE, report.error
    assert ("what look gave" in told(world)[0]) == (erased != "call.finished")
    assert ("B7" in told(world)[1]) == (erased != "insight.noted")


async def test_a_search_reads_no_more_places_than_it_has_room_to_tell_of(
    sqlite_store: SqlStore, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    get = type(sqlite_store.blobs).get

    async def counted(self: Any, sha256: str) -> bytes:
        read.append(sha256)
        return await get(self, sha256)

    monkeypatch.setattr(type(sqlite_store.blobs), "get", counted)
    look = [calls(*(("look", {"n": 10 * n + each}) for each in range(5))) for n in range(8)]
    world = a_world(sqlite_store, clock, *look, calls(("search", {"query": "late"})), done(n=3))
    world.tools["look"] = Tool("look", lambda a, c: {"rows": [f"{a['n']} is late {n}" for n in range(400)]})

    report = await world.run(world.order(THINK))

    assert report.state is OrderState.DONE, report.error
    assert "74 is late" in told(world)[-1] and len(set(read)) < 20


async def test_a_search_finds_what_there_was_before_it_was_asked_for(sqlite_store: SqlStore, clock: HandClock) -> None:
    """Calls beside it may end before or after it; in a process that goes on, before."""
    asked = calls(("look", {"n": 2}), ("search", {"query": "is late"}))
    world = a_world(sqlite_store, clock, LOOK, asked, calls(("search", {"query": "two is late"})), done(n=3))
    world.tools["look"] = Tool("look", lambda a, c: {"rows": ["two is late" if a else "one is late"] * 20})
    world.settings = world.settings.model_copy(update={"calls_at_once": 1})

    report = await world.run(world.order(THINK))

    assert report.state is OrderState.DONE, report.error
    assert "one is late" in told(world)[2] and "two is late" not in told(world)[2]
    assert "two is late" in told(world)[3]
