from __future__ import annotations

import asyncio
from typing import Any

import pytest

from contracts import Json, OrderState
from runtime.errors import BusinessRefusal
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World

pytestmark = pytest.mark.anyio


def refuse(arguments: object, context: object) -> Exception:
    return BusinessRefusal("the account is closed")


def echo(arguments: Any, context: object) -> dict[str, Json]:
    return dict(arguments)


async def test_every_branch_settles_and_a_failed_one_is_a_value(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, Tool("echo", echo), Tool("refuse", refuse))
    order = world.order(
        {
            "id": "all",
            "parallel": [
                {"id": "bad", "use": "refuse"},
                {"id": "good", "use": "echo", "with": {"n": 1}},
                {"id": "never", "use": "echo", "when": "false"},
            ],
        },
        {"id": "next", "use": "echo", "with": {"why": "{{ all.bad.__error.message }}", "n": "{{ all.good.n }}"}},
    )

    report = await world.run(order)

    assert (report.state, report.output) == (OrderState.DONE, {"why": "the account is closed", "n": 1})


async def test_branches_share_the_places_of_the_setting_and_come_back_in_declared_order(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    running, most, enough = 0, 0, asyncio.Event()

    async def work(arguments: Any, context: Any) -> dict[str, Json]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 3:
            enough.set()
        await asyncio.wait_for(enough.wait(), 5)
        running -= 1
        return {"step": context.step}

    world = World(sqlite_store, clock, Tool("work", work))
    branches = [{"id": f"b{n}", "use": "work"} for n in range(6)]
    report = await world.run(world.order({"id": "all", "parallel": branches}))

    assert most == 3
    assert isinstance(report.output, dict)
    assert list(report.output) == [f"b{n}" for n in range(6)]


async def test_a_check_over_the_whole_group_can_refuse_it(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, Tool("echo", echo))
    branches = [{"id": "a", "use": "echo", "with": {"n": 1}}, {"id": "b", "use": "echo", "with": {"n": 2}}]

    report = await world.run(world.order({"id": "all", "parallel": branches, "accept": ["a.n == b.n"]}))

    assert report.error is not None and report.error.code == "NOT_ACCEPTED"


async def test_a_group_can_be_repeated_for_each_item(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, Tool("echo", echo))
    branches = [
        {"id": "a", "use": "echo", "with": {"x": "{{ item }}"}},
        {"id": "b", "use": "echo", "with": {"i": "{{ index }}"}},
    ]
    order = world.order(
        {"id": "all", "for_each": "{{ list }}", "parallel": branches},
        plan={"parameters": {"list": {"type": "array"}}},
        inputs={"list": ["p", "q"]},
    )

    report = await world.run(order)

    assert report.output == [{"a": {"x": "p"}, "b": {"i": 0}}, {"a": {"x": "q"}, "b": {"i": 1}}]
