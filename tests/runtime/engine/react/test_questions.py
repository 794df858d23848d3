"""Questions of a model to people."""

from __future__ import annotations

from typing import Any

import pytest

from contracts import OrderState
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.model import control, done
from tests.runtime.engine.react.looking import THINK, a_world, model_of

pytestmark = pytest.mark.anyio


async def test_a_question_of_the_model_goes_to_a_person_and_its_answer_comes_back(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, control("need_input", question="Which day?"), done(n=1))
    order = world.order(THINK)
    waiting = await world.run(order)
    still = await world.run(order)
    await world.answer(waiting.waiting_for[0], "Friday")

    report = await world.run(order)

    assert (waiting.state, still.waiting_for) == (OrderState.WAITING, waiting.waiting_for)
    assert report.state is OrderState.DONE
    assert model_of(world).told[0]["content"] == '{"answer":"Friday"}'
    assert (await world.kinds(order)).count("step.waiting") == 1


@pytest.mark.parametrize(
    "odd",
    [{"question": "?" * 3_000}, {"choices": [f"{n}" for n in range(50)]}, {"choices": ["x" * 300]}],
    ids=["long", "many-choices", "long-choice"],
)
async def test_a_question_that_nobody_could_read_goes_back_to_the_model(
    sqlite_store: SqlStore, clock: HandClock, odd: dict[str, Any]
) -> None:
    world = a_world(sqlite_store, clock, control("need_input", **{"question": "Which day?", **odd}), done(n=1))
    report = await world.run(world.order(THINK))
    assert report.state is OrderState.DONE
    assert "too long for a person" in model_of(world).told[0]["content"]


async def test_choices_that_are_blank_or_stand_twice_are_left_out(sqlite_store: SqlStore, clock: HandClock) -> None:
    odd = control("need_input", question="Which day?", choices=["", " ", "Friday", "Friday ", "Monday"])
    world = a_world(sqlite_store, clock, odd, done(n=1))
    (asked,) = (await world.run(world.order(THINK))).waiting_for
    (event,) = await sqlite_store.ledger.read(asked)
    data: Any = event.data
    assert data["question"]["choices"] == ["Friday", "Monday"]
