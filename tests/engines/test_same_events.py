"""Both engines give the same events and the same products."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from console.application import SiliconApplication
from console.views import ExecutionOutcome, RunOptions
from contracts import Event, OrderState
from tests.crash.lives import copy_organisation
from tests.crash.office import Office, faults, ignore
from tests.crash.person import ask_desk
from tests.engines.alike import differences
from tests.engines.conftest import ON_RAY

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]


async def close_the_month(office: Office) -> tuple[list[Event], ExecutionOutcome, dict[str, bytes], list[str]]:
    """Have the month closed by everybody who takes part, and return all that can be seen of it."""
    ask_desk(office.desk, "/begin", {})
    async with office.process() as application:
        outcome = await _seen_through(application, office)
        assert await faults(application) == ()
        events = [event async for event in application.events(outcome.execution_id, after=0, follow=False)]
        products = {product.title: product.path.read_bytes() for product in outcome.products if product.path}
        return events, outcome, products, sorted(call["path"] for call in ask_desk(office.desk, "/log"))


async def _seen_through(application: SiliconApplication, office: Office) -> ExecutionOutcome:
    options = RunOptions(goal="Close the month.", skill="close-month", by="ann")
    outcome = await application.run(office.folder, options, watch=ignore)
    while outcome.state is OrderState.WAITING:
        for question in outcome.questions:
            await application.answer(question.question_id, "all", by="ann")
        for standing in outcome.cards:
            await application.decide(standing.card.card_id, option="pay", reason="", by="bea")
        outcome = await application.resume(outcome.execution_id, watch=ignore)
    return outcome


async def test_the_counting_house_tells_the_same_on_both_engines(tmp_path: Path, desk: int, ray_cluster: Any) -> None:
    copy_organisation(tmp_path / "organisation", desk)
    inline = await close_the_month(Office(tmp_path / "one", tmp_path / "organisation", desk))

    on_ray = await close_the_month(Office(tmp_path / "two", tmp_path / "organisation", desk, settings=dict(ON_RAY)))

    assert on_ray[1].state is inline[1].state is OrderState.DONE
    found = differences(inline[0], on_ray[0])
    assert found == [], "\n".join(found)
    assert on_ray[1].output == inline[1].output
    assert on_ray[2:] == inline[2:]
