"""A sensor that watches no metric cannot be let look by hand, and it is told why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from console.cli.main import main
from tests.console.beats.desk import cron, make_desk
from tests.stores import lay_empty_ledger


def test_a_sensor_of_set_times_is_not_said_to_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_empty_ledger(tmp_path / "home")
    monkeypatch.setenv("SILICON_HOME", str(tmp_path / "home"))
    desk = make_desk(tmp_path / "desk", morning=cron("0 7 * * *"))

    assert main(["sensors", "run", str(desk), "morning", "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "INVALID_ARGUMENTS" and error["message"].startswith("morning watches no metric")
    assert main(["sensors", "run", str(desk), "evening", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "UNKNOWN_NAME"
