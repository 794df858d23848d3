"""`silicon heartbeat` and the list of sensors, as people read them."""

from __future__ import annotations

from dataclasses import replace

from console.views_sensors import SensorFailed, SensorRow
from contracts import Problem, Severity
from tests.console.conftest import Silicon
from tests.fakes.console_values import NOW


def test_a_heartbeat_is_told_in_a_few_lines(silicon: Silicon) -> None:
    silicon("heartbeat", "two-desks")

    assert silicon.code == 0
    assert "on, every 60" in silicon.out and "host/1" in silicon.out
    assert "In 7 days: 40 for goals, 9 meta of 10 allowed, 3 refused." in silicon.out
    assert "2013-02-08" in silicon.out


def test_a_heartbeat_is_told_to_programs(silicon: Silicon) -> None:
    told = silicon("heartbeat", "two-desks", "--json").json

    assert (told["quiet"], told["work"]["refused"], told["meta_most"]) == (1_234, 3, 10)


def test_a_list_of_sensors_tells_what_is_due_what_failed_and_what_was_held_back(silicon: Silicon) -> None:
    cron = SensorRow(
        "nightly", kind="cron", watches="30 2 * * * Europe/Berlin", severity=Severity.LOW, next_due=NOW,
        rules={"skipped": "after", "repeated": "first", "catch_up": "last"},
        last_failure=SensorFailed(NOW, Problem(code="META_BOUND", message="There was enough.")),
    )  # fmt: skip
    event = replace(cron, name="ended", kind="event", watches="execution.finished", rules={}, last_failure=None)
    event = replace(event, held_back=3, held_back_for="the sensor itself led to it")

    async def sensors(_: object) -> list[SensorRow]:
        return [event, cron]

    silicon.application.sensors = sensors  # type: ignore[assignment]
    said = " ".join(silicon("sensors", "list", "two-desks").out.split())

    assert "nightly failed at 2026-11-30" in said and "There was enough." in said
    assert "ended was held back 3 times, the last time because the sensor itself led to it." in said
    assert "skipped:" in said and "missed:" in said
