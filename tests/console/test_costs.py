"""`silicon costs` over a ledger of its own: sums, and that they are what `silicon show` says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from console.cli.main import main

ORG = """name: shop
time_zone: UTC
people: [{id: owner, name: Ann, roles: [approver, operator, admin], login: any}]
approvals: {default: {mode: strict, who: [owner]}}
head:
  id: head
  title: Head
  skills: [count]
  manages:
    - {id: clerk, title: Clerk, can: [python]}
"""
SKILL = "---\nname: count\ndescription: Count what is there.\n---\n"
PLAN = """steps:
  - id: one
    by: clerk
    use: python
    with: {script: "result = {'n': 1}"}
    gives: {result: object}
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SILICON_HOME", str(tmp_path / "home"))
    folder = tmp_path / "shop"
    (folder / "skills" / "count").mkdir(parents=True)
    (folder / "org.yaml").write_text(ORG)
    (folder / "skills" / "count" / "SKILL.md").write_text(SKILL)
    (folder / "skills" / "count" / "plan.yaml").write_text(PLAN)
    return folder


def told(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_sums_are_what_show_says_of_the_execution(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = told(capsys, "run", str(shop), "Count it.", "--skill", "count", "--as", "owner")

    costs = told(capsys, "costs", "--execution", run["execution_id"], "--by", "agent")
    assert [row["key"] for row in costs["rows"]] == ["clerk"]
    assert costs["total"]["steps"] == run["usage"]["steps"] == 1
    assert costs["total"]["seconds"] == pytest.approx(run["usage"]["seconds"], abs=1e-3)

    whole = told(capsys, "costs", "--by", "department")
    assert [row["key"] for row in whole["rows"]] == ["head", "head/clerk"]
    assert whole["total"] == costs["total"]
    before = told(capsys, "costs", "--by", "process")
    assert [row["key"] for row in before["rows"]] == ["count"]
    assert told(capsys, "costs", "rebuild")["position"] > 0
    assert told(capsys, "costs", "--by", "process") == before

    assert main(["costs", "--by", "step"]) == 0
    assert "count/one" in capsys.readouterr().out


def test_whoever_sees_departments_only_is_told_of_the_work_and_the_budgets_there(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(capsys, "run", str(shop), "Count it.", "--skill", "count", "--as", "owner")
    bounded = ORG.replace(", login: any}]", "}, {id: visitor, name: Eve, departments: {stand: viewer}, login: any}]")
    bounded = bounded.replace("head:\n", "budgets: [{department: clerk, per: month, seconds: 60}]\nhead:\n")
    (shop / "org.yaml").write_text(bounded + "    - {id: stand, title: Stand}\n")

    assert told(capsys, "costs", "--by", "agent")["rows"] == []
    assert told(capsys, "costs", "budgets", str(shop))["budgets"] == []

    (shop / "org.yaml").write_text((shop / "org.yaml").read_text().replace("{stand: viewer}", "{clerk: viewer}"))
    assert [row["key"] for row in told(capsys, "costs", "--by", "agent")["rows"]] == ["clerk"]
    assert len(told(capsys, "costs", "budgets", str(shop))["budgets"]) == 1


def test_what_is_asked_wrongly_is_said(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["costs", "--by", "colour"]) == 2
    assert "Choose one of step, agent" in capsys.readouterr().err
    assert main(["costs", "--since", "yesterday"]) == 2
    assert main(["costs", "--since", "2026-12-02", "--until", "2026-12-01"]) == 2


def limited(shop: Path, text: str) -> None:
    file = shop / "org.yaml"
    file.write_text(file.read_text().replace("head:\n", f"budgets: [{text}]\nhead:\n", 1))


def test_a_department_without_seconds_left_begins_nothing_until_it_gets_more(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    limited(shop, "{department: clerk, per: month, seconds: 0.001s}")
    assert main(["check", str(shop)]) == 0
    assert main(["run", str(shop), "Count it.", "--skill", "count", "--as", "owner"]) == 0

    [row] = told(capsys, "costs", "budgets", str(shop))["budgets"]
    assert (row["budget"], row["limit"], row["most"]) == ("department/clerk/month", "seconds", "0.001")
    assert float(row["spent"]) > 0.001

    assert main(["run", str(shop), "Count it.", "--skill", "count", "--as", "owner", "--json"]) == 1
    stopped = json.loads(capsys.readouterr().out)
    assert stopped["state"] == "partial" and stopped["error"]["facts"]["budget"] == "department/clerk/month"

    words = ["costs", "extend", str(shop), "department/clerk/month", "--seconds", "60", "--why", "a long day"]
    [more] = told(capsys, *words, "--as", "owner")["budgets"]
    assert (more["most"], more["extra"]) == ("60.001", "60")
    assert main(["resume", stopped["execution_id"], "--as", "owner"]) == 0

    capsys.readouterr()
    before = told(capsys, "costs", "budgets", str(shop))
    assert told(capsys, "costs", "rebuild", "--budgets", str(shop))["budgets"] == 1
    assert told(capsys, "costs", "budgets", str(shop)) == before


def test_only_an_administrator_gives_more_and_only_of_what_is_limited(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    limited(shop, "{process: count, per: day, tokens: 9}")
    org = shop / "org.yaml"
    org.write_text(org.read_text().replace("people: [", "people: [{id: joe, name: Joe, roles: [operator]}, "))
    assert main(["costs", "extend", str(shop), "process/count/day", "--tokens", "5", "--as", "joe"]) == 1
    assert "it takes the role admin" in capsys.readouterr().err
    assert main(["costs", "extend", str(shop), "process/count/day", "--money", "5 USD", "--as", "owner"]) == 2
    assert "limits tokens" in capsys.readouterr().err
    assert main(["costs", "extend", str(shop), "process/bake/day", "--tokens", "5", "--as", "owner"]) != 0
    assert "There are: process/count/day" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["--money", "900 JPY"], "is in USD, and 900 JPY are given"),
        (["--money", "1e400 USD"], "cannot be read"),
        (["--money", "0 USD"], "Nothing was given"),
        (["--seconds", "inf"], "cannot be read"),
        (["--seconds", "nan"], "cannot be read"),
        ([], "Nothing was given"),
    ],
)
def test_more_is_given_in_the_currency_of_the_budget_and_within_reason(
    shop: Path, capsys: pytest.CaptureFixture[str], given: list[str], why: str
) -> None:
    limited(shop, "{process: count, per: day, money: 5 USD, seconds: 60s}")
    before = told(capsys, "costs", "budgets", str(shop))
    assert main(["costs", "extend", str(shop), "process/count/day", *given, "--as", "owner"]) == 2
    assert why in capsys.readouterr().err
    assert told(capsys, "costs", "budgets", str(shop)) == before


def test_more_tokens_than_anybody_counts_are_still_shown(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    limited(shop, "{process: count, per: day, tokens: 9}")
    many = "1" + "0" * 39
    [row] = told(capsys, "costs", "extend", str(shop), "process/count/day", "--tokens", many, "--as", "owner")[
        "budgets"
    ]
    assert row["extra"] == many
