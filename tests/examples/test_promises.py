"""The card of the storm, recomputed by a stranger, and what came of its promise."""

from __future__ import annotations

from statistics import median
from typing import Any

import pytest

from tests.examples.conftest import Desk

APPROVER = ("--as", "duty-manager")


def output_of(tree: Any, step: str) -> dict[str, Any]:
    """Return the output of a step, wherever it stands in what `silicon show` tells."""
    waiting = [tree]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            if item.get("id") == step or item.get("step") == step:
                found = item.get("output")
                if isinstance(found, dict):
                    return found
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    raise AssertionError(f"{step} is not shown")


def test_the_cards_impact_can_be_recomputed_from_what_show_gives(waiting: tuple[Desk, dict[str, Any]]) -> None:
    desk, said = waiting
    card = desk.json("approvals", "show", said["cards"][0]["id"])
    shown = desk.json("show", said["execution_id"])
    series = output_of(shown, "why")["series"]
    earlier, now = [point["value"] for point in series[:-1]], series[-1]
    usual = median(earlier)
    expects = card["options"][0]["expects"]

    assert card["facts"]["why.usual.value"]["value"] == pytest.approx(usual, abs=1e-9)
    assert card["facts"]["why.excess"]["value"] == pytest.approx(now["value"] - usual, abs=1e-9)
    assert card["facts"]["why.excess_rows"]["value"] == pytest.approx((now["value"] - usual) * now["n"], abs=1e-6)
    assert f"{100 * (now['value'] - usual):+.1f} %" in card["impact"]
    assert (expects["baseline"], expects["unit"]) == (now["value"], "share")
    assert expects["change"] == pytest.approx(usual - now["value"], abs=1e-9)
    assert [option["expects"]["period"] for option in card["options"]] == ["2013-02-09"] * 3


def test_evidence_of_the_explanation_is_as_it_was_sealed(waiting: tuple[Desk, dict[str, Any]]) -> None:
    desk, said = waiting

    assert desk.json("evidence", "verify", said["execution_id"])["clean"]


def test_the_day_after_the_storm_was_no_usual_one_and_that_is_told(
    waiting: tuple[Desk, dict[str, Any]], example: Any
) -> None:
    desk, said = waiting
    desk.run("approvals", "decide", said["cards"][0]["id"], "nothing", *APPROVER)

    early = desk.json("calibration", "judge", str(example))
    late = desk.json("calibration", "judge", str(example), "--at", "2013-02-10T03:00")
    again = desk.json("calibration", "judge", str(example), "--at", "2013-02-11T03:00")
    table = desk.json("calibration", "show", str(example))
    to_come = desk.json("calibration", "judge", str(example), "--at", "2126-01-01T00:00", exits=2)

    assert (early["judged"], early["waiting"]) == ([], 1)
    [promise] = late["judged"]
    assert (promise["kept"], promise["n"], promise["skill"]) == ("broken", 684, "explain-cancellations")
    assert promise["value"] == pytest.approx(393 / 684)
    assert again["judged"] == []
    assert [(row["label"], row["n"], row["kept"], row["shown"]) for row in table["labels"]] == [
        ("medium", 1, 0, "medium")
    ]
    assert table["brier"] == pytest.approx(0.49)
    assert to_come["error"]["code"] == "INVALID_ARGUMENTS" and "still to come" in to_come["error"]["message"]


def test_a_person_sees_on_the_card_what_each_option_promises(waiting: tuple[Desk, dict[str, Any]]) -> None:
    desk, said = waiting
    shown = desk.run("approvals", "show", said["cards"][0]["id"])
    in_chinese = desk.run("approvals", "show", said["cards"][0]["id"], "--language", "zh")

    assert "cancel-rate of 2013-02-09 changes by -30.8 % (-31.5 % to -24.5 %) from 31.7 %" in " ".join(shown.split())
    assert "预期" in in_chinese
