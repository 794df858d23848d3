"""Modes on the example: what passes by itself acts, tells, is taken back and reviewed; an edit is what runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.examples.conftest import Desk

STEWARD = ("--as", "data-steward")
AT = ("--skill", "check-data", "--at", "2013-12-31T23:00")


@pytest.fixture
def airports(example: Path, tmp_path: Path) -> Path:
    """The folder, which a test may change."""
    folder = tmp_path / "airports"
    shutil.copytree(example, folder, ignore=shutil.ignore_patterns("__pycache__", "data"))
    (folder / "data").symlink_to(example / "data")
    return folder


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def post_hoc(folder: Path) -> None:
    change(folder / "org.yaml", "records: {mode: strict", "records: {mode: post_hoc, undo_within: 1d")


def check(desk: Desk, folder: Path, *more: str, exits: int) -> Any:
    return desk.json("run", str(folder), "Check the records", *AT, *more, exits=exits)


def test_what_can_be_taken_back_acts_tells_and_is_taken_back_within_its_window(desk: Desk, airports: Path) -> None:
    post_hoc(airports)
    ran = check(desk, airports, exits=0)
    (card,) = desk.json("approvals", "list", "--all")["cards"]
    told = desk.json("approvals", "messages", "--to", "data-steward")["messages"]

    assert (ran["state"], desk.effects()) == ("done", {"/readings/bad": 1})
    assert (card["mode"], card["passed"], card["stands"], card["option"]) == ("post_hoc", True, "executed", "mark_bad")
    assert f"silicon approvals undo {card['id']}" in told[0]["text"]

    taken = desk.json("approvals", "undo", card["id"], "--reason", "it was a real gust", *STEWARD)
    again = desk.json("approvals", "undo", card["id"], *STEWARD)

    assert (taken["card"]["stands"], desk.effects()) == ("undone", {"/readings/bad": 1, "/readings/good": 1})
    assert again["execution"]["execution_id"] == taken["execution"]["execution_id"]
    assert desk.effects()["/readings/good"] == 1


def test_a_serious_error_puts_the_next_one_before_a_person(desk: Desk, airports: Path) -> None:
    post_hoc(airports)
    check(desk, airports, exits=0)
    (card,) = desk.json("approvals", "list", "--all")["cards"]
    reviewed = desk.json("approvals", "review", card["id"], "serious", "--reason", "wrong station", *STEWARD)
    check(desk, airports, exits=3)
    (waits,) = desk.json("approvals", "list")["cards"]

    assert reviewed["card"]["reviewed"] == "serious"
    assert (waits["mode"], waits["mode_why"]) == ("strict", "serious_error")


def test_a_request_makes_it_stricter_and_a_medium_finding_waits(desk: Desk, airports: Path) -> None:
    post_hoc(airports)
    check(desk, airports, "--strict", exits=3)
    (waits,) = desk.json("approvals", "list")["cards"]
    assert (waits["mode"], waits["mode_why"], desk.effects()) == ("strict", "request", {})

    change(airports / "skills" / "check-data" / "judge.py", '"confidence": "high"', '"confidence": "medium"')
    desk.json("approvals", "decide", waits["id"], "deny", "--reason", "not now", *STEWARD)
    check(desk, airports, exits=3)
    (waits,) = desk.json("approvals", "list")["cards"]
    assert (waits["mode"], waits["mode_why"], desk.effects()) == ("strict", "confidence", {})


def test_what_was_edited_is_what_runs_and_both_forms_stay_on_record(desk: Desk, airports: Path, tmp_path: Path) -> None:
    change(airports / "org.yaml", "  - {id: data-steward,", "  - {id: second-steward, name: Uma Li, roles: [approver], "
           "groups: [data-stewards]}\n  - {id: data-steward,")  # fmt: skip
    ran = check(desk, airports, exits=3)
    card = ran["cards"][0]
    (tmp_path / "changed.json").write_text(json.dumps({"reason": "looked at it myself"}))
    (tmp_path / "wrong.json").write_text(json.dumps({"reasons": 1}))

    refused = desk.json("approvals", "edit", card["id"], "mark_bad", str(tmp_path / "wrong.json"), *STEWARD, exits=2)
    desk.json("approvals", "edit", card["id"], "mark_bad", str(tmp_path / "changed.json"), *STEWARD)
    own = desk.json("approvals", "decide", card["id"], "mark_bad", *STEWARD, exits=1)
    decided = desk.json("approvals", "decide", card["id"], "mark_bad", "--as", "second-steward")
    (edit,) = decided["card"]["edits"]

    assert "takes no reasons" in refused["error"]["message"]
    assert own["error"]["code"] == "NOT_ALLOWED_TO_DECIDE" and "edited" in own["error"]["message"]
    assert (decided["execution"]["state"], desk.effects()) == ("done", {"/readings/bad": 1})
    assert edit["after"][0]["with"]["reason"] == "looked at it myself" != edit["before"][0]["with"]["reason"]
    events = desk.json("events", ran["execution_id"])["events"]
    arguments = [event["data"]["arguments"] for event in events if event["type"] == "effect.intended"]
    assert [each["reason"] for each in arguments] == ["looked at it myself"]


def test_a_second_request_for_the_very_same_waits_for_the_one_card_and_does_nothing_twice(
    desk: Desk, airports: Path
) -> None:
    first, second = check(desk, airports, exits=3), check(desk, airports, exits=3)
    (card,) = desk.json("approvals", "list")["cards"]
    desk.json("approvals", "decide", card["id"], "mark_bad", *STEWARD)
    other = desk.json("resume", second["execution_id"])

    assert first["cards"][0]["id"] == second["cards"][0]["id"] == card["id"]
    assert (other["state"], desk.effects()) == ("done", {"/readings/bad": 1})


def test_delegated_cards_are_decided_on_behalf_of_who_delegated(desk: Desk, airports: Path) -> None:
    change(airports / "org.yaml", "  - {id: data-steward,", "  - {id: stand-in, name: Uma Li, roles: [approver]}\n"
           "  - {id: data-steward,")  # fmt: skip
    card = check(desk, airports, exits=3)["cards"][0]
    before = desk.json("approvals", "decide", card["id"], "mark_bad", "--as", "stand-in", exits=1)
    desk.json("approvals", "delegate", "--from", "data-steward", "--to", "stand-in", "--until", "2126-01-01", *STEWARD)
    listed = desk.json("approvals", "delegations")["delegations"]
    decided = desk.json("approvals", "decide", card["id"], "mark_bad", "--as", "stand-in")

    assert before["error"]["code"] == "NOT_ALLOWED_TO_DECIDE"
    assert [(each["giver"], each["taker"]) for each in listed] == [("data-steward", "stand-in")]
    (decision,) = decided["card"]["decisions"]
    assert (decision["by"], decision["on_behalf_of"]) == ("stand-in", "data-steward")
    assert decision["card_version"] == 1 and decision["via"].startswith("cli by ")


def test_cards_of_one_kind_are_turned_down_together_and_the_table_makes_itself_again(
    desk: Desk, airports: Path
) -> None:
    first = check(desk, airports, exits=3)["cards"][0]
    change(airports / "skills" / "check-data" / "options.yaml", "above the strongest gust", "over the strongest gust")
    second = check(desk, airports, exits=3)["cards"][0]
    said = ("deny", first["id"], second["id"], *STEWARD)
    without = desk.json("approvals", "decide-all", *said, exits=1)
    decided = desk.json("approvals", "decide-all", *said, "--reason", "not today")

    assert {each["code"] for each in without["refused"]} == {"INVALID_ARGUMENTS"}
    assert [each["outcome"] for each in decided["decided"]] == ["denied", "denied"]
    assert desk.json("approvals", "rebuild") == {"cards": 2}
    assert desk.json("approvals", "list")["cards"] == []


def test_a_delegation_is_ended_before_its_time(desk: Desk, airports: Path) -> None:
    check(desk, airports, exits=3)
    to = ("--to", "night-manager", "--until", "2126-01-01")
    made = desk.json("approvals", "delegate", *to, *STEWARD)["delegation"]
    desk.json("approvals", "undelegate", made["delegation_id"], "--as", "duty-manager", exits=1)
    ended = desk.json("approvals", "undelegate", made["delegation_id"], "--as", "night-manager")["delegation"]

    assert (made["giver"], made["taker"]) == ("data-steward", "night-manager")
    assert ended["ended_at"] is not None
    [people, delegation] = desk.run("approvals", "delegations").splitlines()
    assert people.startswith("data-steward → night-manager  ") and delegation == f"  {made['delegation_id']}"
