"""The commands that keep a whole ledger: people's form, JSON form, exit codes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from console.cli.render.kept import size
from runtime.keeping import Hold
from runtime.ledger.port import AuditFault
from tests.console.conftest import Silicon
from tests.fakes.console_values import EXECUTION, HASH


def test_a_backup_says_what_is_in_it(silicon: Silicon) -> None:
    assert silicon("db", "backup", "b.db").out == (
        "✓ Copied everything up to position 1,234 to b.db (3.0\N{NO-BREAK SPACE}MiB) and audited the copy.\n"
    )
    assert silicon.code == 0
    assert silicon("db", "backup", "b.db", "--json").json["position"] == 1_234


def test_a_backup_with_faults_is_not_good(silicon: Silicon) -> None:
    silicon.application.faults_in_copy = (AuditFault("order/1", 3, 17, "its payload was changed"),)

    silicon("db", "backup", "b.db")

    assert silicon.code == 1
    assert "order/1  its payload was changed" in silicon.out
    assert "The ledger has 1 fault, and so has its copy." in silicon.out
    assert silicon("db", "backup", "b.db", "--json").json["faults"][0]["position"] == 17


def test_a_restore_says_where_it_went(silicon: Silicon) -> None:
    assert (
        "b.db is restored to /home/x/.silicon/silicon.db, up to position 1,234." in silicon("db", "restore", "b.db").out
    )
    assert silicon("db", "restore", "b.db", "--json").json["rows"] == 5_678


def test_pruning_tells_what_went_and_what_was_left(silicon: Silicon) -> None:
    lines = silicon("db", "prune", "--days", "30", "--compact").out.splitlines()

    assert lines == [
        "✓ 1 execution is gone for good (99 events).",
        f"  {EXECUTION}",
        "  Beside them: 2 blobs that nothing else names (2.0\N{NO-BREAK SPACE}KiB), "
        "40 fragments that were only streamed",
        "  1 is kept under a hold",
        "  1 is kept: it is at work, or a card of it waits",
        "  4.0\N{NO-BREAK SPACE}KiB are free in the file and will be used again; --compact gives them back",
    ]
    assert silicon.application.asked[1] == ("prune", (30.0, False, True))


def test_a_dry_run_says_so(silicon: Silicon) -> None:
    assert "1 execution would go (99 events). Nothing was changed." in silicon("db", "prune", "--dry-run").out
    assert "Executions are kept for ever" in silicon.out
    data = silicon("db", "prune", "--dry-run", "--json").json
    assert (data["dry_run"], data["executions"], data["free_bytes"]) == (True, [str(EXECUTION)], 4096)
    assert silicon("db", "prune", "--days", "-1").code == 2


def test_a_hold_is_placed_listed_and_released_with_its_reason(silicon: Silicon) -> None:
    silicon("db", "hold", "0XEC", "--reason", "case 7", "--as", "duty-manager")
    assert silicon.application.asked[1] == ("hold", (EXECUTION, "case 7", "duty-manager"))
    assert "is kept whole until its hold is released (placed by duty-manager)" in silicon.out

    assert silicon("db", "holds").out == "No execution is under a hold.\n"
    at = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
    silicon.application.standing_holds = (Hold(EXECUTION, "three-airports", "case 7", "duty-manager", at),)
    assert "duty-manager" in silicon("db", "holds").out.splitlines()[1]
    assert silicon("db", "holds", "--json").json["holds"][0]["reason"] == "case 7"

    silicon("db", "release", "0XEC", "--reason", "settled")
    assert "duty-manager had placed it at 2026-11-30 12:00\N{NO-BREAK SPACE}UTC: case 7" in silicon.out
    assert silicon("db", "hold", "0XEC").code == 2  # why?


def test_an_export_says_what_it_holds_and_its_hash(silicon: Silicon) -> None:
    lines = silicon("export", "0XEC", "run.jsonl.gz").out.splitlines()

    assert lines == [f"✓ {EXECUTION} is in run.jsonl.gz: 99 events, 2.0\N{NO-BREAK SPACE}KiB.", f"  sha256 {HASH}"]
    assert silicon("export", "0XEC", "run.jsonl.gz", "--json").json["sha256"] == HASH


def test_an_import_says_how_to_look_at_it(silicon: Silicon) -> None:
    lines = silicon("import", "run.jsonl.gz").out.splitlines()

    assert lines == [
        f"✓ {EXECUTION} can be looked at here: 99 events. It never runs here.",
        f"  silicon show {EXECUTION}",
    ]
    assert silicon("import", "run.jsonl.gz", "--json").json["execution_id"] == str(EXECUTION)


def test_they_speak_chinese(silicon: Silicon) -> None:
    assert "已永久清除 1 个执行" in silicon("db", "prune", "--days", "30", "--language", "zh").out
    assert "可在此查看" in silicon("import", "x", "--language", "zh").out


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 B"), (1_023, "1023 B"), (1_536, "1.5 KiB"), (200 * 1024**2, "200 MiB")]
)
def test_sizes_can_be_read(count: int, shown: str) -> None:
    assert size(count).replace("\N{NO-BREAK SPACE}", " ") == shown


def test_the_audit_counts_what_was_pruned(silicon: Silicon) -> None:
    silicon.application.pruned = 34

    assert silicon("audit", "verify").out == "✓ The ledger is as it was written: 1,234 events, 34 of them pruned.\n"
    assert silicon("audit", "verify", "--json").json["pruned"] == 34
    assert "其中 34 个已清除" in silicon("audit", "verify", "--language", "zh").out
