"""The example organisation comes to the same on Ray as inline, whatever its people ask of it and decide."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from console.application import SiliconApplication
from console.resources import Resources
from console.views import ExecutionOutcome, RunOptions
from contracts import Event, OrderState
from runtime.settings.load import load
from tests.crash.office import faults, ignore
from tests.engines.alike import differences, text_alike
from tests.examples.conftest import GOAL, ROOT, Desk, example

__all__ = ["example"]
pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300), pytest.mark.thorough]


@dataclass
class Department:
    """The operations department under one of the engines."""

    application: SiliconApplication
    folder: Path
    desk: Desk
    """Knows what the service of the department did."""

    async def see_through(self, options: RunOptions, decided: str) -> tuple[ExecutionOutcome, list[Event]]:
        """Ask for a goal and decide every card by whoever may: that option where it is offered, else to do nothing."""
        outcome = await self.application.run(self.folder, options, watch=ignore)
        while outcome.state is OrderState.WAITING:
            for standing in outcome.cards:
                option = next((each.id for each in standing.card.options if each.id == decided), "nothing")
                await self.application.decide(
                    standing.card.card_id, option=option, reason="", by=standing.deciders[0]
                )  # fmt: skip
            outcome = await self.application.resume(outcome.execution_id, watch=ignore)
        return outcome, [e async for e in self.application.events(outcome.execution_id, after=0, follow=False)]


@pytest.fixture(scope="module")
async def departments(
    tmp_path_factory: pytest.TempPathFactory, example: Path, ray_cluster: Any
) -> AsyncIterator[list[Department]]:
    """The department under both engines, each with a ledger and a service of its own."""
    both, opened = [], []
    for engine in ("inline", "ray"):
        folder = tmp_path_factory.mktemp(engine)
        home = folder / ".silicon"
        resources = Resources(load({"home": str(home), "workforce.engine": engine, "ledger.synchronous": "NORMAL"}))
        opened.append(resources)
        both.append(Department(SiliconApplication(resources), example, Desk(folder, {"PYTHONPATH": str(ROOT)})))
    yield both
    for department, resources in zip(both, opened, strict=True):
        await resources.close()
        department.desk.stop_services()


_OF_A_RESULT = re.compile(r"(data|result) `[0-9a-f]{12}`")
"""Hashes in a list of sources, which differ where the service's own ids are part of what it gave."""


def _page(path: Path) -> str:
    return _OF_A_RESULT.sub(r"\1 <hash>", text_alike(path.read_text()))


GOALS = {
    "cancellations": (RunOptions(GOAL), "waive_and_notify"),
    "one carrier": (
        RunOptions(
            "Question the carrier", skill="question-carrier", given={"carrier": "AA", "day": "2013-04-16"},
            at=datetime(2013, 4, 17),
        ),
        "incident",
    ),
    "data quality": (RunOptions("Check the data quality", at=datetime(2013, 12, 31, 23)), "mark_bad"),
    "review": (RunOptions("Review the whole day", at=datetime(2013, 2, 12, 23)), "nothing"),
}  # fmt: skip


@pytest.mark.parametrize("goal", GOALS)
async def test_a_goal_comes_to_the_same(departments: list[Department], goal: str) -> None:
    options, decided = GOALS[goal]
    inline, on_ray = [await department.see_through(options, decided) for department in departments]

    assert inline[0].state is on_ray[0].state is OrderState.DONE, on_ray[0].error
    found = differences(inline[1], on_ray[1], shares=False)
    assert found == [], "\n".join(found)
    outputs = [text_alike(json.dumps(each.output, sort_keys=True)) for each in (inline[0], on_ray[0])]
    assert outputs[0] == outputs[1]
    pages = [
        {product.title: _page(product.path) for product in each.products if product.path}
        for each in (inline[0], on_ray[0])
    ]
    assert pages[0] == pages[1] != {}
    effects = [department.desk.effects() for department in departments]
    assert effects[0] == effects[1]


async def test_nothing_of_that_is_faulty(departments: list[Department]) -> None:
    assert [await faults(department.application) for department in departments] == [(), ()]
