from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contracts import OrderState
from runtime.ledger import open_store
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World

pytestmark = pytest.mark.anyio


def ask(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "ask": {"text": f"{name}?", **more}}


async def test_everything_that_can_run_runs_before_the_order_waits(sqlite_store: SqlStore, clock: HandClock) -> None:
    tool = Tool("line", lambda a, c: {})
    world = World(sqlite_store, clock, tool)
    order = world.order(
        ask("go"),
        {"id": "a", "use": "line"},
        {"id": "b", "use": "line", "after": ["a"]},
        {"id": "last", "use": "line", "after": ["go", "b"]},
    )

    report = await world.run(order)

    assert (report.state, len(report.waiting_for), len(tool.calls)) == (OrderState.WAITING, 1, 2)
    assert "order.finished" not in await world.kinds(order)


async def test_two_open_questions_are_answered_one_by_one_and_nothing_before_runs_again(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """D1: a line is appended, two questions asked, one answered: one line, one question left."""
    tool = Tool("line", lambda a, c: {})
    world = World(sqlite_store, clock, tool)
    questions = {"id": "questions", "parallel": [ask("who"), ask("when")], "after": ["a"]}
    order = world.order({"id": "a", "use": "line"}, questions)
    first = await world.run(order)
    await world.answer(first.waiting_for[0], "ann")
    second = await world.run(order)
    await world.answer(second.waiting_for[0], "today")

    done = await world.run(order)

    assert len(first.waiting_for) == 2 and second.waiting_for == first.waiting_for[1:]
    assert done.output == {"who": {"answer": "ann"}, "when": {"answer": "today"}}
    assert len(tool.calls) == 1


async def test_six_pending_calls_are_answered_out_of_order_and_begun_six_times_in_all(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """D7: results arrive one by one; the others do not start again."""
    world = World(sqlite_store, clock)
    step = {**ask("each"), "for_each": "{{ items }}", "at_once": 2}
    plan = {"parameters": {"items": {"type": "array"}}}
    order = world.order(step, plan=plan, inputs={"items": list(range(6))})
    asked = (await world.run(order)).waiting_for
    for number in (4, 0, 5, 2, 1, 3):
        await world.answer(asked[number], number)
        report = await world.run(order)

    assert report.output == [{"answer": number} for number in range(6)]
    assert [event.type for event in await sqlite_store.ledger.read_all()].count("question.asked") == 6


async def test_an_approval_after_a_restart_runs_the_tool_once_and_ends_the_run(
    tmp_path: Path, clock: HandClock
) -> None:
    """D4: saved, loaded by a new process, approved."""
    from contracts import Effect

    tool = Tool("pay", lambda a, c: {"paid": a["to"]}, Effect.IRREVERSIBLE)
    reports = []
    order = None
    gate = None
    for _ in range(3):
        store = await open_store(LedgerSettings(synchronous="NORMAL"), home=tmp_path, clock=clock)
        world = World(store, clock, tool)
        gate = world.gate = gate or world.gate
        gate.ask = True
        order = order or world.order(
            {"id": "pay", "use": "pay", "with": {"to": "{{ item }}"}, "for_each": "{{ context.who }}"},
            context={"who": ["x"]},
        )
        order = type(order).read(order.to_json())
        reports.append(await world.run(order))
        await store.close()
        for card in gate.cards:
            gate.decide(card, True)

    assert [report.state.value for report in reports] == ["waiting", "done", "done"]
    assert (reports[2].output, tool.calls) == ([{"paid": "x"}], [{"to": "x"}])


async def test_a_question_nobody_answers_in_time_is_expired_which_is_no_answer(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock)
    order = world.order(ask("go", within_s=60))
    await world.run(order)
    clock.advance(61)

    report = await world.run(order)

    assert report.error is not None and report.error.code == "QUESTION_EXPIRED"


async def test_an_expired_question_may_have_another_way(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, Tool("assume", lambda a, c: {"answer": "later"}))
    order = world.order({**ask("go", within_s=60), "otherwise": {"use": "assume"}})
    await world.run(order)
    clock.advance(61)

    assert (await world.run(order)).output == {"answer": "later"}


async def test_a_waiting_order_can_be_cancelled(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock)
    order = world.order(ask("go"))
    await world.run(order)
    world.cancelled = True

    assert (await world.run(order)).state is OrderState.CANCELLED
