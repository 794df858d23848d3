"""Cancelling reaches everything below: programs in slots, orders of orders, cards; what was done is taken back."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from console.application import SiliconApplication
from console.views import RunOptions
from contracts import ExecutionId, OrderState
from runtime.errors import BusinessRefusal
from tests.crash.office import Office, desk, faults, ignore, office
from tests.crash.person import ask_desk

__all__ = ["desk", "office"]
pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]
REACHED = timedelta(seconds=2)


async def questions(application: SiliconApplication) -> Any:
    return await application.questions()


async def test_a_cancel_from_another_process_ends_everything_within_two_seconds(office: Office) -> None:
    """A machine that is busy with something else may take longer once."""
    took = await cancel_from_another_process(office)
    for _ in range(2):
        if took >= REACHED:
            ask_desk(office.desk, "/begin", {})
            took = await cancel_from_another_process(office)

    assert took < REACHED


async def cancel_from_another_process(office: Office) -> timedelta:
    """Cancel an execution, see that everything below ended, and return how long that took."""
    async with office.process() as application, office.process() as other:
        execution_id = (await office.begin(application)).execution_id
        running = asyncio.ensure_future(application.resume(execution_id, watch=ignore))
        await office.until_the_program_runs()
        assert "sleep" in [program.name() for program in office.programs()]

        told = await other.cancel(execution_id, by="ann")
        outcome = await running

        assert (told.state, outcome.state) == (OrderState.RUNNING, OrderState.CANCELLED)
        assert office.programs() == []
        assert office.paid() == ["/payments", "/payments", "/payments/back", "/payments/back"]
        assert await _taken_back(application, execution_id) == [2, 1]
        assert await faults(other) == ()
        assert await questions(other) == []
        return await _reached_after(application, execution_id)


async def test_a_second_cancel_changes_nothing(office: Office) -> None:
    async with office.process() as application, office.process() as other:
        execution_id = (await office.begin(application)).execution_id
        running = asyncio.ensure_future(application.resume(execution_id, watch=ignore))
        await office.until_the_program_runs()

        await asyncio.gather(*(other.cancel(execution_id, by="ann") for _ in range(3)))
        outcome = await running
        again = await other.cancel(execution_id, by="ann")

        events = [event.type async for event in application.events(execution_id, after=0, follow=False)]
        assert outcome.state is again.state is OrderState.CANCELLED
        assert events.count("execution.cancel_requested") == 1
        assert events.count("execution.finished") == 1
        assert office.paid().count("/payments/back") == 2


async def test_a_cancel_while_effects_are_taken_back_does_not_disturb_that(office: Office) -> None:
    async with office.process() as application, office.process() as other:
        execution_id = (await office.begin(application)).execution_id
        running = asyncio.ensure_future(application.resume(execution_id, watch=ignore))
        await office.until_the_program_runs()
        ask_desk(office.desk, "/hold", {"path": "/payments/back"})
        await other.cancel(execution_id, by="ann")
        await asyncio.to_thread(ask_desk, office.desk, "/await/payments/back")

        again = await other.cancel(execution_id, by="ann")
        ask_desk(office.desk, "/hold", {"path": ""})
        outcome = await running

        assert (again.state, outcome.state) == (OrderState.RUNNING, OrderState.CANCELLED)
        assert office.paid() == ["/payments", "/payments", "/payments/back", "/payments/back"]
        assert await faults(other) == ()


async def test_an_execution_that_waits_is_cancelled_by_whoever_asks_for_it(office: Office) -> None:
    async with office.process() as application:
        options = RunOptions(goal="Try it.", skill="try-out", by="ann")
        waiting = await application.run(office.folder, options, watch=ignore)
        await office.approve(application, waiting)
        waiting = await application.resume(waiting.execution_id, watch=ignore)

        outcome = await application.cancel(waiting.execution_id, by="ann")

        assert (waiting.state, outcome.state) == (OrderState.WAITING, OrderState.CANCELLED)
        assert office.paid() == ["/payments", "/payments/back"]
        with pytest.raises(BusinessRefusal, match="withdrawn"):
            await application.decide(waiting.cards[0].card.card_id, option="do", reason="", by="bea")
        assert await faults(application) == ()


async def test_one_branch_is_cancelled_and_its_sibling_waits_on(office: Office) -> None:
    async with office.process() as application, office.process() as other:
        execution_id = (await office.begin(application)).execution_id
        running = asyncio.ensure_future(application.resume(execution_id, watch=ignore))
        await office.until_the_program_runs()

        await other.cancel(execution_id, by="ann", branch="long/both/program")
        async with asyncio.timeout(60):
            waiting = await running

        assert waiting.state is OrderState.WAITING
        assert office.programs() == []
        await other.answer(waiting.questions[0].question_id, "yes", by="ann")
        done = await other.resume(execution_id, watch=ignore)
        assert (done.state, done.output) == (OrderState.DONE, {"word": "yes", "program": "CANCELLED"})
        assert office.paid() == ["/payments", "/payments"]


async def test_a_branch_that_waits_is_cancelled_with_its_question(office: Office) -> None:
    async with office.process() as application, office.process() as other:
        execution_id = (await office.begin(application)).execution_id
        running = asyncio.ensure_future(application.resume(execution_id, watch=ignore))
        await office.until_the_program_runs()
        for branch in ("long/both/program", "long/both/word"):
            await other.cancel(execution_id, by="ann", branch=branch)
        async with asyncio.timeout(60):
            outcome = await running

        assert outcome.error is not None
        assert await questions(other) == []


async def test_a_branch_that_there_is_not_is_refused_with_those_that_there_are(office: Office) -> None:
    from runtime.errors import NotFound

    async with office.process() as application:
        outcome = await office.begin(application)

        with pytest.raises(NotFound, match="long/both/program, long/both/word"):
            await application.cancel(outcome.execution_id, by="ann", branch="both/word")


async def _reached_after(application: SiliconApplication, execution_id: ExecutionId) -> timedelta:
    """Return how long everything below went on; what was done is taken back once all of it has stopped."""
    times: dict[str, datetime] = {}
    async for event in application.events(execution_id, after=0, follow=False):
        times.setdefault(event.type, event.time)
    return times["compensation.intended"] - times["execution.cancel_requested"]


async def _taken_back(application: SiliconApplication, execution_id: ExecutionId) -> list[Any]:
    return [
        event.data["arguments"]["amount"]  # type: ignore[index,call-overload]
        async for event in application.events(execution_id, after=0, follow=False)
        if event.type == "compensation.intended" and event.data
    ]
