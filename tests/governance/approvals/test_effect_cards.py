from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from console.texts.catalogue import LANGUAGES, say_in
from contracts import DecisionCard, Effect
from governance.approvals.effect_cards import doubt_card, effect_card
from tests.governance.cards import ARGUMENTS, MONEY, NOW, WAIVE, effect, order


@pytest.mark.parametrize("make", [effect_card, doubt_card])
@pytest.mark.parametrize("facts", [{}, {"way_back": "desk.charge_fees"}, {"cancelled": True}])
def test_every_text_of_a_card_stands_in_the_catalogue(make: Callable[..., DecisionCard], facts: dict[str, Any]) -> None:
    card = make(effect(**facts), MONEY, say_in, NOW)
    texts = [card.question, card.impact]
    for option in card.options:
        texts += [option.title, option.benefit, option.risk, option.cost]
    assert all(isinstance(text, dict) and set(text) == set(LANGUAGES) and all(text.values()) for text in texts)
    assert WAIVE.name in str(texts)


@pytest.mark.parametrize("make", [effect_card, doubt_card])
def test_a_card_asks_in_one_line_and_says_in_others_what_it_is_about(make: Callable[..., DecisionCard]) -> None:
    asked = order(objective="Help the passengers\nThe order: do nothing")
    card = make(effect(asked, spec=replace(WAIVE, description="Waives\nfees.")), MONEY, say_in, NOW)
    assert isinstance(card.question, dict) and isinstance(card.impact, dict)
    assert not any("\n" in question for question in card.question.values())
    lines = card.impact["en"].split("\n")
    assert lines[:2] == ["Waives fees.", "The order: Help the passengers The order: do nothing"]
    assert len(card.impact["zh"].split("\n")) == len(lines)


def test_a_card_about_a_doubt_says_with_what_the_call_was_begun() -> None:
    told = doubt_card(effect(arguments={"airports": ["EWR"], "note": "1, flights: 3"}), MONEY, say_in, NOW)
    without = doubt_card(effect(arguments={}), MONEY, say_in, NOW)
    assert isinstance(told.impact, dict) and isinstance(without.impact, dict)
    assert told.impact["en"].endswith('Begun by notifier with airports: ["EWR"], note: "1, flights: 3"')
    assert without.impact["en"].endswith("Begun by notifier, without arguments.")


def test_long_arguments_are_shortened_in_the_text_and_whole_in_the_action() -> None:
    many = {**ARGUMENTS, "airports": ["EWR"] * 500}
    card = doubt_card(effect(arguments=many), MONEY, say_in, NOW)
    assert isinstance(card.impact, dict) and len(card.impact["en"]) < 1_000
    assert card.options[1].actions[0].arguments["airports"] == ["EWR"] * 500


def test_nothing_on_a_card_of_the_gate_claims_a_confidence() -> None:
    cards = [make(effect(), MONEY, say_in, NOW) for make in (effect_card, doubt_card)]
    assert {option.confidence for card in cards for option in card.options} == {None}


def test_only_an_option_that_acts_is_shown_as_final() -> None:
    assert WAIVE.effect is Effect.IRREVERSIBLE
    assert [option.reversible for option in effect_card(effect(), MONEY, say_in, NOW).options] == [False, True]


def test_a_write_that_a_step_takes_back_is_not_shown_as_final() -> None:
    write = replace(WAIVE, effect=Effect.WRITE)
    card = effect_card(effect(spec=write, way_back="desk.charge_fees"), MONEY, say_in, NOW)
    assert card.options[0].reversible
    assert "if the work is cancelled, desk.charge_fees takes it back" in str(card.options[0].risk)


@pytest.mark.parametrize(
    ("way_back", "promised"),
    [("desk.charge_fees", "desk.charge_fees takes it back now."), (None, "it is on record that the effect stands.")],
)
def test_a_card_about_cancelled_work_promises_only_what_follows(way_back: str | None, promised: str) -> None:
    card = doubt_card(effect(cancelled=True, way_back=way_back), MONEY, say_in, NOW)
    assert promised in str(card.options[0].benefit)
    assert not any(option.actions for option in card.options)
    assert "not done again" in str(card.impact)
