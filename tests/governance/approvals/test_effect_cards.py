from collections.abc import Callable

import pytest

from console.texts.catalogue import LANGUAGES, say_in
from contracts import DecisionCard, Effect
from governance.approvals.effect_cards import doubt_card, effect_card
from tests.governance.cards import ARGUMENTS, MONEY, NOW, WAIVE, effect, order


@pytest.mark.parametrize("make", [effect_card, doubt_card])
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_of_a_card_stands_in_the_catalogue(make: Callable[..., DecisionCard], language: str) -> None:
    card = make(effect(order(language=language)), MONEY, say_in, NOW)
    texts = [card.question, card.impact]
    for option in card.options:
        texts += [option.title, option.benefit, option.risk, option.cost]
    assert all(isinstance(text, str) and text for text in texts)
    assert WAIVE.name in str(texts)


def test_long_arguments_are_shortened_in_the_text_and_whole_in_the_action() -> None:
    many = {**ARGUMENTS, "airports": ["EWR"] * 500}
    card = effect_card(effect(arguments=many), MONEY, say_in, NOW)
    assert len(str(card.impact)) < 1_000
    assert card.options[0].actions[0].arguments["airports"] == ["EWR"] * 500


def test_only_an_option_that_acts_is_shown_as_final() -> None:
    assert WAIVE.effect is Effect.IRREVERSIBLE
    assert [option.reversible for option in effect_card(effect(), MONEY, say_in, NOW).options] == [False, True]
