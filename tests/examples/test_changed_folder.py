"""What an organisation changes while an execution waits: people and rules count as they are now, the work as it was."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.examples.conftest import GOAL, Desk

APPROVER = ("--as", "duty-manager")


@pytest.fixture
def moved(desk: Desk, example: Path, tmp_path: Path) -> tuple[Desk, Path, dict[str, Any]]:
    """An execution that waits, and its folder, which a test may change."""
    folder = tmp_path / "airports"
    shutil.copytree(example, folder, ignore=shutil.ignore_patterns("__pycache__", "data"))
    (folder / "data").symlink_to(example / "data")
    return desk, folder, desk.json("run", str(folder), GOAL, exits=3)


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_somebody_removed_meanwhile_decides_nothing(moved: tuple[Desk, Path, dict[str, Any]]) -> None:
    desk, folder, said = moved
    change(folder / "org.yaml", "{id: duty-manager, name: Morgan Lee, roles: [approver]", "{id: duty-manager, name: M")

    refused = desk.json("approvals", "decide", said["cards"][0]["id"], "notify", *APPROVER, exits=1)

    assert "error" in refused and desk.effects() == {}


def test_a_rule_added_meanwhile_stops_what_was_approved(moved: tuple[Desk, Path, dict[str, Any]]) -> None:
    desk, folder, said = moved
    (folder / "rules" / "stop.yaml").write_text(
        "text: Nobody is told anything today.\n"
        "applies_to: [desk.notify_passengers]\n"
        "allow_when: 'false'\n"
        "examples:\n"
        "  - {use: desk.notify_passengers, with: {cause: weather}, allowed: false, why: It is an emergency stop.}\n"
    )

    ended = desk.json("approvals", "decide", said["cards"][0]["id"], "notify", *APPROVER, exits=1)

    assert ended["execution"]["state"] == "failed"
    assert "stop" in ended["execution"]["error"]["message"]
    assert desk.effects() == {}


def test_a_changed_plan_does_not_change_what_is_under_way(moved: tuple[Desk, Path, dict[str, Any]]) -> None:
    desk, folder, said = moved
    change(folder / "skills" / "explain-cancellations" / "options.yaml", "cause: weather", "cause: carrier")

    desk.json("approvals", "decide", said["cards"][0]["id"], "waive_and_notify", *APPROVER)

    assert desk.effects() == {"/waivers": 1, "/notices": 1}


def test_a_folder_that_is_gone_hides_no_card_and_fails_nothing(
    moved: tuple[Desk, Path, dict[str, Any]], example: Path
) -> None:
    desk, folder, said = moved
    other = desk.json("run", str(example), GOAL, exits=3)
    folder.rename(folder.with_name("elsewhere"))

    listed = {card["id"] for card in desk.json("approvals", "list")["cards"]}
    resumed = desk.json("resume", said["execution_id"], exits=1)
    shown = desk.json("show", said["execution_id"], exits=None)
    folder.with_name("elsewhere").rename(folder)
    decided = desk.json("approvals", "decide", said["cards"][0]["id"], "deny", "--reason", "too dear", *APPROVER)

    assert listed == {said["cards"][0]["id"], other["cards"][0]["id"]}
    assert resumed["error"]["code"] == "ORGANISATION_FAULTY"
    assert shown["outcome"]["state"] == "waiting"
    assert decided["execution"]["state"] == "done"


def test_what_can_no_longer_run_can_still_be_cancelled(moved: tuple[Desk, Path, dict[str, Any]]) -> None:
    desk, folder, said = moved
    folder.rename(folder.with_name("elsewhere"))

    assert desk.json("cancel", said["execution_id"])["state"] == "cancelled"


def test_a_decision_that_cannot_be_carried_out_is_not_written(moved: tuple[Desk, Path, dict[str, Any]]) -> None:
    desk, folder, said = moved
    folder.rename(folder.with_name("elsewhere"))

    refused = desk.json("approvals", "decide", said["cards"][0]["id"], "notify", *APPROVER, exits=1)
    shown = desk.json("approvals", "show", said["cards"][0]["id"])

    assert refused["error"]["code"] == "ORGANISATION_FAULTY"
    assert shown["state"] == "open"
