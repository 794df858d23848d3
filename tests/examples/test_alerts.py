"""The example's own alerts on the day of the storm, by way of its `alerts.yaml` and of the command line."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agents.cognition.attend import LeftOutWhy
from agents.cognition.sense.noticed import noticed
from console.cli.main import main
from console.pinned import Organisations
from console.wiring import Wired
from runtime.ledger.store import SqlStore
from runtime.settings.load import load
from tests.fakes.clock import HandClock
from tests.stores import lay_empty_ledger

STORM, AFTER = datetime(2013, 2, 8, 10, tzinfo=UTC), datetime(2013, 2, 9, 5, tzinfo=UTC)
EVENING = "2013-02-08T17:00"


@pytest.fixture
async def airports(example: Path, sqlite_store: SqlStore, clock: HandClock, tmp_path: Path) -> AsyncIterator[Wired]:
    settings = load({"home": str(tmp_path)}, working=tmp_path)
    organisations = Organisations(sqlite_store, settings, clock)
    yield organisations.now(example)
    await organisations.close()


@pytest.mark.anyio
async def test_a_day_of_storm_is_one_thing_to_see_to(airports: Wired) -> None:
    raw, why, told, at = 0, Counter[str](), list[tuple[str, ...]](), STORM
    while at < AFTER:
        for sensor in airports.organisation.thresholds.values():
            seen = noticed(await airports.sensors.run(sensor, at))
            taken = await airports.alerts.note(seen, at)
            raw += len(seen)
            why.update(taken.why)
            told += [telling.to for telling in taken.tellings]
        at += timedelta(hours=1)

    attended = await airports.attention.now(at)
    heard = {view.labels["sensor"] for view in await airports.alerts.open(at) if not view.hushes}
    assert raw > 90
    assert len(await airports.alerts.recent()) <= 12
    assert why["duplicate"] + why["inhibited"] > 0.85 * raw
    assert heard == {"cancellations-of-the-day"}
    assert [each.alert.labels["sensor"] for each in attended.order] == ["cancellations-of-the-day"]
    assert {each.why for each in attended.left_out} == {LeftOutWhy.INHIBITED}
    assert 1 <= len(told) <= 4


@pytest.fixture
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    lay_empty_ledger(home)
    monkeypatch.setenv("SILICON_HOME", str(home))


def answer(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    """Run a command, and return what it answers."""
    assert main([*words, "--json"]) == code
    return json.loads(capsys.readouterr().out)


@pytest.mark.usefixtures("at_home")
def test_a_person_sees_takes_on_and_silences_alerts(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    org = str(example)
    answer(capsys, "sensors", "run", org, "--at", EVENING)
    shown = answer(capsys, "alerts", "list", org, "--at", EVENING)["alerts"]
    first = shown[0]["alert_id"].partition("/")[2]

    assert shown[0]["labels"]["sensor"] == "cancellations-of-the-day"
    assert all(each["hushes"][0]["reason"] == "inhibited" for each in shown[1:])

    words = ("alerts", "silence", org, "--match", "sensor=cancellations-of-the-day", "--at", EVENING)
    only_shown = answer(capsys, *words)
    assert (only_shown["silence"], len(only_shown["matching"])) == (None, 1)
    refused = answer(capsys, *words, "--hours", "2", "--reason", "known", "--yes", "--as", "duty-manager", code=1)
    assert refused["error"]["code"] == "PERMISSION_REFUSED"
    made = answer(capsys, *words, "--hours", "2", "--reason", "known", "--yes", "--as", "duty-planner")["silence"]
    left = answer(capsys, "attention", org, "--at", EVENING)
    assert (left["order"], {each["why"] for each in left["left_out"]}) == ([], {"silenced", "inhibited"})
    answer(capsys, "alerts", "lift", org, made["silence_id"], "--at", EVENING, "--as", "duty-planner")

    answer(capsys, "alerts", "ack", org, first, "--at", EVENING, "--reason", "on it", "--as", "duty-planner")
    again = answer(capsys, "alerts", "ack", org, first, "--at", EVENING, "--as", "operations-director", code=1)
    history = answer(capsys, "alerts", "show", org, first)["history"]
    assert (again["error"]["code"], "duty-planner" in again["error"]["message"]) == ("ALERT_PAST", True)
    assert [each["type"] for each in history] == [
        "alert.opened", "alert.told", "alert.hushed", "alert.heard", "alert.acknowledged",
    ]  # fmt: skip


@pytest.mark.usefixtures("at_home")
@pytest.mark.parametrize("language", ["en", "zh"])
def test_everything_has_words_in_both_languages(
    example: Path, language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    org, at = str(example), ("--at", EVENING, "--language", language)
    assert main(["sensors", "run", org, *at]) == 0
    assert main(["alerts", "list", org, *at]) == 0
    assert main(["attention", org, *at]) == 0
    out = capsys.readouterr().out

    assert "P2 cancellations-of-the-day" in out.replace("\n", " ")
    assert ("explained by another alert" if language == "en" else "由另一警报解释") in out
