from __future__ import annotations

import asyncio

import pytest

from contracts import Json, OrderState
from runtime.engine.recall import outputs_of
from runtime.engine.states import UnitState
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import CrashingStore
from tests.fakes.engine_world import Tool, World, one_after_the_other

pytestmark = pytest.mark.anyio


def echo(name: str = "echo") -> Tool:
    return Tool(name, lambda arguments, context: dict(arguments))


async def test_a_value_travels_by_binding_from_step_to_step(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, echo())
    order = world.order(
        {"id": "one", "use": "echo", "with": {"n": "{{ start }}"}},
        {"id": "two", "use": "echo", "with": {"m": "{{ one.n }}", "text": "n is {{ one.n }}"}},
        plan={"parameters": {"start": {"type": "integer"}}},
        inputs={"start": 7},
    )

    report = await world.run(order)

    assert (report.state, report.output, report.progress) == (OrderState.DONE, {"m": 7, "text": "n is 7"}, 1.0)
    assert report.usage.steps == 2


async def test_the_stream_begins_with_the_order_and_ends_with_its_report(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, echo())
    order = world.order({"id": "one", "use": "echo"})

    report = await world.run(order)

    assert await world.kinds(order) == ["order.accepted", "step.finished", "order.finished"]
    assert await world.run(order) == report
    assert len(world.tools["echo"].calls) == 1


async def test_a_read_step_costs_exactly_one_commit(sqlite_store: SqlStore, clock: HandClock) -> None:
    store = CrashingStore(sqlite_store)
    world = World(store, clock, echo(), dispatch_at_once=1)

    steps = ({"id": f"s{n}", "use": "echo", "output": "blackboard"} for n in range(5))
    await world.run(world.order(*steps, known_at=None))  # the moment of its first event counts, so that is by itself

    assert store.ledger.appends == 1 + 5 + 1


async def test_steps_that_are_ready_at_once_share_a_commit(sqlite_store: SqlStore, clock: HandClock) -> None:
    store = CrashingStore(sqlite_store)
    world = World(store, clock, echo(), dispatch_at_once=4)

    report = await world.run(world.order(*({"id": f"s{n}", "use": "echo"} for n in range(8))))

    assert report.usage.steps == 8
    assert store.ledger.appends == 2 + 1


