"""How each sensor stands: when it is due next, when it last ran, what last went wrong. No server is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from agents.cognition.sense import SensorDefinition
from agents.cognition.sense.cron import CronDefinition
from agents.cognition.sense.event import EventDefinition
from agents.cognition.sense.listening import cursor_of
from agents.cognition.sense.memory_of import Said, standing_of
from agents.cognition.sense.timetable import Stand, next_due, stands
from agents.organisation import Organisation
from console.beats.judging import Looked, looks
from console.views_sensors import SensorFailed, SensorRow
from contracts import Name, Problem
from runtime.ledger.kept import kept_cursor
from runtime.ledger.port import Ledger


async def sensor_rows(
    ledger: Ledger, organisation: Organisation, now: datetime, every: Mapping[Name, timedelta]
) -> list[SensorRow]:
    """Return every sensor of an organisation, by name.

    Args:
        now: the organisation's own time.
        every: how often each threshold sensor looks.
    """
    timed = await stands(ledger, organisation.name, organisation.schedules)
    looked = await looks(ledger, organisation.name) if organisation.thresholds else {}
    told = await _told(ledger, organisation.name) if organisation.listeners else {}
    rows = [
        _threshold(each, looked.get(name), every[name], await standing_of(ledger, organisation.name, each))
        for name, each in organisation.thresholds.items()
    ]
    rows += [_cron(each, timed[name], now) for name, each in organisation.schedules.items()]
    rows += [_event(each, told.get(name, {})) for name, each in organisation.listeners.items()]
    if organisation.stands_at is not None:  # its time does not pass, so that nothing comes to be due
        rows = [replace(row, next_due=None) for row in rows]
    return sorted(rows, key=lambda row: row.name)


def threshold_row(sensor: SensorDefinition) -> SensorRow:
    """Return a threshold sensor as it is declared."""
    return SensorRow(
        name=sensor.name,
        metric=sensor.metric,
        grain=sensor.grain.value,
        by=sensor.by,
        when=sensor.when,
        clear_when=sensor.clear_when,
        in_a_row=sensor.in_a_row,
        severity=sensor.severity,
        skill=sensor.raises.skill if sensor.raises else None,
    )


def _threshold(sensor: SensorDefinition, looked: Looked | None, every: timedelta, said: Said) -> SensorRow:
    row = replace(
        threshold_row(sensor), open_slices=tuple(said.open_slices), recalibrated_at=said.recalibrated_at
    )  # fmt: skip
    if looked is None:
        return row
    failed = None
    if looked.failed_on is not None and looked.problem is not None:
        failed = SensorFailed(looked.failed_on, looked.problem)
    return replace(row, last_run=looked.on, next_due=looked.on + every, last_failure=failed)


def _cron(sensor: CronDefinition, stand: Stand, now: datetime) -> SensorRow:
    watched = stand.schedule == sensor.schedule_sha256
    since = max(stand.until, now) if watched and stand.until is not None else now
    failed = None
    if stand.failed is not None:
        failed = SensorFailed(
            datetime.fromisoformat(str(stand.failed["until"])),
            Problem.read(stand.failed["problem"]),  # type: ignore[arg-type]
        )
    return SensorRow(
        name=sensor.name,
        kind="cron",
        watches=f"{sensor.cron} {sensor.time_zone}",
        rules={
            "skipped": sensor.skipped.value,
            "repeated": sensor.repeated.value,
            "catch_up": sensor.catch_up.value,
        },
        severity=sensor.severity,
        skill=sensor.raises.skill if sensor.raises else None,
        next_due=next_due(sensor, since),
        last_run=stand.asked,
        last_failure=failed,
    )


def _event(sensor: EventDefinition, told: Mapping[str, Any]) -> SensorRow:
    failed = None
    if "problem" in told:
        failed = SensorFailed(datetime.fromisoformat(told["failed_at"]), Problem.read(told["problem"]))
    return SensorRow(
        name=sensor.name,
        kind="event",
        watches=", ".join(sensor.on),
        when=sensor.when or "",
        severity=sensor.severity,
        skill=sensor.raises.skill if sensor.raises else None,
        last_run=datetime.fromisoformat(told["at"]) if "at" in told else None,
        last_failure=failed,
        held_back=int(told.get("held_back", 0)),
        held_back_for=str(told.get("held_back_for", "")),
    )


async def _told(ledger: Ledger, organisation: Name) -> Mapping[Name, Mapping[str, Any]]:
    name = cursor_of(organisation)
    stored = await kept_cursor(ledger, name)
    told: Mapping[Name, Mapping[str, Any]] = (stored.data or {}).get("told", {}) if stored is not None else {}
    return told
