"""The main job from the goal to the effect, as the people of the organisation do it at a terminal."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.examples.conftest import GOAL, Desk

APPROVER = ("--as", "duty-manager")


def report_of(said: dict[str, Any], desk: Desk) -> bytes:
    return (desk.folder / said["products"][0]["path"]).read_bytes()


def finished_steps(desk: Desk) -> int:
    file = desk.folder / ".silicon" / "silicon.db"
    if not file.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=1) as db:
            (count,) = db.execute(
                "SELECT count(*) FROM events JOIN names ON number = type WHERE text = 'step.finished'"
            ).fetchone()
        db.close()
    except sqlite3.Error:
        return 0
    return int(count)


def wait_for_steps(desk: Desk, process: subprocess.Popen[str], steps: int) -> None:
    deadline = time.monotonic() + 200
    while finished_steps(desk) < steps:
        assert process.poll() is None, "it ended before it could be stopped"
        assert time.monotonic() < deadline, "it did not get that far"
        time.sleep(0.005)


def test_the_goal_ends_in_a_report_and_a_card(waiting: tuple[Desk, dict[str, Any]]) -> None:
    desk, said = waiting

    assert said["state"] == "waiting"
    assert said.keys() >= {"execution_id", "state", "products", "cards", "usage"}
    assert b"weather" in report_of(said, desk)
    assert [option["id"] for option in said["cards"][0]["options"]] == ["waive_and_notify", "notify", "nothing"]


def test_every_number_of_the_report_leads_to_a_step_a_query_and_data(waiting: tuple[Desk, dict[str, Any]]) -> None:
    desk, said = waiting
    text = report_of(said, desk).decode()
    body, _, sources = text.partition("\n## Sources\n")

    used, listed = set(re.findall(r"\[\^(\d+)\]", body)), set(re.findall(r"^\[\^(\d+)\]:", sources, re.M))
    assert used == listed and len(used) > 10
    assert re.search(r"cancellation-desk/totals → `rows\[0\].cancelled` · query `\w{12}` · data `\w{12}`", sources)


def test_the_report_leaves_out_no_carrier(waiting: tuple[Desk, dict[str, Any]]) -> None:
    desk, said = waiting
    text = re.sub(r"\[\^\d+\]", "", report_of(said, desk).decode())
    whole = re.search(r"(\d+) of (\d+) flights due so far are cancelled", text)
    hit = text.partition("## Who was hit")[2].partition("## ")[0]
    listed = [line.split("|") for line in hit.splitlines() if line.startswith("| ")][2:]
    others = re.search(r"And (\d+) more with fewer than 20 flights each, together (\d+) of (\d+) cancelled: (.*)", hit)

    assert whole is not None and others is not None and int(others[1]) == len(others[4].split(", "))
    assert sum(int(row[3]) for row in listed) + int(others[2]) == int(whole[1])
    assert sum(int(row[2]) for row in listed) + int(others[3]) == int(whole[2])


def test_passengers_who_are_only_told_are_told_no_cause(waiting: tuple[Desk, dict[str, Any]]) -> None:
    desk, said = waiting
    options = {option["id"]: option for option in desk.json("approvals", "show", said["cards"][0]["id"])["options"]}

    assert [action["with"].get("cause") for action in options["notify"]["actions"]] == ["not stated"]
    assert options["notify"]["confidence"] == "medium", "the day is not over"


def test_an_approved_option_happens_once_however_often_it_is_decided(waiting: tuple[Desk, dict[str, Any]]) -> None:
    desk, said = waiting
    card = said["cards"][0]["id"]

    after = desk.json("approvals", "decide", card, "waive_and_notify", *APPROVER)
    again = desk.json("approvals", "decide", card, "notify", "--as", "night-manager", exits=1)
    resumed = desk.json("resume", said["execution_id"])

    assert after["execution"]["state"] == resumed["state"] == "done"
    assert "duty-manager" in again["error"]["message"]
    assert desk.effects() == {"/waivers": 1, "/notices": 1}


def test_a_denial_ends_the_execution_without_any_effect(waiting: tuple[Desk, dict[str, Any]]) -> None:
    desk, said = waiting

    after = desk.json("approvals", "decide", said["cards"][0]["id"], "deny", "--reason", "too dear", *APPROVER)

    assert after["execution"]["state"] == "done"
    assert after["execution"]["output"]["decision"] == "denied"
    assert desk.effects() == {}


def test_whoever_asked_cannot_approve(waiting: tuple[Desk, dict[str, Any]]) -> None:
    desk, said = waiting

    refused = desk.json("approvals", "decide", said["cards"][0]["id"], "notify", "--as", "duty-planner", exits=1)

    assert "whoever asks cannot approve" in refused["error"]["message"]


def test_an_option_that_is_not_there_is_named_with_those_that_are(waiting: tuple[Desk, dict[str, Any]]) -> None:
    desk, said = waiting

    refused = desk.json("approvals", "decide", said["cards"][0]["id"], "refund", *APPROVER, exits=2)

    assert "waive_and_notify" in refused["error"]["message"]


def test_killed_in_the_middle_it_resumes_to_the_same_report_byte_for_byte(
    desk: Desk, example: Path, waiting: tuple[Desk, dict[str, Any]]
) -> None:
    undisturbed, said = waiting
    process = desk.start("run", str(example), GOAL, "--json")
    wait_for_steps(desk, process, 6)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = finished_steps(desk)

    (row,) = desk.json("runs")["executions"]
    resumed = desk.json("resume", row["execution_id"], exits=3)

    assert report_of(resumed, desk) == report_of(said, undisturbed)
    assert finished_steps(desk) > before >= 6
    assert desk.json("audit", "verify")["faults"] == []


def test_control_c_leaves_a_resumable_execution_and_says_how(desk: Desk, example: Path) -> None:
    process = desk.start("run", str(example), GOAL)
    wait_for_steps(desk, process, 1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=110)

    assert process.returncode == 1
    assert re.search(r"silicon resume execution/\w{26}", out + err)
    assert "Traceback" not in out + err
    (row,) = desk.json("runs")["executions"]
    assert desk.json("resume", row["execution_id"], exits=3)["state"] == "waiting"


def test_two_runs_at_once_on_one_database_both_finish(desk: Desk, example: Path) -> None:
    both = [desk.start("run", str(example), GOAL, "--json") for _ in range(2)]
    ended = [(process.communicate(timeout=110), process.returncode) for process in both]

    assert [code for _, code in ended] == [3, 3], [err for (_, err), _ in ended]
    assert len({json.loads(out)["execution_id"] for (out, _), _ in ended}) == 2
    assert desk.json("audit", "verify")["faults"] == []


def test_the_same_key_is_the_same_execution(waiting: tuple[Desk, dict[str, Any]], example: Path) -> None:
    desk, _ = waiting

    first = desk.json("run", str(example), GOAL, "--key", "once", exits=3)
    second = desk.json("run", str(example), GOAL, "--key", "once", exits=3)

    assert first["execution_id"] == second["execution_id"]


def test_a_byte_changed_by_hand_is_found(waiting: tuple[Desk, dict[str, Any]]) -> None:
    desk, _ = waiting
    file = desk.folder / ".silicon" / "silicon.db"
    with sqlite3.connect(file) as db:
        position, data = db.execute(
            "SELECT position, data FROM events JOIN names ON number = type WHERE text = 'step.finished'"
        ).fetchone()
        db.execute("UPDATE events SET data = ? WHERE position = ?", (data.replace(b"step", b"stap", 1), position))
    db.close()

    found = desk.json("audit", "verify", exits=1)["faults"]

    assert [fault["position"] for fault in found] == [position]


def test_a_goal_that_fits_no_skill_gets_a_list(desk: Desk, example: Path) -> None:
    refused = desk.json("run", str(example), "Please bake a cake", exits=2)

    assert refused["error"]["code"] == "SKILL_UNCLEAR"
    assert "explain-cancellations" in refused["error"]["message"]


def test_one_carrier_in_clear_weather_can_be_questioned(desk: Desk, example: Path) -> None:
    said = desk.json(
        "run", str(example), "Question the carrier", "--skill", "question-carrier", "--with", "carrier=AA",
        "--at", "2013-04-17T00:00", "--with", "day=2013-04-16", exits=3,
    )  # fmt: skip
    after = desk.json("approvals", "decide", said["cards"][0]["id"], "incident", *APPROVER)

    assert b"Cause: carrier AA (21 / 94)" in report_of(said, desk)
    assert b"not named as a cause: carrier MQ (22 / 78)" in report_of(said, desk)
    assert after["execution"]["output"]["verdict"] == "slice"
    assert desk.effects() == {"/incidents": 1}


def test_data_faults_raise_their_own_card_and_the_mark_names_its_undo(desk: Desk, example: Path) -> None:
    said = desk.json("run", str(example), "Check the data quality", "--at", "2013-12-31T23:00", exits=3)
    (card,) = said["cards"]
    full = desk.json("approvals", "show", card["id"])
    mark = next(option for option in full["options"] if option["id"] == "mark_bad")

    desk.json("approvals", "decide", card["id"], "mark_bad", "--as", "data-steward")

    assert mark["reversible"] and mark["undo"][0]["use"] == "desk.mark_reading_good"
    assert desk.effects() == {"/readings/bad": 1}


def test_a_cancelled_execution_says_so_and_its_card_cannot_be_decided(waiting: tuple[Desk, dict[str, Any]]) -> None:
    desk, said = waiting

    cancelled = desk.json("cancel", said["execution_id"])
    decided = desk.json("approvals", "decide", said["cards"][0]["id"], "notify", *APPROVER, exits=1)

    assert cancelled["state"] == "cancelled"
    assert "error" in decided and desk.effects() == {}


def test_the_whole_day_is_reviewed_by_every_desk(desk: Desk, example: Path) -> None:
    said = desk.json("run", str(example), "Review the whole day", "--at", "2013-02-12T23:00", exits=3)
    for card in said["cards"]:
        ended = desk.json("approvals", "decide", card["id"], "nothing", "--as", card["deciders"][0], exits=None)

    execution = ended["execution"]
    assert execution["state"] == "done"
    assert {product["title"] for product in execution["products"]} >= {"Review of 2013-02-12"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to read-only files")
def test_a_read_only_database_is_told_and_nothing_is_lost(waiting: tuple[Desk, dict[str, Any]]) -> None:
    desk, said = waiting
    file = desk.folder / ".silicon" / "silicon.db"
    file.chmod(0o400)
    (desk.folder / ".silicon").chmod(0o500)
    try:
        refused = desk.json("approvals", "decide", said["cards"][0]["id"], "notify", *APPROVER, exits=1)
    finally:
        (desk.folder / ".silicon").chmod(0o700)
        file.chmod(0o600)

    assert refused["error"]["code"] == "LEDGER_UNAVAILABLE"
