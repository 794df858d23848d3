from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from contracts import Effect
from runtime.canonical import sha256
from runtime.capabilities.port import CallResult, Origin
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World

pytestmark = pytest.mark.anyio
Q, D = "a" * 64, "b" * 64


async def origins(store: SqlStore, clock: HandClock, *steps: dict[str, Any], **facts: Any) -> dict[str, Origin]:
    """Return the origins of the arguments of the last step, `use`."""
    read = Tool("read", lambda a, c: CallResult(output={"n": 1, "items": [5, 6]}, query_sha256=Q, data_sha256=D))
    work, use = Tool("work", lambda a, c: dict(a)), Tool("use", lambda a, c: {})
    world = World(store, clock, read, work, use)
    await world.run(world.order(*steps, **facts))
    return dict(use.contexts[0].origins)


async def test_a_bound_value_tells_step_path_and_hashes(sqlite_store: SqlStore, clock: HandClock) -> None:
    found = await origins(
        sqlite_store,
        clock,
        {"id": "read", "use": "read"},
        {"id": "use", "use": "use", "with": {"a": {"b": ["{{ read.n }}"]}, "fixed": 1}},
    )

    result = sha256({"n": 1, "items": [5, 6]})
    assert found == {"a.b.0": Origin("head/read", "n", result, Q, D)}


async def test_an_input_of_the_order_is_told_as_such(sqlite_store: SqlStore, clock: HandClock) -> None:
    found = await origins(
        sqlite_store, clock, {"id": "use", "use": "use", "with": {"day": "{{ context.day }}"}}, context={"day": "x"}
    )

    assert (found["day"].step, found["day"].path) == ("input", "context.day")


async def test_a_computed_result_rests_on_the_data_of_its_inputs(sqlite_store: SqlStore, clock: HandClock) -> None:
    found = await origins(
        sqlite_store,
        clock,
        {"id": "read", "use": "read"},
        {"id": "work", "use": "work", "with": {"m": "{{ read.n }}"}},
        {"id": "use", "use": "use", "with": {"m": "{{ work.m }}"}},
    )

    assert (found["m"].query_sha256, found["m"].data_sha256) == (None, sha256([D]))


@pytest.mark.parametrize("effect", [Effect.READ, Effect.WRITE])
async def test_what_rests_on_inputs_alone_rests_on_the_same_in_every_run_whatever_ids_it_gives(
    sqlite_store: SqlStore, clock: HandClock, effect: Effect
) -> None:
    """A card, a receipt: the next run has another."""
    found = []
    for number in (1, 2):
        pay = Tool("pay", partial(numbered, number), effect)
        use = Tool("use", lambda a, c: {})
        world = World(sqlite_store, clock, pay, use)
        await world.run(
            world.order(
                {"id": "pay", "use": "pay", "with": {"to": "{{ context.who }}"}},
                {"id": "use", "use": "use", "with": {"m": "{{ pay.paid }}"}},
                context={"who": "ana"},
            )
        )
        found.append(use.contexts[0].origins["m"].data_sha256)

    assert found == [sha256({"to": "ana"})] * 2


def numbered(number: int, arguments: object, context: object) -> dict[str, Any]:
    return {"paid": 1, "receipt": number}


async def test_an_item_of_a_repetition_leads_to_its_place_in_the_list(sqlite_store: SqlStore, clock: HandClock) -> None:
    found = await origins(
        sqlite_store,
        clock,
        {"id": "read", "use": "read"},
        {"id": "use", "use": "use", "for_each": "{{ read.items }}", "at_once": 1, "with": {"x": "{{ item }}"}},
    )

    assert (found["x"].step, found["x"].path, found["x"].query_sha256) == ("head/read", "items[0]", Q)


async def test_a_value_from_a_group_leads_to_its_branch(sqlite_store: SqlStore, clock: HandClock) -> None:
    found = await origins(
        sqlite_store,
        clock,
        {"id": "all", "parallel": [{"id": "one", "use": "read"}]},
        {"id": "use", "use": "use", "with": {"x": "{{ all.one.n }}"}},
    )

    assert (found["x"].step, found["x"].query_sha256, found["x"].data_sha256) == ("head/one", Q, D)


async def test_a_text_made_of_several_values_names_them_all(sqlite_store: SqlStore, clock: HandClock) -> None:
    found = await origins(
        sqlite_store,
        clock,
        {"id": "r1", "use": "read"},
        {"id": "r2", "use": "read"},
        {"id": "use", "use": "use", "with": {"text": "{{ r1.n }} of {{ r2.n }}"}},
    )

    assert (found["text"].step, found["text"].path) == ("head/r1, head/r2", "n, n")
