"""A label of confidence that is shown in the place of a stronger one says so, with what it rests on."""

from __future__ import annotations

import pytest

from console.cli.output import Output
from console.cli.render.card import option_pairs
from console.cli.render.expected import in_unit
from console.texts import say_in
from contracts import Confidence, DecisionCard, Json
from tests.governance.cards import card, option

FACT: dict[str, Json] = {
    "value": "high → medium", "source": "11 of 24 promises kept", "label": "high", "shown": "medium", "kept": 11,
    "n": 24, "promised": 0.9,
}  # fmt: skip


def shown(label: Confidence, fact: dict[str, Json] | None, language: str = "en") -> str:
    options = tuple(option(name).model_copy(update={"confidence": label}) for name in ("waive", "nothing"))
    asked: DecisionCard = card(options=options, facts={} if fact is None else {"confidence high": fact})
    output = Output(say_in(language), language, as_json=False)
    return dict(option_pairs(asked.options[0], asked, output))[output.say("option-confidence")]


def test_it_names_the_label_that_was_earned_and_how_often_that_came_true() -> None:
    told = "(corrected from high confidence: 11 of 24 such promises came true, 90 % should)"

    assert shown(Confidence.MEDIUM, FACT) == f"medium confidence {told}"
    assert "11" in shown(Confidence.MEDIUM, FACT, "zh") and "24" in shown(Confidence.MEDIUM, FACT, "zh")


def test_a_label_that_stands_as_it_was_earned_says_nothing() -> None:
    assert shown(Confidence.HIGH, None) == "high confidence"
    assert shown(Confidence.HIGH, {**FACT, "shown": "high"}) == "high confidence"


@pytest.mark.parametrize(
    ("value", "unit", "told"),
    [
        (-0.3076, "share", "-30.8 %"),
        (12.5, "minutes", "+12.50 minutes"),
        (3.0, "flights", "+3 flights"),
        (None, "x", "–"),
    ],
)
def test_a_change_is_told_in_the_unit_of_its_metric(value: float | None, unit: str, told: str) -> None:
    assert in_unit(value, unit, signed=True) == told
