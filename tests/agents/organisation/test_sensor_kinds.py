"""Cron and event sensors in a folder: read as they are written, and every fault at its line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from agents.cognition.sense.cron import CatchUp, Repeated, Skipped
from agents.organisation import check, load
from runtime.capabilities.port import CapabilitySpec

Specs = Mapping[str, CapabilitySpec]
RAISES = 'raises: {skill: explain-cancellations, goal: "Look at {{ %s }}", with: {day: "{{ %s }}"}, advances: %s}\n'


def faults(organisation: Path, builtin: Specs, text: str) -> list[str]:
    (organisation / "sensors" / "new.yaml").write_text(text)
    report = check(organisation, builtin=builtin, environ={})
    return [f"{fault.line}  {fault.what} {fault.hint}".rstrip() for fault in report.faults if "new" in fault.file]


def test_rules_that_are_not_stated_follow_from_the_schedule(organisation: Path, builtin: Specs) -> None:
    folder = organisation / "sensors"
    (folder / "hourly.yaml").write_text('cron: "0 * * * *"\n' + RAISES % ("date", "date", "cancel-rate"))
    stated = 'cron: "30 2 * * *"\ntime_zone: America/Santiago\nskipped: skip\nrepeated: last\ncatch_up: all\n'
    (folder / "nightly.yaml").write_text(stated + RAISES % ("date", "date", "nothing"))
    read = load(organisation, builtin=builtin, environ={})
    hourly, nightly = read.schedules["hourly"], read.schedules["nightly"]

    assert (hourly.time_zone, hourly.repeated) == (read.time_zone, Repeated.BOTH)
    assert (hourly.skipped, hourly.catch_up) == (Skipped.AFTER, CatchUp.LAST)
    assert (nightly.time_zone, nightly.repeated) == ("America/Santiago", Repeated.LAST)
    assert (nightly.skipped, nightly.catch_up) == (Skipped.SKIP, CatchUp.ALL)
    assert hourly.raises is not None and hourly.raises.advances == "cancel-rate"
    assert nightly.raises is not None and nightly.raises.advances is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('cron: "61 2 * * *"\n' + RAISES % ("date", "date", "nothing"), "1  `61 2 * * *` is no schedule: bad minute."),
        ('cron: "0 0 30 2 *"\n' + RAISES % ("date", "date", "nothing"), "1  `0 0 30 2 *` is no schedule"),
        ('cron: "0 2 * * *"\ntime_zone: Europe/Berlinn\n' + RAISES % ("date", "date", "nothing"), "Europe/Berlin`?"),
        ('cron: "0 2 * * *"\n' + RAISES % ("bucket", "date", "nothing"), "2  There is no `bucket`"),
        ('cron: "0 2 * * *"\n' + RAISES % ("date", "date", "cancel-rates"), "Did you mean `cancel-rate`?"),
        ('cron: "0 2 * * *"\ncatch_up: some\n' + RAISES % ("date", "date", "nothing"), "2  `catch_up` must be"),
        ('cron: "0 2 * * *"\n', "1  It raises no goal"),
        (
            "on: execution.finished\nwhen: dota.n > 1\n",
            "2  `dota.n > 1`: There is no `dota` here. Did you mean `data`?",
        ),
        ("on: Execution\n", "1  'Execution' fits no type of event"),
        ('on: step.*\nkey: "{{ subjekt }}"\n', "2  There is no `subjekt`"),
        ("on: step.*\ncron: 0 2 * * *\n", "A sensor is of one kind"),
    ],
)
def test_a_fault_is_told_at_its_line(organisation: Path, builtin: Specs, text: str, expected: str) -> None:
    assert any(expected in fault for fault in faults(organisation, builtin, text))


def test_work_that_says_nothing_of_its_goal_is_asked_for_it(organisation: Path, builtin: Specs) -> None:
    text = 'on: step.*\nraises: {skill: explain-cancellations, goal: Look, with: {day: "2013-02-08"}}\n'
    (fault,) = faults(organisation, builtin, text)

    assert "`advances` is missing" in fault and "cancel-rate" in fault and "nothing" in fault
