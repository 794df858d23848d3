"""`silicon rules`, and what `silicon show` tells of an action that a rule refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from console.cli.main import main

RULES = {
    "few.yaml": """text: {en: Few loaves., zh: 少量面包。}
applies_to: [python]
allow_when: "!('loaves' in arguments) || arguments.loaves <= 10"
breach: damages_data
examples:
  - {use: python, with: {loaves: 3}, allowed: true, why: a small order}
  - {use: python, with: {loaves: 30}, allowed: false, why: a large order}
""",
    "polite.yaml": "text: Be polite.\nbreach: inconvenient\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules").mkdir()
    for name, text in RULES.items():
        (tmp_path / "rules" / name).write_text(text)
    return tmp_path


def test_rules_are_listed_with_what_holds_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "list", str(folder), "--json"]) == 0
    few, polite = json.loads(capsys.readouterr().out)["rules"]
    assert (few["name"], few["breach"], [case["ok"] for case in few["examples"]]) == ("few", "damages_data", [True] * 2)
    assert polite["allow_when"] is None

    assert main(["rules", "list", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert "by code" in shown and "told only" in shown and "2/2" in shown


def test_one_rule_is_shown_with_its_version(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "show", str(folder), "few", "--language", "zh"]) == 0
    assert "少量面包" in capsys.readouterr().out
    assert main(["rules", "show", str(folder), "nothing"]) != 0
    assert "There are: few, polite" in capsys.readouterr().err


def test_an_example_that_comes_out_otherwise_fails_the_test(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "test", str(folder)]) == 0
    capsys.readouterr()
    file = folder / "rules" / "few.yaml"
    file.write_text(file.read_text().replace("<= 10", "<= 100"))

    assert main(["rules", "test", str(folder), "few"]) == 1
    assert "should be refused but the rule lets it pass" in " ".join(capsys.readouterr().out.split())


ORG = """name: shop
time_zone: UTC
people: [{id: owner, name: Ann, roles: [operator, admin], login: any}]
head: {id: head, title: Head, skills: [count], manages: [{id: clerk, title: Clerk, can: [python]}]}
"""
PLAN = "steps: [{id: one, by: clerk, use: python, with: {script: 'result = {}'}, gives: {result: object}}]\n"
NO_CODE = "text: Clerks run no code.\napplies_to: [python]\nallow_when: \"!('clerk' in facts.departments)\"\n"


def test_a_refused_action_is_shown_with_its_execution_and_over_all_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SILICON_HOME", str(tmp_path / "home"))
    shop = tmp_path / "shop"
    for name, text in (
        ("org.yaml", ORG),
        ("skills/count/SKILL.md", "---\nname: count\ndescription: Count.\n---\n"),
        ("skills/count/plan.yaml", PLAN),
        ("rules/no-code.yaml", NO_CODE),
    ):
        (shop / name).parent.mkdir(parents=True, exist_ok=True)
        (shop / name).write_text(text)
    assert main(["check", str(shop)]) == 0
    assert main(["rules", "refused", str(shop)]) == 0
    assert "No rule has refused anything." in capsys.readouterr().out

    assert main(["run", str(shop), "Count.", "--skill", "count", "--as", "owner", "--json"]) == 1
    run = json.loads(capsys.readouterr().out)

    assert main(["show", run["execution_id"]]) == 0
    assert "rule no-code@" in capsys.readouterr().out
    for _ in range(2):  # counted once, however often it is asked
        assert main(["rules", "refused", str(shop), "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["counts"] == {"no-code": 1}
        assert [each["execution_id"] for each in told["newest"]] == [run["execution_id"]]
    assert main(["rules", "refused", str(shop)]) == 0
    assert "python" in capsys.readouterr().out
