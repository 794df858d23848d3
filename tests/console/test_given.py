"""`silicon show ID STEP` shows what a step gave: the values, as far as they fit a screen, without secrets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from console.cli.render.given import LETTERS, LINES
from console.views import ExecutionTree, StepNode, StepState
from contracts import Json
from runtime.telemetry import register
from tests.console.conftest import Silicon
from tests.fakes.console_values import EXECUTION, tree


@pytest.fixture
def given(silicon: Silicon, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let an execution have one step that gave a value."""

    def gives(output: Json, **facts: Any) -> Silicon:
        whole = tree()
        assert whole.root is not None
        step = StepNode("rooms", StepState.DONE, output=output, **facts)
        changed = replace(whole, root=replace(whole.root, steps=(step,)))

        async def show(_: object) -> ExecutionTree:
            return changed

        monkeypatch.setattr(silicon.application, "show", show)
        return silicon

    return gives


def test_values_that_the_tree_only_counts_are_shown(given: Any) -> None:
    silicon = given([{"room": "12b", "free": True}, {"room": "14", "free": False}])

    assert "2 items" in silicon("show", str(EXECUTION)).out
    assert f"silicon show {EXECUTION} STEP shows what a step gave." in silicon.out
    told = silicon("show", str(EXECUTION), "rooms").out

    assert '"room": "12b"' in told and '"free": false' in told
    assert silicon.code == 0


def test_as_json_it_is_the_value(given: Any) -> None:
    (step,) = given({"n": 1})("show", str(EXECUTION), "rooms", "--json").json["steps"]
    assert (step["step"], step["index"], step["state"], step["output"]) == ("rooms", None, "done", {"n": 1})


def test_a_long_value_is_cut_and_said_to_be_until_all_is_asked_for(given: Any) -> None:
    silicon = given([*range(LINES), "x" * 2 * LETTERS])

    told = silicon("show", str(EXECUTION), "rooms").out
    assert "… and 3 more lines; --full shows all of it" in told
    whole = silicon("show", str(EXECUTION), "rooms", "--full").out

    assert "x" * 2 * LETTERS in whole and f"{LINES - 1}," in whole and "--full" not in whole


def test_a_long_line_is_cut_and_said_to_be(given: Any) -> None:
    told = given({"text": "x" * 2 * LETTERS})("show", str(EXECUTION), "rooms").out
    assert "x" * LETTERS not in told and "Long lines are cut" in told


def test_no_secret_is_shown(given: Any) -> None:
    register(["canary-of-the-values"])
    silicon = given({"note": "the key is canary-of-the-values"})
    for more in ([], ["--full"], ["--json"]):
        assert "canary-of-the-values" not in silicon("show", str(EXECUTION), "rooms", *more).out


def test_a_repetition_is_named_by_its_number_and_the_whole_names_its_parts(given: Any) -> None:
    parts = tuple(StepNode("rooms", StepState.DONE, index=n, output={"n": n}) for n in range(2))
    silicon = given([], steps=parts)

    assert "rooms[0], rooms[1]" in silicon("show", str(EXECUTION), "rooms").out
    assert '"n": 1' in silicon("show", str(EXECUTION), "rooms[1]").out


@pytest.mark.parametrize(("facts", "told"), [({}, "gave nothing"), ({"damaged": True}, "damaged")])
def test_what_is_not_there_is_said(given: Any, facts: dict[str, Any], told: str) -> None:
    assert told in given(None, **facts)("show", str(EXECUTION), "rooms").out


def test_a_step_that_there_is_not_is_told_with_those_most_like_it(given: Any) -> None:
    silicon = given({"n": 1})
    assert silicon("show", str(EXECUTION), "roms").code == 2
    assert "has no step 'roms'. It has rooms." in silicon.err


def test_steps_of_orders_below_are_found_and_one_order_can_be_meant(silicon: Silicon) -> None:
    below = silicon("show", str(EXECUTION), "do", "--json").json["steps"]
    assert [each["employee"] for each in below] != []

    assert silicon("show", str(tree().root.order_id), "do").code == 2  # type: ignore[union-attr]


def test_options_that_mean_nothing_together_are_refused(silicon: Silicon) -> None:
    assert silicon("show", str(EXECUTION), "do", "--evidence").code == 2
    assert silicon("show", str(EXECUTION), "--full").code == 2
