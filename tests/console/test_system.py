"""The commands about the system and about organisations: people's form, JSON form, exit codes."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from console.cli.words import measured
from console.views import ExecutionRow, Fault
from console.views_cluster import QueuedFor, QueuedOrder
from console.views_sensors import SensorFailure
from console.views_system import AuditFinding, DatabaseStatus
from contracts import OrderId, Problem
from tests.console.conftest import Silicon
from tests.fakes.console_application import NOW
from tests.fakes.console_values import CARD, EXECUTION


def test_check_shows_each_fault_with_place_and_mending(silicon: Silicon) -> None:
    silicon.application.faults = (
        Fault("org/plan.yaml", 17, "`weather.rows` is not given by step `weather`.", "Did you mean `weather.table`?"),
        Fault("org/org.yaml", None, "The file is missing."),
    )

    silicon("check", "org")

    assert silicon.code == 1
    assert silicon.out.splitlines() == [
        "org/plan.yaml:17  `weather.rows` is not given by step `weather`.",
        "  Did you mean `weather.table`?",
        "org/org.yaml  The file is missing.",
        "✗ 2 faults. Nothing was run.",
    ]


def test_check_without_faults_counts_what_was_read(silicon: Silicon) -> None:
    silicon("check", "org")

    assert silicon.code == 0
    assert silicon.out.splitlines() == ["✓ three-airports has no fault.", "  11 employees · 5 skills · 1 person"]


def test_where_no_run_is_shown_the_reason_is(silicon: Silicon) -> None:
    assert silicon("runs", "--organisation", "mil").out == "No execution of mil is here.\n"
    silicon.application.gone = ("execution/01JB00000000000000000G0NE0",)
    assert silicon("runs").out == "Nothing is here any more: what was run was pruned.\n"


def test_an_execution_that_was_pruned_is_told_to_be_gone(silicon: Silicon) -> None:
    silicon.application.gone = ("execution/01JB00000000000000000G0NE0",)

    assert silicon("show", "01JB00000000000000000G0NE0").code == 2
    assert "execution/01JB00000000000000000G0NE0 was pruned" in silicon.err
    assert "No execution is called" in silicon("show", "01JB00000000000000000NEVER").err


def test_what_waited_where_it_came_from_waits_for_nobody_here(silicon: Silicon) -> None:
    silicon.application.outcome = replace(silicon.application.outcome, imported=True)

    assert silicon("resume", "0XEC").out.splitlines()[0].startswith("○ not finished  Why were so many")


def test_runs_stand_in_two_lines_each(silicon: Silicon) -> None:
    lines = silicon("runs").out.splitlines()

    assert lines[0] == "◆ waiting for a decision  Why were so many flights cancelled?"
    assert str(EXECUTION) in lines[1]
    assert lines[2].endswith("stopped, can be resumed")
    assert len(silicon("runs", "--limit", "1", "--json").json["executions"]) == 1


def test_runs_tell_what_waits_for_a_slot(silicon: Silicon) -> None:
    silicon.application.queued = (
        QueuedOrder(OrderId.new(), EXECUTION, "desk/look", NOW, QueuedFor.LABELS, ("browser",)),
    )

    assert silicon("runs").out.splitlines()[2].endswith("desk/look waits: no node offers label browser")
    assert silicon("runs", "--json").json["executions"][1]["queued"][0]["missing"] == ["browser"]


def test_events_are_lines_or_a_list(silicon: Silicon) -> None:
    assert "  order.accepted " in silicon("events").out.splitlines()[1]

    listed = silicon("events", "0XEC", "--after", "5", "--json").json["events"]
    assert [event["position"] for event in listed] == [6, 7, 8, 9]


def test_followed_events_are_a_json_value_a_line(silicon: Silicon) -> None:
    lines = silicon("events", "--follow", "--json").out.splitlines()

    assert [json.loads(line)["position"] for line in lines] == list(range(1, 10))


def test_a_metric_keeps_zero_missing_and_not_yet_arrived_apart(silicon: Silicon) -> None:
    lines = silicon("metrics", "value", "org", "cancel-rate", "--where", "origin=EWR").out.splitlines()

    assert [line.split("EWR")[1].split("  ")[-2:] for line in lines[1:]]
    assert lines[1].split()[-2:] == ["0", "900"]
    assert "missing" in lines[2]
    assert "not yet arrived" in lines[3]
    assert silicon.application.asked[1] == ("metric_values", (None, None, {"origin": "EWR"}))


def test_a_metric_that_is_not_there_lists_those_that_are(silicon: Silicon) -> None:
    silicon("metrics", "show", "org", "cancel")

    assert silicon.code == 2
    assert "cancel-rate" in silicon.err
    assert re.search(r"Value +avg\(cancelled\)", silicon("metrics", "show", "org", "cancel-rate").out)


def test_versions_of_a_metric_tell_what_changed_and_what_began_anew(silicon: Silicon) -> None:
    lines = silicon("metrics", "history", "org", "cancel-rate", "--versions").out.splitlines()

    assert "removed" in lines[0]
    assert lines[1].startswith("c" * 12) and "server x" in lines[1]
    assert lines[2:4] == ["  where: – → n > 1", "  Sensors that began anew: rate"]
    assert lines[5:7] == ["  title: Rate → A rate", "  Its values are the same; these sensors go on: rate"]


def test_a_metric_is_shown_with_its_version_and_who_watches_it(silicon: Silicon) -> None:
    out = silicon("metrics", "show", "org", "cancel-rate").out

    assert re.search(r"Watched by +rate", out)
    assert re.search(r"Version +[0-9a-f]{12} \(2\)", out)
    assert "a person" in out


def test_a_signal_comes_with_the_command_that_follows_it_up(silicon: Silicon) -> None:
    silicon("sensors", "run", "org", "--at", "2013-02-08T17:00")

    assert silicon.code == 0
    assert (
        "  silicon run org 'Explain it'\"'\"'s bad' --skill explain --with day=2013-02-08 --at 2013-02-08T17:00"
        in silicon.out
    )


def test_a_goal_that_sensors_start_gives_its_exit_code(silicon: Silicon) -> None:
    data = silicon("sensors", "run", "org", "--start", "--json").json

    assert silicon.code == 3
    assert data["raised"][0]["execution"]["cards"][0]["id"] == str(CARD)


def test_a_sensor_that_failed_gives_its_reason_and_exit_code_1(silicon: Silicon) -> None:
    problem = Problem(code="DATA_UNAVAILABLE", message="The data file data/flights.duckdb is missing.")
    silicon.application.failed_sensors = (SensorFailure("delays", problem),)

    silicon("sensors", "run", "org")

    assert silicon.code == 1
    assert "✗ The sensor failed  delays  The data file data/flights.duckdb is missing." in silicon.out.splitlines()
    (failed,) = silicon("sensors", "run", "org", "--json").json["failed"]
    assert (failed["sensor"], failed["problem"]["code"]) == ("delays", "DATA_UNAVAILABLE")


def test_settings_tell_value_source_and_default(silicon: Silicon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILICON_SQL__ROWS", "9")

    rows = {row["name"]: row for row in silicon("settings", "--json").json["settings"]}

    assert rows["sql.rows"] | {"meaning": ""} == {
        "name": "sql.rows", "variable": "SILICON_SQL__ROWS", "value": 9, "source": "environment", "default": 50_000,
        "meaning": "",
    }  # fmt: skip
    assert silicon("settings", "nonsense").code == 2
    assert silicon("settings", "--changed").out.count("environment") == 2


def test_settings_never_show_a_password(silicon: Silicon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILICON_LEDGER__URL", "mysql+pymysql://root:hunter22@db/x")

    assert "hunter22" not in silicon("settings").out + silicon("settings", "--json").out


def test_the_page_of_settings_is_the_one_in_the_docs(silicon: Silicon) -> None:
    page = Path(__file__).parents[2] / "docs" / "settings.md"

    assert silicon("settings", "--markdown").out == page.read_text(encoding="utf-8")


def test_audit_is_clean_or_names_each_row(silicon: Silicon) -> None:
    assert silicon("audit", "verify").out == "✓ The ledger is as it was written: 1,234 events.\n"

    silicon.application.audit = (AuditFinding("order/1", 3, 17, "the payload does not match its hash"),)
    silicon("audit", "verify", "--json")
    assert silicon.code == 1
    assert silicon.json["faults"][0]["stream"] == "order/1"


def test_contracts_are_exported_to_standard_output_or_files(silicon: Silicon, tmp_path: Path) -> None:
    schemas = silicon("contracts", "export").json
    assert "ExecutionRequest" in schemas

    silicon("contracts", "export", "Money", "--to", str(tmp_path / "schemas"))
    written = json.loads((tmp_path / "schemas" / "Money.schema.json").read_text())
    assert written["$id"] == "urn:silicon-org:contract:Money:1.0"
    assert silicon("contracts", "export", "Nope").code == 2


def test_a_schema_of_another_version_is_told(silicon: Silicon) -> None:
    silicon.application.database_status = DatabaseStatus("mysql://db/x", None, "0006")

    assert silicon("db", "status").code == 1
    assert silicon("db", "upgrade", "--json").json["current"] is True


def test_doctor_fails_when_something_is_broken(silicon: Silicon) -> None:
    silicon("doctor")
    assert silicon.code == 0
    assert "Nothing is broken." in silicon.out

    silicon.application.broken = True
    silicon("doctor", "org")
    assert silicon.code == 1
    assert "Stop the other program." in silicon.out


def test_init_makes_an_organisation_and_never_writes_over_one(silicon: Silicon, tmp_path: Path) -> None:
    folder = tmp_path / "Corner Bakery"

    data = silicon("init", str(folder), "--json").json

    assert silicon.code == 0
    assert "skills/review-week/plan.yaml" in data["files"]
    (command,) = data["next"]  # it was checked already
    assert command.startswith("silicon run ")
    assert (folder / "org.yaml").read_text(encoding="utf-8").splitlines()[1] == "name: corner-bakery"
    assert silicon("init", str(folder)).code == 2
    assert "is not empty" in silicon.err


@pytest.mark.parametrize("where", ["afile/x", "/proc/x", "a" * 300])
def test_a_folder_that_cannot_be_made_is_told_in_words(
    silicon: Silicon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("afile").touch()

    silicon("init", where, "--json")

    assert (silicon.code, silicon.json["error"]["code"]) == (2, "FOLDER_NOT_MADE")


def test_a_new_organisation_needs_the_name_of_a_folder(silicon: Silicon) -> None:
    assert silicon("init", "").code == 2
    assert "needs a folder" in silicon.err


@pytest.mark.parametrize(
    "arguments",
    [["events", "--after", "9" * 20], ["metrics", "value", "org", "m", "--last", "99999999999"]],
)
def test_numbers_that_no_database_takes_are_usage(silicon: Silicon, arguments: list[str]) -> None:
    assert silicon(*arguments).code == 2
    assert "unexpected" not in silicon.err


def test_a_signal_shows_a_share_as_per_cent(silicon: Silicon) -> None:
    assert "cancel-rate 50.7\N{NO-BREAK SPACE}%" in silicon("sensors", "run", "org").out


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [(2 / 3, "share", "66.7\N{NO-BREAK SPACE}%"), (1234567.0, "EUR", "1,234,567"), (1318.6, "EUR", "1,318.6")],
)
def test_measured_values_can_be_read(value: float, unit: str, shown: str) -> None:
    assert measured(value, unit) == shown


def test_seconds_that_are_not_known_are_left_out(silicon: Silicon, monkeypatch: pytest.MonkeyPatch) -> None:
    (row,) = asyncio.run(silicon.application.executions(organisation=None, limit=1))

    async def waiting(**_: object) -> list[ExecutionRow]:
        return [replace(row, seconds=None)]

    monkeypatch.setattr(silicon.application, "executions", waiting)

    assert "\N{NO-BREAK SPACE}s" not in silicon("runs").out
    assert silicon("runs", "--json").json["executions"][0]["seconds"] is None
