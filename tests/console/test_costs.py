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


def test_what_is_asked_wrongly_is_said(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["costs", "--by", "colour"]) == 2
    assert "Choose one of step, agent" in capsys.readouterr().err
    assert main(["costs", "--since", "yesterday"]) == 2
    assert main(["costs", "--since", "2026-12-02", "--until", "2026-12-01"]) == 2
