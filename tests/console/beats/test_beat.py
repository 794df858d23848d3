"""One organisation under servers: what its sensors ask for is asked once, and by whoever's turn it is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from console.beats.beat import Beat
from console.beats.standings import sensor_rows
from console.resources import Resources
from contracts import OrderState
from runtime.errors import OrganisationFaulty
from tests.console.beats.desk import cron, executions, make_desk, served, watch, work_off
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio


@pytest.fixture
def clock() -> HandClock:
    return HandClock(datetime(2026, 12, 1, 5, 30, tzinfo=UTC))


@pytest.fixture
async def resources(tmp_path: Path, clock: HandClock) -> AsyncIterator[Resources]:
    async with served(tmp_path / "home", clock) as resources:
        yield resources


async def test_a_report_at_seven_is_asked_for_each_morning_and_carried_out(
    tmp_path: Path, clock: HandClock, resources: Resources
) -> None:
    desk = make_desk(tmp_path / "desk", morning=cron("0 7 * * *"))
    beat = Beat(resources, desk)
    await beat.go()
    await watch(beat, clock, hours=48)
    await work_off(resources)

    views = await executions(resources)
    assert [view.request.goal for view in views] == ["Do it at 07:00"] * 2
    assert [view.request.known_at for view in views] == [
        datetime(2026, 12, 1, 6, tzinfo=UTC), datetime(2026, 12, 2, 6, tzinfo=UTC),
    ]  # fmt: skip
    assert {view.request.requested_by for view in views} == {"sensor/morning"}
    assert {view.report.state for view in views if view.report} == {OrderState.DONE}


async def test_one_server_at_a_time_and_the_next_goes_on_when_it_dies(tmp_path: Path, clock: HandClock) -> None:
    desk = make_desk(tmp_path / "desk", hourly=cron("0 * * * *"))
    async with served(tmp_path / "home", clock) as one, served(tmp_path / "home", clock) as two:
        first, second = Beat(one, desk, holder="one"), Beat(two, desk, holder="two")
        assert await first.go() and not await second.go()
        clock.advance(1_800)
        assert await second.go() and not await first.go()  # the lease of the first has run out
        clock.advance(3_600)
        assert await first.go() and not await second.go()
        assert len(await executions(one)) == 2


async def test_sensors_that_ask_at_the_same_moment_keep_to_the_bound_of_meta_work_together(
    tmp_path: Path, clock: HandClock
) -> None:
    audits = {f"audit_{number}": cron("0 7 * * *", skill="audit", advances="nothing") for number in range(5)}
    desk = make_desk(tmp_path / "desk", **audits)
    async with served(tmp_path / "home", clock, **{"heartbeat.meta_least": 2, "heartbeat.meta_share": 0}) as resources:
        beat = Beat(resources, desk)
        await beat.go()
        await watch(beat, clock, hours=3)

        asked = [view.request.requested_by for view in await executions(resources)]

    assert sum(name.startswith("sensor/") for name in asked) == 2


async def test_given_back_the_turn_is_taken_at_once(tmp_path: Path, clock: HandClock) -> None:
    desk = make_desk(tmp_path / "desk", hourly=cron("0 * * * *"))
    async with served(tmp_path / "home", clock) as one, served(tmp_path / "home", clock) as two:
        first, second = Beat(one, desk, holder="one"), Beat(two, desk, holder="two")
        assert await first.go()
        await first.close()
        assert await second.go()


async def test_where_the_clock_stands_no_time_comes(tmp_path: Path, clock: HandClock, resources: Resources) -> None:
    desk = make_desk(tmp_path / "desk", 'clock: {stands_at: "2013-02-08T17:00"}\n', hourly=cron("0 * * * *"))
    beat = Beat(resources, desk)
    await beat.go()
    await watch(beat, clock, hours=5)

    assert await executions(resources) == []


async def test_a_faulty_folder_is_told_and_what_was_due_is_made_up_for_once_it_is_mended(
    tmp_path: Path, clock: HandClock, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.beats.beat.READ_S", 0.0)
    desk = make_desk(tmp_path / "desk", hourly=cron("0 * * * *", more="catch_up: all\n"))
    beat = Beat(resources, desk)
    await beat.go()
    whole = (desk / "org.yaml").read_text()
    (desk / "org.yaml").write_text("name: [\n")
    clock.advance(2 * 3_600)
    with pytest.raises(OrganisationFaulty):
        await beat.go()
    (desk / "org.yaml").write_text(whole)
    await beat.go()

    assert len(await executions(resources)) == 2


async def test_an_execution_that_ends_wakes_who_listens(tmp_path: Path, clock: HandClock, resources: Resources) -> None:
    listens = "on: execution.finished\nwhen: data.report.state == 'done'\nseverity: high\n"
    desk = make_desk(tmp_path / "desk", hourly=cron("0 * * * *"), ended=listens)
    beat = Beat(resources, desk)
    await beat.go()
    await watch(beat, clock, hours=1)
    await work_off(resources)
    await beat.go()

    events = await (await resources.store()).ledger.read("sensor/desk/ended")
    (raised,) = [event.data for event in events if event.type == "signal.raised"]
    (done,) = await executions(resources)
    assert raised is not None and raised["caused_by"] == ["sensor/hourly", str(done.execution_id)]


async def test_a_list_of_sensors_tells_when_each_is_due_and_when_it_last_was(
    tmp_path: Path, clock: HandClock, resources: Resources
) -> None:
    wrong = 'cron: "45 6 * * *"\nraises: {goal: "Fly to the moon {{ date }}", advances: order}\n'
    desk = make_desk(tmp_path / "desk", morning=cron("0 7 * * *"), wrong=wrong, ended="on: execution.finished\n")
    beat = Beat(resources, desk)
    await beat.go()
    clock.advance(3_600)
    await beat.go()
    organisation = (await resources.organisations()).read(desk)
    ledger = (await resources.store()).ledger
    ended, morning, failing = await sensor_rows(ledger, organisation, clock.now(), {})

    assert (ended.kind, ended.watches, ended.next_due) == ("event", "execution.finished", None)
    assert (morning.kind, morning.watches) == ("cron", "0 7 * * * Europe/Berlin")
    assert morning.rules == {"skipped": "after", "repeated": "first", "catch_up": "last"}
    assert morning.last_run == datetime(2026, 12, 1, 6, tzinfo=UTC)
    assert morning.next_due == datetime(2026, 12, 2, 6, tzinfo=UTC)
    assert morning.last_failure is None and failing.last_failure is not None
    assert "Fly to the moon 2026-12-01" in failing.last_failure.problem.message
