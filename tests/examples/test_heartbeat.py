"""The example watches itself: one look at the evening of the storm, and one goal comes of all that is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.beats.beat import Beat
from contracts import OrderState
from tests.console.beats.desk import executions, served, work_off
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio
FOLDER = Path(__file__).parents[2] / "examples" / "three_airports"


async def test_of_all_that_is_noticed_one_thing_is_seen_to(tmp_path: Path) -> None:
    clock = HandClock()
    async with served(tmp_path / "home", clock) as resources:
        beat = Beat(resources, FOLDER)
        for _ in range(3):
            await beat.go()
            clock.advance(61)
        await work_off(resources)
        for _ in range(3):
            clock.advance(61)
            await beat.go()
        views = await executions(resources)
        await beat.close()

    round_, begun = views
    assert round_.report is not None and round_.report.state is OrderState.DONE
    assert isinstance(round_.report.output, dict)
    assert {held["why"] for held in round_.report.output["held"]} == {"inhibited"}  # type: ignore[index,union-attr]
    assert begun.request.goal == "Explain the cancellations of 2013-02-08"
    assert begun.request.advances == "cancel-rate" and begun.request.caused_by == ("sensor/cancellations-of-the-day",)
