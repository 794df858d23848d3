"""`run`, `resume`, `cancel` and `answer`: what goes in, what comes out, and the exit codes."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from console.notes import BranchFailure, NotOffered
from console.views import RunOptions
from contracts import OrderState, Problem
from runtime.errors import NotFound
from tests.console.conftest import Silicon
from tests.fakes.console_values import CARD, EXECUTION, QUESTION, outcome


def asked_for(silicon: Silicon, name: str) -> object:
    """Return what the application was asked under that name."""
    return next(what for call, what in silicon.application.asked if call == name)


def test_everything_that_is_typed_reaches_the_application(silicon: Silicon) -> None:
    silicon("run", "org", "Why?", "--skill", "explain", "--with", "day=2013-02-08", "--with", "note=a=b",
            "--at", "2013-02-08T17:00", "--as", "duty-planner", "--key", "k1", "--language", "zh",
            "--budget-seconds", "9", "--budget-money", "5 USD", "--strict")  # fmt: skip

    assert asked_for(silicon, "run") == (
        Path("org"),
        RunOptions(
            goal="Why?", skill="explain", given={"day": "2013-02-08", "note": "a=b"}, at=datetime(2013, 2, 8, 17),
            by="duty-planner", key="k1", language="zh", budget={"seconds": "9", "money": "5 USD"}, strict=True,
        ),
    )  # fmt: skip


def test_a_new_budget_reaches_the_application(silicon: Silicon) -> None:
    silicon("resume", str(EXECUTION), "--budget-steps", "40", "--as", "owner")

    assert asked_for(silicon, "resume") == (EXECUTION, "owner", {"steps": "40"})


def test_the_answer_for_people_is_short_and_says_what_to_do(silicon: Silicon) -> None:
    silicon("run", "org", "Why?")

    assert silicon.code == 3
    assert silicon.out.splitlines() == [
        "◆ waiting for a decision  Why were so many flights cancelled?  12 steps, 4.2\N{NO-BREAK SPACE}s · 0.03 USD",
        "  Found     Weather at all three airports explains the cancellations. (high confidence)",
        "  Report    /home/x/.silicon/products/report.md  Cancellations of 2013-02-08",
        f"  Details   silicon show {EXECUTION}",
        "",
        "◆ What is done for the passengers?  until 2026-11-30 14:00\N{NO-BREAK SPACE}UTC",
        f"  silicon approvals decide {CARD} waive --as duty-manager  # Waive rebooking fees",
        f"  silicon approvals decide {CARD} nothing --as duty-manager  # Do nothing now",
        f"  silicon approvals decide {CARD} deny --as duty-manager  # none of these",
    ]


def test_progress_goes_to_standard_error_line_by_line(silicon: Silicon) -> None:
    silicon("run", "org", "Why?", "--json")

    assert silicon.err.splitlines() == [
        f"This is {EXECUTION}.",
        "● operations-head starts explain-cancellations",
        "● analyst starts",
        "✓ analyst/do  done  0.2\N{NO-BREAK SPACE}s",
        "✓ operations-head/measure  done  0.3\N{NO-BREAK SPACE}s",
        "◆ operations-head/choose  waiting for a decision",
    ]


def test_the_answer_as_json_holds_all_a_program_needs(silicon: Silicon) -> None:
    data = silicon("run", "org", "Why?", "--json").json

    assert (data["execution_id"], data["state"]) == (str(EXECUTION), "waiting")
    assert data["products"][0].keys() == {"title", "kind", "path", "sha256"}
    (card,) = data["cards"]
    assert (card["id"], card["question"]) == (str(CARD), "What is done for the passengers?")
    assert [option["id"] for option in card["options"]] == ["waive", "nothing"]
    assert card["command"] == f"silicon approvals decide {CARD} waive --as duty-manager"
    assert card["deadline"] == "2026-11-30T14:00:00+00:00"
    assert data["usage"]["steps"] == 12


def test_the_same_answer_in_chinese(silicon: Silicon) -> None:
    silicon("run", "org", "Why?", "--language", "zh")

    assert silicon.out.startswith("◆ 等你决定  ")
    assert "  结论      Weather" in silicon.out
    assert "  报告      /home" in silicon.out
    assert "◆ 要为旅客做什么？  2026-11-30 14:00\N{NO-BREAK SPACE}UTC 之前" in silicon.out


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (OrderState.DONE, 0),
        (OrderState.WAITING, 3),
        (OrderState.FAILED, 1),
        (OrderState.PARTIAL, 1),
        (OrderState.CANCELLED, 1),
    ],
)
def test_the_exit_code_follows_the_state(silicon: Silicon, state: OrderState, code: int) -> None:
    silicon.application.outcome = outcome(state=state, cards=())

    assert silicon("run", "org", "Why?").code == code
    assert silicon("resume", str(EXECUTION)).code == code


def test_a_failure_says_why_and_how_to_go_on(silicon: Silicon) -> None:
    problem = Problem(code="NETWORK_FAULT", message="The service does not answer.")
    silicon.application.outcome = outcome(state=OrderState.FAILED, cards=(), error=problem)

    silicon("run", "org", "Why?")

    assert "Why       The service does not answer. [NETWORK_FAULT]" in silicon.out
    assert f"go on where it stood: silicon resume {EXECUTION}" in silicon.out


@pytest.mark.parametrize(
    "wrong", [("--at", "tomorrow"), ("--with", "day"), ("--with", "=1"), ("--language", "xx"), ("--with",)]
)
def test_what_is_typed_wrong_is_usage_and_nothing_runs(silicon: Silicon, wrong: tuple[str, ...]) -> None:
    silicon("run", "org", "Why?", *wrong)

    assert silicon.code == 2
    assert "run" not in [name for name, _ in silicon.application.asked]


def test_a_goal_that_no_skill_fits_lists_the_skills(silicon: Silicon) -> None:
    silicon("run", "org", "nonsense", "--json")

    assert silicon.code == 2
    assert silicon.json["error"]["facts"]["skills"] == ["explain-cancellations"]


def test_an_error_as_json_is_code_message_and_facts(silicon: Silicon) -> None:
    silicon.application.raises = NotFound("There is no organisation folder org.", folder="org")

    silicon("run", "org", "Why?", "--json")

    assert silicon.code == 2
    assert silicon.json == {
        "error": {"code": "NOT_FOUND", "message": "There is no organisation folder org.", "facts": {"folder": "org"}}
    }


def test_part_of_an_id_is_enough(silicon: Silicon) -> None:
    assert silicon("resume", "0xec").code == 3
    assert asked_for(silicon, "resume") == EXECUTION


def test_an_id_that_names_nothing_names_the_newest(silicon: Silicon) -> None:
    silicon("resume", "ZZZZ")

    assert silicon.code == 2
    assert str(EXECUTION) in silicon.err


def test_a_key_used_before_is_told(silicon: Silicon) -> None:
    silicon.application.outcome = outcome(repeated=True)

    assert "nothing new was run" in silicon("run", "org", "Why?", "--key", "k").out


def test_cancel_tells_what_became_of_it(silicon: Silicon) -> None:
    silicon.application.outcome = outcome(state=OrderState.CANCELLED, cards=())
    assert silicon("cancel", "0XEC").code == 0

    silicon.application.outcome = replace(silicon.application.outcome, state=OrderState.DONE)
    silicon("cancel", "0XEC")
    assert silicon.code == 1
    assert "nothing was cancelled" in silicon.err


def test_an_answer_is_written_and_the_execution_goes_on(silicon: Silicon) -> None:
    silicon("answer", QUESTION, "yes")

    assert [name for name, _ in silicon.application.asked] == ["open", "answer", "go_on", "close"]


@pytest.mark.parametrize(
    ("changes", "words", "code"),
    [
        ({"state": OrderState.RUNNING}, "Another process runs it and was told to stop the branch look/first.", 0),
        ({"state": OrderState.DONE}, "The branch look/first was cancelled; the rest went on.", 0),
        ({"state": OrderState.RUNNING, "branch_ended": True}, "The branch look/first had ended before; nothing was", 1),
    ],
)
def test_what_became_of_a_branch_to_cancel_is_told(
    silicon: Silicon, changes: dict[str, object], words: str, code: int
) -> None:
    silicon.application.outcome = replace(silicon.application.outcome, **changes)  # type: ignore[arg-type]

    assert silicon("cancel", "0XEC", "--branch", "look/first").code == code
    assert words in silicon.err


def test_a_branch_that_failed_is_told_though_the_execution_is_done(silicon: Silicon) -> None:
    failures = tuple(BranchFailure(f"look/{name}", "SQL_ERROR", "No table.") for name in "abcdefgh")
    silicon.application.outcome = outcome(state=OrderState.DONE, cards=(), failed_branches=failures)
    silicon("run", "org", "Why?")
    assert silicon.code == 0
    assert "  Note      branch look/a failed, the plan went on without it: No table. [SQL_ERROR]" in silicon.out
    assert "look/f" in silicon.out and "look/g" not in silicon.out and "… and 2 more branches failed" in silicon.out

    silicon("run", "org", "Why?", "--language", "zh")
    assert "注意" in silicon.out and "分支 look/a 失败" in silicon.out

    silicon("run", "org", "Why?", "--json")
    told = json.loads(silicon.out)["failed_branches"]
    assert len(told) == 8 and told[0] == {"branch": "look/a", "code": "SQL_ERROR", "message": "No table."}


@pytest.mark.parametrize(
    ("code", "said", "resume"),
    [
        ("SQL_ERROR", "After mending data or a service", True),
        ("POLICY_VIOLATED", "Going on would be refused again", False),
        ("NO_NODE_FITS", "Once a node that fits is there", True),
    ],
)
def test_how_to_go_on_after_a_failure_depends_on_what_failed(
    silicon: Silicon, code: str, said: str, resume: bool
) -> None:
    silicon.application.outcome = outcome(
        state=OrderState.FAILED, cards=(), error=Problem(code=code, message="It was not to be.")
    )
    silicon("run", "org", "Why?")

    assert said in silicon.out
    assert ("silicon resume" in silicon.out) is resume

    silicon("run", "org", "Why?", "--language", "zh")
    assert ("silicon resume" in silicon.out) is resume


def test_an_option_that_was_not_offered_is_told_with_its_reason(silicon: Silicon) -> None:
    left_out = (
        NotOffered("half", "forbidden", "till.discount", "limit", "At most 30 percent."),
        NotOffered("odd", "unclear", "till.discount", "limit", "text is no number"),
        NotOffered("twenty", "unfit", "till.discount", None, "`percent` must be a whole number"),
    )
    silicon.application.outcome = outcome(state=OrderState.DONE, cards=(), not_offered=left_out)
    silicon("run", "org", "Why?")
    told = " ".join(silicon.out.split())
    assert "option half was not offered, because the rule limit forbids till.discount: At most 30 percent." in told
    assert "option odd was not offered, because the rule limit could not be judged for till.discount: text" in told
    assert "option twenty was not offered, because till.discount could not be called: `percent`" in told

    silicon("run", "org", "Why?", "--json")
    assert json.loads(silicon.out)["not_offered"][2]["reason"] == "unfit"
