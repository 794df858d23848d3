"""The example's own sensors on the whole year: what they must see, and what they must not."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agents.cognition.sense import Standing, episodes
from console.application import open_application
from console.pinned import Organisations
from console.wiring import Wired
from contracts import OrderState, SignalKind
from runtime.ledger.store import SqlStore
from runtime.settings.load import load
from tests.examples.test_deadlines import ignore
from tests.fakes.clock import HandClock

YEAR_BEGIN, YEAR_END = datetime(2013, 1, 1, 5, tzinfo=UTC), datetime(2014, 1, 1, 5, tzinfo=UTC)
pytestmark = pytest.mark.anyio


@pytest.fixture
async def airports(example: Path, sqlite_store: SqlStore, clock: HandClock, tmp_path: Path) -> AsyncIterator[Wired]:
    settings = load({"home": str(tmp_path)}, working=tmp_path)
    organisations = Organisations(sqlite_store, settings, clock)
    yield organisations.now(example)
    await organisations.close()


async def look(airports: Wired, sensor: str) -> Any:
    definition = airports.organisation.sensors[sensor]
    return await airports.sensors.run(definition, YEAR_END, since=YEAR_BEGIN)


@pytest.mark.parametrize(("sensor", "days"), [("cancellations-of-the-day", 17), ("delays-of-the-day", 20)])
async def test_days_over_the_limit(airports: Wired, sensor: str, days: int) -> None:
    run = await look(airports, sensor)

    assert len([signal for signal in run.signals if signal.kind is SignalKind.THRESHOLD]) == days


async def test_bad_hours_are_97_in_20_episodes(airports: Wired) -> None:
    definition = airports.organisation.sensors["cancellations-of-the-hour"]
    run = await look(airports, "cancellations-of-the-hour")

    fired = [judged for judged in run.judged if judged.standing is Standing.FIRES]
    assert len(fired) == 97
    assert len(episodes(definition, run.judged)) == 20
    assert len([signal for signal in run.signals if signal.kind is SignalKind.THRESHOLD]) == 20


async def test_only_the_slice_sensor_sees_the_trouble_of_one_carrier(airports: Wired) -> None:
    slices = await look(airports, "cancellations-of-a-carrier")
    days = await look(airports, "cancellations-of-the-day")

    assert ("2013-04-16", "AA") in {(signal.bucket, signal.dimensions.get("carrier")) for signal in slices.signals}
    assert "2013-04-16" not in {signal.bucket for signal in days.signals}


async def test_a_second_look_says_nothing_new(airports: Wired) -> None:
    await look(airports, "cancellations-of-the-day")
    again = await look(airports, "cancellations-of-the-day")

    assert again.signals == ()


async def test_a_goal_whose_start_was_lost_is_started_by_the_next_look(example: Path, tmp_path: Path) -> None:
    sensor, moment = ["cancellations-of-the-day"], datetime(2013, 2, 8, 17)
    async with open_application(load({"home": str(tmp_path)}, working=tmp_path)) as application:
        told = await application.run_sensors(example, sensor, at=moment, start=False, by=None, watch=ignore)
        later = await application.run_sensors(example, sensor, at=moment, start=True, by=None, watch=ignore)
        again = await application.run_sensors(example, sensor, at=moment, start=True, by=None, watch=ignore)
        executions = await application.executions(organisation=None, limit=10)

    assert [raised.execution for raised in told.raised] == [None]
    assert [raised.execution.state for raised in later.raised if raised.execution] == [OrderState.WAITING]
    assert again.raised == () and len(executions) == 1
    assert executions[0].requested_by == "sensor/cancellations-of-the-day"


async def test_a_sensor_that_goes_on_failing_is_told_in_every_run(example: Path, tmp_path: Path) -> None:
    organisation = tmp_path / "airports"
    shutil.copytree(example, organisation, ignore=shutil.ignore_patterns("data"))
    (organisation / "data").mkdir()
    (organisation / "data" / "flights.duckdb").write_bytes(b"no database")
    sensor, moment = ["cancellations-of-the-day"], datetime(2013, 2, 8, 17)
    async with open_application(load({"home": str(tmp_path / "home")}, working=tmp_path)) as application:
        runs = [
            await application.run_sensors(organisation, sensor, at=moment, start=False, by=None, watch=ignore)
            for _ in range(2)
        ]

    assert [[failure.sensor for failure in run.failed] for run in runs] == [sensor, sensor]
    assert all("flights.duckdb" in run.failed[0].problem.message for run in runs)
