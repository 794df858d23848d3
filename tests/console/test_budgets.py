"""An execution that reached its budget goes on with another one, whoever takes it up, and does nothing twice."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from console.application import open_application
from console.extending import BudgetRefused
from console.ports import Application
from console.views import RunOptions
from contracts import Event, ExecutionId, OrderState
from runtime.errors import InvalidArguments
from runtime.settings.load import load

pytestmark = pytest.mark.anyio
ORG = """\
name: desk
title: The desk
time_zone: Europe/Berlin
budget: {steps: 10}
approvals: {default: {who: duty}}
people:
  - {id: boss, name: Bo, roles: [approver], groups: [duty]}
  - {id: planner, name: Robin, roles: [operator], login: any}
head:
  id: head
  title: Head
  skills: [both]
  manages:
    - {id: clerk, title: Clerk, skills: [three]}
"""
SKILL = """\
---
name: {name}
description: Notes things down.
metadata: {{when_to_use: Somebody wants {name}., words: "{name}"}}
---
Notes things down.
"""
BOTH = """\
steps:
  - {id: first, use: blackboard.write, with: {key: first, value: 1}}
  - {id: below, by: clerk, skill: three, after: [first]}
  - {id: last, use: blackboard.write, with: {key: last, value: 1}, after: [below]}
"""
THREE = """\
steps:
  - {id: a, use: blackboard.write, with: {key: a, value: 1}}
  - {id: b, use: blackboard.write, with: {key: b, value: 1}, after: [a]}
  - {id: c, use: blackboard.write, with: {key: c, value: 1}, after: [b]}
"""


def ignore(event: Event) -> None:
    """Nobody watches."""


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    folder = tmp_path / "desk"
    for name, plan in (("both", BOTH), ("three", THREE)):
        skill = folder / "skills" / name
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text(SKILL.format(name=name))
        (skill / "plan.yaml").write_text(plan)
    (folder / "org.yaml").write_text(ORG)
    return folder


@pytest.fixture
async def application(tmp_path: Path) -> AsyncIterator[Application]:
    async with open_application(load({"home": str(tmp_path / "home")}, working=tmp_path)) as application:
        yield application


async def finished(application: Application, execution_id: ExecutionId) -> list[str]:
    events = [event async for event in application.events(execution_id, after=0, follow=False)]
    return [str((event.data or {})["step"]) for event in events if event.type == "step.finished"]


async def stopped(application: Application, desk: Path, steps: int) -> ExecutionId:
    outcome = await application.run(desk, RunOptions("both", budget={"steps": str(steps)}), watch=ignore)
    assert outcome.error is not None and outcome.error.code == "BUDGET_EXCEEDED"
    assert "`silicon resume` takes --budget-steps" in outcome.error.message
    return outcome.execution_id


async def test_with_a_larger_budget_the_rest_goes_on_also_in_orders_below(application: Application, desk: Path) -> None:
    execution_id = await stopped(application, desk, 2)

    outcome = await application.resume(execution_id, watch=ignore, budget={"steps": "9"})

    assert outcome.state is OrderState.DONE, outcome.error
    assert await finished(application, execution_id) == ["first", "a", "b", "c", "below", "last"]


async def test_the_new_budget_is_recorded_so_that_whoever_takes_it_up_has_it(
    application: Application, desk: Path, tmp_path: Path
) -> None:
    execution_id = await stopped(application, desk, 2)

    await application.request_resume(execution_id, by="planner", budget={"steps": "4"})

    async with open_application(load({"home": str(tmp_path / "home")}, working=tmp_path)) as another:
        again = await another.resume(execution_id, watch=ignore)
    events = [event async for event in application.events(execution_id, after=0, follow=False)]
    (reopened,) = [event for event in events if event.type == "execution.reopened"]
    assert reopened.data == {"by": "planner", "budget": {"schema_version": "1.0", "steps": 4}}
    assert again.error is not None and (again.error.facts["limit"], again.error.facts["most"]) == ("steps", "4")
    assert (await application.resume(execution_id, watch=ignore, budget={"steps": "10"})).state is OrderState.DONE
    assert await finished(application, execution_id) == ["first", "a", "b", "c", "below", "last"]


@pytest.mark.parametrize(
    ("budget", "why"),
    [
        ({"steps": "1"}, "Give it more than"),
        ({"seconds": "9"}, "would get 2"),  # the limit of steps stays as it was
        ({"steps": "many"}, "cannot be read"),
    ],
)
async def test_a_budget_with_which_nothing_could_go_on_is_refused_and_changes_nothing(
    application: Application, desk: Path, budget: dict[str, str], why: str
) -> None:
    execution_id = await stopped(application, desk, 2)
    before = await application.head()

    with pytest.raises((BudgetRefused, InvalidArguments), match=why):
        await application.resume(execution_id, watch=ignore, budget=budget)

    assert await application.head() == before


async def test_no_request_goes_past_what_the_organisation_allows(application: Application, desk: Path) -> None:
    org = desk / "org.yaml"
    org.write_text(org.read_text().replace("steps: 10", "steps: 2"))
    for skill, unsure in (("both", ("last",)), ("three", ("b", "c"))):  # what may be skipped: two steps can suffice
        plan = desk / "skills" / skill / "plan.yaml"
        for step in unsure:
            plan.write_text(plan.read_text().replace(f"id: {step},", f'id: {step}, when: "known_at.size() > 0",'))
    execution_id = await stopped(application, desk, 5)

    with pytest.raises(BudgetRefused, match="The organisation allows no more"):
        await application.resume(execution_id, watch=ignore, budget={"steps": "50"})


async def test_one_that_has_not_stopped_gets_no_other_budget(application: Application, desk: Path) -> None:
    done = (await application.run(desk, RunOptions("both"), watch=ignore)).execution_id
    asked = (await application.submit(desk, RunOptions("both"))).execution_id

    with pytest.raises(BudgetRefused, match="has ended as done"):
        await application.resume(done, watch=ignore, budget={"steps": "9"})
    with pytest.raises(BudgetRefused, match="is requested"):
        await application.request_resume(asked, by=None, budget={"steps": "9"})
