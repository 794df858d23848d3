"""A week of an organisation, the clock moved by hand: goals advance, meta work is bounded, nobody wakes itself."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from console.application import SiliconApplication
from console.beats.beat import Beat
from console.resources import Resources
from contracts import OrderState
from tests.console.beats.desk import cron, executions, make_desk, served, work_off
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio
HOUR_S = 3_600
TOLD = ("goal", "meta", "refused", "rounds")
STATUS = """\
on: notification.sent
raises: {skill: tell, goal: "Say that {{ subject }} was said", advances: order}
"""
FAILURES = """\
on: execution.finished
when: data.report.state == 'done'
key: "{{ event }}"
raises: {skill: audit, goal: "Look into {{ subject }}", advances: nothing}
"""


async def live(beat: Beat, resources: Resources, clock: HandClock, *, days: int) -> None:
    """Let days pass: a turn every ten minutes, the work of each hour at its end."""
    for _ in range(days * 24):
        for _ in range(6):
            clock.advance(HOUR_S / 6)
            await beat.go()
        await work_off(resources)


async def test_a_chief_that_audits_every_hour_does_not_drown_the_goal(tmp_path: Path) -> None:
    clock = HandClock(datetime(2026, 11, 30, 0, 5, tzinfo=UTC))
    desk = make_desk(
        tmp_path / "desk",
        daily=cron("0 7 * * *"),
        audits=cron("30 * * * *", skill="audit", advances="nothing"),
        status=STATUS,
        failures=FAILURES,
    )
    async with served(tmp_path / "home", clock) as resources:
        beat = Beat(resources, desk)
        await beat.go()
        await live(beat, resources, clock, days=7)
        views = await executions(resources)
        application = SiliconApplication(resources)
        standing = await application.heartbeat(desk)
        rows = {row.name: row for row in await application.sensors(desk)}
        repeated = await (await resources.store()).ledger.verify()

    total = {name: sum(getattr(day, name) for day in standing.by_day.values()) for name in TOLD}
    asked = [view.request.requested_by for view in views]
    assert {view.report.state for view in views if view.report} == {OrderState.DONE}
    # the goal is advanced each day, and the audits are refused once there were enough of them
    assert asked.count("sensor/daily") == 7
    assert asked.count("sensor/audits") + asked.count("sensor/failures") == 10 == total["meta"]
    assert total["goal"] == 7 and standing.meta_most == 10
    assert total["refused"] >= 7 * 24 - 10
    assert rows["audits"].last_failure is not None
    assert rows["audits"].last_failure.problem.code == "META_BOUND"
    assert "10 are allowed" in rows["audits"].last_failure.problem.message
    # the head posts a status with each of its works and is never woken by it (O3)
    assert asked.count("sensor/status") == 0
    assert rows["status"].held_back == 17 and "head took part" in rows["status"].held_back_for
    # quiet looks are counted and not recorded; a round is recorded for each time that there was something to say
    assert total["rounds"] == asked.count("heartbeat/desk") <= 20
    assert standing.quiet > 900
    assert repeated == []


async def test_more_that_advances_goals_makes_room_for_more_meta_work(tmp_path: Path) -> None:
    clock = HandClock(datetime(2026, 11, 30, 0, 5, tzinfo=UTC))
    desk = make_desk(
        tmp_path / "desk",
        hourly=cron("0 * * * *"),
        audits=cron("30 * * * *", skill="audit", advances="nothing"),
    )
    settings = {"heartbeat.meta_least": 0, "heartbeat.meta_share": 0.25, "heartbeat.window_days": 1}
    async with served(tmp_path / "home", clock, **settings) as resources:
        beat = Beat(resources, desk)
        await beat.go()
        for _ in range(23 * 6):
            clock.advance(HOUR_S / 6)
            await beat.go()
        standing = await SiliconApplication(resources).heartbeat(desk)

    assert (standing.work.goal, standing.work.meta, standing.work.refused) == (23, 5, 18)


async def test_counts_that_were_lost_are_counted_again_from_the_events(tmp_path: Path) -> None:
    clock = HandClock(datetime(2026, 11, 30, 0, 5, tzinfo=UTC))
    desk = make_desk(tmp_path / "desk", hourly=cron("0 * * * *"))
    async with served(tmp_path / "home", clock) as resources:
        beat = Beat(resources, desk)
        await beat.go()
        await live(beat, resources, clock, days=1)
        first = await SiliconApplication(resources).heartbeat(desk)
        ledger = (await resources.store()).ledger
        assert [cursor.name for cursor in await ledger.cursors("work/")] == []  # nothing was stored so far
        again = await SiliconApplication(resources).heartbeat(desk)

    assert first.work == again.work and first.work.goal == 24 == first.work.goal_orders
