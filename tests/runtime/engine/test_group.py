from __future__ import annotations

import asyncio
from typing import Any

import pytest

from contracts import Json, OrderState
from runtime.blackboard import KeyRule
from runtime.capabilities.blackboard import ReadBlackboard, WriteBlackboard
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
        await asyncio.wait_for(enough.wait(), 60)
        running -= 1
        return {"step": context.step}

    world = World(sqlite_store, clock, Tool("work", work))
    branches = [{"id": f"b{n}", "use": "work", "with": {"n": n}} for n in range(6)]
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


async def test_a_branch_that_changes_what_it_was_given_changes_it_for_nobody_else(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    seen: list[Json] = []

    def spoil(arguments: Any, context: Any) -> dict[str, Json]:
        seen.append([dict(each) for each in arguments["rows"]])
        arguments["rows"][0]["n"] = 99
        arguments["rows"].append({"n": 100})
        arguments["own"].clear()
        arguments["note"]["by"] = context.step
        return {"rows": arguments["rows"]}

    world = World(sqlite_store, clock, Tool("echo", echo), Tool("spoil", spoil))
    bound = {"rows": "{{ read.rows }}", "note": "{{ context.note }}", "own": "{{ rows }}"}
    order = world.order(
        {"id": "read", "use": "echo", "with": {"rows": [{"n": 1}]}},
        {"id": "all", "at_once": 1, "parallel": [{"id": f"b{n}", "use": "spoil", "with": bound} for n in range(3)]},
        {"id": "after", "use": "echo", "after": ["all"], "with": bound},
        plan={"parameters": {"rows": {"type": "array"}}},
        inputs={"rows": [1, 2]},
        context={"note": {"by": "nobody"}},
    )

    report = await world.run(order)

    assert seen == [[{"n": 1}]] * 3
    assert report.output == {"rows": [{"n": 1}], "note": {"by": "nobody"}, "own": [1, 2]}


@pytest.mark.parametrize(
    ("rule", "value", "conflicts"), [("union", ["a", "b", "c"], 0), ("max", "c", 0), ("replace", None, 2)]
)
async def test_branches_that_write_one_key_lose_nothing(
    sqlite_store: SqlStore, clock: HandClock, rule: str, value: Json, conflicts: int
) -> None:
    """O5: by a rule everything is in the value; where each replaces, what was replaced unseen stands beside it."""
    world = World(sqlite_store, clock)
    world.tools["blackboard.write"] = WriteBlackboard()  # type: ignore[assignment]
    world.tools["blackboard.read"] = ReadBlackboard()  # type: ignore[assignment]
    world.key_rules["cause"] = KeyRule(rule)
    branches = [
        {"id": id_, "use": "blackboard.write", "with": {"key": "cause", "value": id_}} for id_ in ("a", "b", "c")
    ]
    read = {"id": "read", "after": ["all"], "use": "blackboard.read", "with": {"key": "cause"}}

    report = await world.run(world.order({"id": "all", "parallel": branches}, read))

    assert report.state is OrderState.DONE
    assert isinstance(report.output, dict)
    found, told = report.output["value"], report.output["conflicts"]
    assert isinstance(told, list) and len(told) == conflicts
    if rule == "replace":
        replaced = {str(each["value"]) for each in told if isinstance(each, dict)}
        assert {*replaced, str(found)} == {"a", "b", "c"}
    else:
        assert (sorted(found) if isinstance(found, list) else found) == value
