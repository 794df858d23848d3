"""X3: of a run that a sensor started nobody is there to say the job again: compaction must not swallow it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from contracts import OrderState
from runtime.ledger.store import SqlStore
from runtime.model.port import ModelAnswer, ModelRequest
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import calls, done

pytestmark = pytest.mark.anyio
TURNS = 30
JOB = "Find out why cancelled flights at EWR went over 5 percent on 2013-02-08."
TASK = "Look at every hour of the day, one after the other."
THINK: dict[str, Any] = {
    "id": "think", "react": TASK, "tools": ["look"], "gives": {"n": "integer"}, "iterations": TURNS + 3,
}  # fmt: skip


class Looker:
    """Looks as often as it may, then ends as it is told, and keeps what it was sent."""

    def __init__(self, *last: ModelAnswer) -> None:
        self.requests: list[ModelRequest] = []
        self._last = list(last)

    def room(self, role: str) -> int:
        return 20_000

    def name_of(self, role: str) -> str:
        return "gpt-4o"

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        if request.role == "summarise":
            return ModelAnswer("", facts={"usage_estimated": True})
        self.requests.append(request)
        turn = len(self.requests)
        answer = calls(("look", {"hour": turn})) if turn <= TURNS else self._last.pop(0)
        return replace(answer, facts={"usage_estimated": True})


async def ran(store: SqlStore, clock: HandClock, model: Looker) -> tuple[World, Any, Any]:
    told = "Ninety flights were late by an hour. " * 150
    world = World(store, clock, Tool("look", lambda a, c: {"hour": a["hour"], "note": told}))
    world.model = model  # type: ignore[assignment]
    order = world.order(THINK).model_copy(update={"requested_by": "sensor/cancellations", "objective": JOB})
    return world, order, await world.run(order)


async def test_the_job_stands_in_every_request_however_often_it_was_compacted(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    model = Looker(done(n=TURNS))
    world, order, report = await ran(sqlite_store, clock, model)

    assert (report.state, report.output) == (OrderState.DONE, {"n": TURNS}), report.error
    assert (await world.kinds(order)).count("context.compacted") >= 2
    for request in model.requests:
        said = [str(message["content"]) for message in request.messages]
        assert any(JOB in each for each in said) and any(TASK in each for each in said)
        assert any(message["role"] == "user" for message in request.messages)


async def test_a_model_that_answers_nothing_after_it_was_not_successful(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    silence = [ModelAnswer("", facts={"usage_estimated": True}) for _ in range(5)]
    world, order, report = await ran(sqlite_store, clock, Looker(*silence))

    assert (await world.kinds(order)).count("context.compacted") >= 2
    assert report.state is OrderState.FAILED and report.output is None
