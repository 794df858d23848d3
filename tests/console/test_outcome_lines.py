"""How the end of an execution reads."""

from __future__ import annotations

import pytest

from console.cli.output import Output
from console.cli.render.outcome import outcome_lines
from console.texts import say_in
from contracts import OrderState
from runtime.errors import ModelRequired
from tests.fakes.console_values import outcome


def test_a_result_tells_single_values_and_lists_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output(say_in("en"), "en", as_json=False)
    given = {"best": "rye", "rooms": ["blue", "red"], "empty": [], "rows": [{"n": 1}], "nothing": ""}

    output.show(*outcome_lines(outcome(state=OrderState.DONE, findings=(), output=given), output))

    told = capsys.readouterr().out
    assert "Result    best: rye" in told
    assert "rooms: blue, red\n" in told
    assert not any(name in told for name in ("empty:", "rows:", "nothing:"))


def test_without_a_model_it_does_not_send_people_to_resume_what_has_none(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output(say_in("en"), "en", as_json=False)
    error = ModelRequired("No model is set.").problem()

    output.show(*outcome_lines(outcome(state=OrderState.FAILED, error=error), output))

    told = " ".join(capsys.readouterr().out.split())
    assert "Set one, and run the goal anew." in told
    assert "silicon resume" not in told
