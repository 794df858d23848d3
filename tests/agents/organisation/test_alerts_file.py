"""What `alerts.yaml` becomes, with the settings where it says nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import yaml

from agents.organisation.alerts_file import AlertsFile
from governance.alerts import AlertRules, Degree
from runtime.settings import AlertSettings, SensorSettings

EXAMPLE = Path(__file__).parents[3] / "examples" / "three_airports" / "alerts.yaml"


def rules(text: str) -> AlertRules:
    written = yaml.load(text, yaml.BaseLoader)  # everything is text, as the program's own reader leaves it
    return AlertsFile.model_validate(written).rules(AlertSettings(), SensorSettings(), ZoneInfo("America/New_York"))


def test_the_first_route_that_matches_takes_an_alert() -> None:
    made = rules(EXAMPLE.read_text())

    names = [
        made.route_for(labels).name
        for labels in (
            {"metric": "cancel-rate", "kind": "threshold"}, {"metric": "cancel-rate", "kind": "no_data"},
            {"metric": "departure-delay", "kind": "threshold"},
        )
    ]  # fmt: skip

    assert names == ["cancellations", "blind", "everything-else"]


def test_a_route_says_what_it_says_and_the_settings_the_rest() -> None:
    route = rules(EXAMPLE.read_text()).routes[0]

    assert (route.wait, route.interval, route.impact) == (timedelta(0), timedelta(minutes=5), Degree.HIGH)
    assert [(level.to, level.after) for level in route.levels] == [
        (("duty-managers",), timedelta(0)),
        (("duty-planner",), timedelta(minutes=15)),
        (("operations-director",), timedelta(hours=1)),
    ]


def test_an_organisation_without_the_file_has_the_settings() -> None:
    made = rules("{}")

    assert (made.deduplicate, made.resolve_after, made.routes) == (timedelta(minutes=30), timedelta(hours=36), ())


def test_maintenance_is_read_by_the_clock_of_the_organisation() -> None:
    window = rules(EXAMPLE.read_text()).maintenance[0]

    until = window.until({"kind": "no_data"}, datetime(2013, 2, 8, 7, 30, tzinfo=UTC), ZoneInfo("America/New_York"))

    assert until == datetime(2013, 2, 8, 9, 0, tzinfo=UTC)


def test_three_ways_to_say_when_maintenance_is() -> None:
    made = rules(
        """
        maintenance:
          - {name: weekly, days: [sat, sun], from: "22:00", to: "06:00"}
          - {name: dated, from: 2013-02-10T00:00, to: 2013-02-10T06:00}
          - {name: cron, cron: "0 2 * * 0#1", for: 2h}
        """
    )

    at = datetime(2013, 2, 3, 7, 30, tzinfo=UTC)  # Sunday 02:30, the first of the month
    assert [each.until({}, at, made.zone) is not None for each in made.maintenance] == [True, False, True]
