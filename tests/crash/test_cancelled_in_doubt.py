"""A cancel that comes in the middle of an effect: found out about, by look-up or by people, and taken back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from console.application import SiliconApplication
from console.views import ExecutionOutcome, RunOptions, StepNode
from contracts import OrderState
from runtime.errors import BusinessRefusal
from tests.crash.office import Office, desk, faults, ignore, office
from tests.crash.person import ask_desk

__all__ = ["desk", "office"]
pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]
QUICK = {"executor.cancel_grace_s": 0.1, "engine.settle_s": 1.0}
PLAN = """
steps:
  - {id: pay, by: payer, use: desk.pay, with: {amount: 1}, compensate: {use: desk.take_back, with: {amount: 1}}}
  - id: letter
    after: [pay]
    by: payer
    use: desk.tell
    with: {amount: 2}
    compensate: {use: desk.take_back, with: {amount: 2}}
"""


@asynccontextmanager
async def cancelled_during(office: Office, path: str) -> AsyncIterator[tuple[SiliconApplication, asyncio.Future[Any]]]:
    """Give an execution that was just cancelled while the service is at work on a call of that path."""
    office.settings = QUICK
    (office.folder / "skills" / "work-long" / "plan.yaml").write_text(PLAN)
    async with office.process() as application, office.process() as other:
        waiting = await application.run(
            office.folder, RunOptions(goal="Try it.", skill="try-out", by="ann"), watch=ignore
        )
        if path == "/letters":
            await office.approve(application, waiting)
            waiting = await application.resume(waiting.execution_id, watch=ignore)
        ask_desk(office.desk, "/hold", {"path": path})
        await office.approve(application, waiting)
        running = asyncio.ensure_future(application.resume(waiting.execution_id, watch=ignore))
        await asyncio.to_thread(ask_desk, office.desk, f"/await{path}")
        await other.cancel(waiting.execution_id, by="ann")
        yield application, running


async def test_a_payment_that_the_service_makes_after_the_cancel_is_taken_back(office: Office) -> None:
    async with cancelled_during(office, "/payments") as (application, running):
        await asyncio.to_thread(ask_desk, office.desk, "/await/effects")
        ask_desk(office.desk, "/hold", {"path": ""})
        outcome = await running

        assert outcome.state is OrderState.CANCELLED
        assert office.paid() == ["/payments", "/payments/back"]
        assert await faults(application) == ()


@pytest.mark.parametrize("option", ["happened", "not_happened", "stop"])
async def test_a_letter_of_which_only_people_can_tell_waits_for_them_and_what_they_say_follows(
    office: Office, option: str
) -> None:
    async with cancelled_during(office, "/letters") as (application, running):
        waiting: ExecutionOutcome = await running
        (standing,) = waiting.cards
        again = await application.cancel(waiting.execution_id, by="ann")
        before = office.paid()
        await application.decide(standing.card.card_id, option=option, reason="", by="bea")
        outcome = await application.resume(waiting.execution_id, watch=ignore)

        assert (waiting.state, again.state, outcome.state) == (
            OrderState.WAITING,
            OrderState.WAITING,
            OrderState.CANCELLED,
        )
        assert before == ["/payments", "/payments/back"]
        assert office.paid() == [*before, *(["/payments/back"] if option == "happened" else [])]
        assert outcome.error is not None and (f"({standing.card.card_id})" in outcome.error.message) is (
            option == "stop"
        )
        assert [step for step in await steps_of(application, outcome) if step.waiting_for] == []
        assert await faults(application) == ()
        ask_desk(office.desk, "/hold", {"path": ""})


async def test_nothing_is_promised_of_cancelled_work_before_somebody_has_ended_it(office: Office) -> None:
    async with office.process() as application:
        waiting = await application.run(
            office.folder, RunOptions(goal="Try it.", skill="try-out", by="ann"), watch=ignore
        )
        await application.request_cancel(waiting.execution_id, by="ann")
        (standing,) = waiting.cards

        with pytest.raises(BusinessRefusal, match=r"was cancelled: do on .* would not be carried out"):
            await application.decide(standing.card.card_id, option="do", reason="", by="bea")


async def steps_of(application: SiliconApplication, outcome: ExecutionOutcome) -> list[StepNode]:
    """Return every step that `silicon show` shows."""
    root = (await application.show(outcome.execution_id)).root
    left, found = list(root.steps) if root else [], []
    while left:
        step = left.pop()
        found.append(step)
        left += [*step.steps, *(inner for order in step.orders for inner in order.steps)]
    return found
