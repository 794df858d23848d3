"""Following the events of one execution ends with it, wherever one begins, and not before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from console.application import open_application
from console.ports import Application
from console.starter.make import GOAL, make
from console.views import RunOptions
from contracts import Event, ExecutionId
from runtime.settings.load import load

pytestmark = pytest.mark.anyio
TWO_STEPS = """\
steps:
  - {id: a, use: blackboard.write, with: {key: a, value: 1}}
  - {id: b, use: blackboard.write, with: {key: b, value: 1}, after: [a]}
"""


def ignore(event: Event) -> None:
    """Nobody watches."""


@pytest.fixture
async def application(tmp_path: Path) -> AsyncIterator[Application]:
    make(tmp_path / "bakery")
    async with open_application(load({"home": str(tmp_path / "home")}, working=tmp_path)) as application:
        yield application


async def followed(application: Application, execution_id: ExecutionId, *, after: int = 0) -> list[Event]:
    async with asyncio.timeout(20):
        return [event async for event in application.events(execution_id, after=after, follow=True)]


async def test_of_one_that_has_ended_what_is_there_is_told_and_no_more_is_waited_for(
    application: Application, tmp_path: Path
) -> None:
    execution_id = (await application.submit(tmp_path / "bakery", RunOptions(GOAL))).execution_id
    await application.cancel(execution_id, by="owner")

    events = await followed(application, execution_id)
    assert [event.type for event in events][-1] == "execution.finished"
    assert await followed(application, execution_id, after=events[-1].position) == []


async def test_one_that_was_imported_before_it_had_ended_is_told_to_its_end(
    application: Application, tmp_path: Path
) -> None:
    execution_id = (await application.submit(tmp_path / "bakery", RunOptions(GOAL))).execution_id
    await application.export_execution(execution_id, tmp_path / "run.gz")
    async with open_application(load({"home": str(tmp_path / "other")}, working=tmp_path)) as other:
        await other.import_execution(tmp_path / "run.gz")

        assert [event.type for event in await followed(other, execution_id)] == [
            "execution.requested",
            "execution.imported",
        ]


async def test_one_that_failed_and_goes_on_is_followed_beyond_its_failure(
    application: Application, tmp_path: Path
) -> None:
    skill = tmp_path / "bakery" / "skills" / "review-week"
    (skill / "plan.yaml").write_text(TWO_STEPS)
    (skill / "options.yaml").unlink()
    options = RunOptions(GOAL, budget={"steps": "1"})
    failed = await application.run(tmp_path / "bakery", options, watch=ignore)
    await application.request_resume(failed.execution_id, by="owner", budget={"steps": "5"})
    told: list[str] = []
    async with asyncio.timeout(20), aclosing(application.events(failed.execution_id, after=0, follow=True)) as events:
        async for event in events:
            told.append(event.type)
            if event.type == "execution.reopened":
                await application.resume(failed.execution_id, watch=ignore)

    assert told.count("execution.finished") == 2 and told[-1] == "execution.finished"
