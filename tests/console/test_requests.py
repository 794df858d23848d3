"""What is only recorded: to stop, to go on. And where an organisation lives."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from console.application import open_application
from console.ports import Application
from console.starter.make import GOAL, make
from console.views import RunOptions
from contracts import Event, ExecutionId, OrderState
from governance.errors import NobodyActs
from runtime.errors import NotFound, PermissionRefused
from runtime.settings.load import load

pytestmark = pytest.mark.anyio


def ignore(event: Event) -> None:
    """Nobody watches."""


@pytest.fixture
async def application(tmp_path: Path) -> AsyncIterator[Application]:
    make(tmp_path / "bakery")
    async with open_application(load({"home": str(tmp_path / "home")}, working=tmp_path)) as application:
        yield application


async def types(application: Application, execution_id: ExecutionId) -> list[str]:
    events = [event async for event in application.events(execution_id, after=0, follow=False)]
    return [event.type for event in events if event.subject == execution_id]


async def test_a_request_to_stop_is_recorded_and_carried_out_by_the_next_who_takes_it_up(
    application: Application, tmp_path: Path
) -> None:
    execution_id = (await application.submit(tmp_path / "bakery", RunOptions(GOAL))).execution_id

    await application.request_cancel(execution_id, by="owner")

    assert (await types(application, execution_id))[-1] == "execution.cancel_requested"
    assert (await application.resume(execution_id, watch=ignore)).state is OrderState.CANCELLED


GROUP = """\
steps:
  - id: group
    parallel:
      - {id: quick, use: blackboard.write, with: {key: a, value: 1}}
      - {id: slow, ask: {text: Which day?, who: owner}}
"""


async def test_a_branch_that_has_ended_is_not_said_to_be_cancelled(application: Application, tmp_path: Path) -> None:
    skill = tmp_path / "bakery" / "skills" / "review-week"
    (skill / "plan.yaml").write_text(GROUP)
    (skill / "options.yaml").unlink()
    execution_id = (await application.run(tmp_path / "bakery", RunOptions(GOAL), watch=ignore)).execution_id

    quick = await application.cancel(execution_id, by="owner", branch="group/quick")
    await application.request_cancel(execution_id, by="owner", branch="group/quick")
    before = await types(application, execution_id)
    slow = await application.cancel(execution_id, by="owner", branch="group/slow")
    again = await application.cancel(execution_id, by="owner", branch="group/slow")

    assert "branch.cancel_requested" not in before
    assert [(each.branch_ended, each.state) for each in (quick, slow, again)] == [
        (True, OrderState.WAITING),
        (False, OrderState.DONE),
        (True, OrderState.DONE),
    ]


async def test_who_may_only_look_requests_nothing(application: Application, tmp_path: Path) -> None:
    people = tmp_path / "bakery" / "org.yaml"
    execution_id = (await application.submit(tmp_path / "bakery", RunOptions(GOAL))).execution_id
    viewer = "  - {id: guest, name: A guest, roles: [viewer], groups: []}\n"
    people.write_text(people.read_text().replace("people:\n", f"people:\n{viewer}"))

    for request in (application.request_cancel, application.request_resume):
        with pytest.raises(PermissionRefused):
            await request(execution_id, by="guest")

    assert await types(application, execution_id) == ["execution.requested"]


@pytest.mark.parametrize("by", ["guest", "nobody-at-all"])
async def test_who_may_not_act_lets_no_execution_go_on(application: Application, tmp_path: Path, by: str) -> None:
    people = tmp_path / "bakery" / "org.yaml"
    execution_id = (await application.submit(tmp_path / "bakery", RunOptions(GOAL))).execution_id
    viewer = "  - {id: guest, name: A guest, roles: [viewer], groups: []}\n"
    people.write_text(people.read_text().replace("people:\n", f"people:\n{viewer}"))

    with pytest.raises((PermissionRefused, NobodyActs)):
        await application.resume(execution_id, watch=ignore, by=by)

    assert await types(application, execution_id) == ["execution.requested"]


async def test_an_organisation_is_where_it_was_last_run_from(application: Application, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="There is no organisation bakery here"):
        await application.home_of("bakery")

    await application.submit(tmp_path / "bakery", RunOptions(GOAL))

    assert await application.home_of("bakery") == tmp_path / "bakery"
