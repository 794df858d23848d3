"""A definition changes in the folder: that is recorded, and the sensors that depend on it visibly begin anew."""

from __future__ import annotations

import logging
import shutil
from datetime import datetime
from pathlib import Path

import pytest

from console.application import open_application
from console.ports import Application
from console.views_sensors import SensorsOutcome
from runtime.settings.load import load
from tests.examples.test_deadlines import ignore

pytestmark = pytest.mark.anyio
MOMENT = datetime(2013, 2, 8, 17)
METRIC = "metrics/cancel-rate.yaml"


@pytest.fixture
def organisation(example: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "airports"
    shutil.copytree(example, folder, ignore=shutil.ignore_patterns("data"))
    (folder / "data").symlink_to(example / "data")
    return folder


def change(folder: Path, old: str, new: str) -> None:
    text = (folder / METRIC).read_text()
    assert old in text
    (folder / METRIC).write_text(text.replace(old, new))


async def look(application: Application, folder: Path) -> SensorsOutcome:
    sensors = ["cancellations-of-the-day", "delays-of-the-day"]
    return await application.run_sensors(folder, sensors, at=MOMENT, start=False, by=None, watch=ignore)


async def test_a_changed_formula_is_told_and_its_sensors_begin_anew(
    organisation: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with open_application(load({"home": str(tmp_path / "home")}, working=tmp_path)) as application:
        first = await look(application, organisation)
        change(organisation, "over: flights", "over: flights\nwhere: origin = 'EWR'")
        sensors = {row.name: row for row in await application.sensors(organisation)}
        again = await look(application, organisation)
        versions = await application.metric_versions(organisation, "cancel-rate")
        shown = await application.metric(organisation, "cancel-rate")
        alerts = await application.alerts(organisation, match=["kind=metric_changed"])

    assert [raised.signal.bucket for raised in first.raised] == ["2013-02-08"]
    assert [raised.signal.bucket for raised in again.raised] == ["2013-02-08"], "it speaks again, of the other number"
    assert again.raised[0].signal.value != first.raised[0].signal.value
    assert [(each.entry, each.recalibrates, [field.field for field in each.changed]) for each in versions] == [
        ("defined", False, []),
        ("changed", True, ["where"]),
    ]
    assert set(versions[1].sensors) == set(shown.sensors) >= {"cancellations-of-the-day", "cancellations-of-a-carrier"}
    for name, row in sensors.items():
        assert (row.recalibrated_at is not None) == (row.metric == "cancel-rate"), name
    assert "the metric cancel-rate of three-airports changed (where)" in caplog.text
    assert {alert.source for alert in alerts.alerts} == {"metric/cancel-rate", "metric/week-of-cancellations"}


async def test_other_words_are_recorded_and_nothing_begins_anew(organisation: Path, tmp_path: Path) -> None:
    async with open_application(load({"home": str(tmp_path / "home")}, working=tmp_path)) as application:
        await look(application, organisation)
        change(organisation, "en: Cancel rate", "en: Rate of cancellations")
        again = await look(application, organisation)
        versions = await application.metric_versions(organisation, "cancel-rate")
        sensors = await application.sensors(organisation)

    assert again.raised == ()
    assert [field.field for field in versions[-1].changed] == ["title"]
    assert all(row.recalibrated_at is None for row in sensors)