async def test_independent_steps_are_in_progress_together_up_to_the_setting(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    running, most, enough = 0, 0, asyncio.Event()

    async def work(arguments: object, context: object) -> dict[str, Json]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 2:
            enough.set()
        await asyncio.wait_for(enough.wait(), 60)
        running -= 1
        return {}

    world = World(sqlite_store, clock, Tool("work", work), dispatch_at_once=2)
    await world.run(world.order(*({"id": f"s{n}", "use": "work", "with": {"n": n}} for n in range(5))))

    assert most == 2


async def test_a_step_begins_when_what_it_needs_is_done_and_not_a_level_later(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    release, seen = asyncio.Event(), []

    async def work(arguments: object, context: object) -> dict[str, Json]:
        name = context.step  # type: ignore[attr-defined]
        if name == "slow":
            await asyncio.wait_for(release.wait(), 60)
        if name == "after_quick":
            release.set()
        seen.append(name)
        return {}

    world = World(sqlite_store, clock, Tool("work", work))
    steps = ({"id": "slow"}, {"id": "quick"}, {"id": "after_quick", "after": ["quick"]})
    await world.run(world.order(*({"use": "work", "with": {"for": step["id"]}, **step} for step in steps)))

    assert seen == ["quick", "after_quick", "slow"]


async def test_a_condition_that_does_not_hold_skips_the_step_and_what_needs_its_output(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, echo())
    order = world.order(
        {"id": "maybe", "use": "echo", "when": "1 > 2", "with": {"n": 1}},
        {"id": "needs", "use": "echo", "with": {"n": "{{ maybe.n }}"}},
        {"id": "asks", "use": "echo", "when": "maybe.n == 1"},
        {"id": "comes_after", "use": "echo", "after": ["maybe"], "with": {"whole": "{{ maybe }}"}},
    )

    report = await world.run(order)
    view = await world.view(order)

    assert (report.state, report.output) == (OrderState.DONE, {"whole": None})
    assert [view.state_of(name).value for name in ("maybe", "needs", "asks")] == ["skipped"] * 3
    assert view.unit("needs").why == "it needs maybe, which was skipped: `1 > 2` does not hold"


async def test_a_failed_step_lets_the_others_settle_and_nothing_new_begins(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    broken = asyncio.Event()

    async def fail(arguments: object, context: object) -> dict[str, Json]:
        broken.set()
        raise RuntimeError("no such column")

    async def settle(arguments: object, context: object) -> dict[str, Json]:
        await asyncio.wait_for(broken.wait(), 60)
        return {"kept": True}

    world = World(sqlite_store, clock, Tool("fail", fail), Tool("settle", settle), echo())
    order = world.order(
        {"id": "sibling", "use": "settle"},
        {"id": "bad", "use": "fail"},
        {"id": "later", "use": "echo", "after": ["sibling"]},
    )
    report = await world.run(order)
    view = await world.view(order)

    assert (report.state, report.output) == (OrderState.FAILED, None)
    assert report.error is not None and "RuntimeError: no such column" in report.error.message
    assert [view.state_of(name) for name in ("sibling", "later")] == [UnitState.DONE, UnitState.PENDING]


async def test_a_long_output_is_kept_by_reference_and_fetched_when_it_is_read(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    rows: list[Json] = [{"n": n} for n in range(100)]
    world = World(sqlite_store, clock, Tool("rows", lambda a, c: {"rows": rows}), echo(), inline_output=200)
    order = world.order(
        {"id": "read", "use": "rows"}, {"id": "count", "use": "echo", "with": {"last": "{{ read.rows[-1].n }}"}}
    )
    report = await world.run(order)
    view = await world.view(order)
    result = view.unit("read").result

    assert report.output == {"last": 99}
    assert result is not None and result.output is None and result.output_sha256 == result.result_sha256
    assert (await outputs_of(view, sqlite_store.blobs))["read"] == {"rows": rows}


async def test_what_the_plan_gives_is_put_together_and_a_skipped_part_is_null(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, echo())
    order = world.order(
        {"id": "one", "use": "echo", "with": {"n": 1}},
        {"id": "two", "use": "echo", "when": "one.n > 1", "with": {"n": 2}},
        plan={"gives": {"a": "{{ one.n }}", "b": "{{ two.n }}", "text": "a={{ one.n }}"}},
    )

    assert (await world.run(order)).output == {"a": 1, "b": None, "text": "a=1"}


async def test_a_missing_input_is_told_before_anything_runs(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, echo())
    order = world.order({"id": "one", "use": "echo"}, plan={"parameters": {"day": {"type": "date"}}})

    report = await world.run(order)

    assert report.state is OrderState.FAILED
    assert report.error is not None and "`day` is missing" in report.error.message
    assert world.tools["echo"].calls == []


async def test_steps_that_wait_for_each_other_are_named(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, echo())
    order = world.order({"id": "a", "use": "echo", "after": ["b"]}, {"id": "b", "use": "echo", "after": ["a"]})

    report = await world.run(order)

    assert report.error is not None and "Steps wait for each other: a → b → a." in report.error.message


async def test_a_step_for_a_model_names_the_setting_that_lets_it_run(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock)

    report = await world.run(world.order({"id": "think", "react": "Why?"}))

    assert report.error is not None and report.error.code == "MODEL_REQUIRED"
    assert "model.reason" in report.error.message and "SILICON_MODEL__REASON" in report.error.message


async def test_secrets_reach_neither_the_ledger_nor_later_steps(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, Tool("leak", lambda a, c: {"password": "hunter2-hunter2"}), echo())
    order = world.order({"id": "a", "use": "leak"}, {"id": "b", "use": "echo", "with": {"got": "{{ a.password }}"}})

    report = await world.run(order)

    assert report.output == {"got": "[redacted]"}
    events = await sqlite_store.ledger.read(str(order.order_id))
    assert "hunter2" not in "".join(event.model_dump_json() for event in events)


async def test_a_failed_order_that_is_opened_again_repeats_only_what_failed(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """D6: step 2 of 4 fails once; after mending it the steps have run 1, 2, 1, 1 times."""
    act = one_after_the_other(RuntimeError("broken"), {})
    tools = [echo("s1"), Tool("s2", act), echo("s3"), echo("s4")]
    world = World(sqlite_store, clock, *tools)
    ids = ["s1", "s2", "s3", "s4"]
    order = world.order(*({"id": n, "use": n, "after": ids[:i]} for i, n in enumerate(ids)))

    assert (await world.run(order)).state is OrderState.FAILED
    assert (await world.run(order)).state is OrderState.FAILED
    world.reopen = True

    assert (await world.run(order)).state is OrderState.DONE
    assert [len(tool.calls) for tool in tools] == [1, 2, 1, 1]


async def test_cancelling_the_task_leaves_an_order_that_goes_on(sqlite_store: SqlStore, clock: HandClock) -> None:
    began = asyncio.Event()

    async def first_hang(arguments: object, context: object) -> dict[str, Json]:
        if not began.is_set():
            began.set()
            await asyncio.Event().wait()
        return {}

    world = World(sqlite_store, clock, echo(), Tool("hang", first_hang))
    order = world.order({"id": "a", "use": "echo"}, {"id": "b", "use": "hang", "after": ["a"]})
    running = asyncio.ensure_future(world.run(order))
    await asyncio.wait_for(began.wait(), 60)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert await world.kinds(order) == ["order.accepted", "step.finished"]
    assert (await world.run(order)).state is OrderState.DONE
    assert len(world.tools["echo"].calls) == 1


async def test_two_cancelled_writers_leave_view_and_ledger_together(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, echo())
    order = world.order(*({"id": f"s{n}", "use": "echo"} for n in range(20)))
    for turns in range(1, 40):
        running = asyncio.ensure_future(world.run(order))
        for _ in range(turns):
            await asyncio.sleep(0)
        running.cancel()
        await asyncio.wait({running})

    assert (await world.run(order)).state is OrderState.DONE
    events = await world.kinds(order)
    assert (events.count("order.accepted"), events.count("step.finished")) == (1, 20)


async def test_a_suspicious_result_becomes_a_question_and_is_not_fetched_again(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, Tool("wind", lambda a, c: {"speed": 1048}))
    rule = {"check": "speed < 200", "message": "A wind of over 200 mph is odd."}
    order = world.order({"id": "wind", "use": "wind", "plausible": [rule]})

    waiting = await world.run(order)
    await world.answer(waiting.waiting_for[0], "keep")
    done = await world.run(order)

    assert (waiting.state, done.state, done.output) == (OrderState.WAITING, OrderState.DONE, {"speed": 1048})
    assert len(world.tools["wind"].calls) == 1
