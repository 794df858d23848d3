"""Points, and what repeats what was shown."""

from __future__ import annotations

import pytest

from memory.writing.novelty import repeats
from memory.writing.policy import Feature, judge
from runtime.settings import MemorySettings


@pytest.mark.parametrize(
    ("features", "score", "kept"),
    [
        ((), 0, False),
        ((Feature.FACT,), 3, True),
        ((Feature.REMEMBER,), 5, True),
        ((Feature.DECISION,), 2, False),
        ((Feature.DECISION, Feature.REPEATED), 4, True),
        ((Feature.FACT, Feature.SMALL_TALK), 0, False),
        ((Feature.REMEMBER, Feature.SMALL_TALK), 2, False),
        (tuple(Feature), 9, True),
    ],
)
def test_points_are_those_of_the_settings_and_three_are_enough(
    features: tuple[Feature, ...], score: int, kept: bool
) -> None:
    judgement = judge(features, MemorySettings())
    assert (judgement.score, judgement.kept) == (score, kept)
    assert set(judgement.points) == set(features)


def test_weights_and_threshold_can_be_changed() -> None:
    assert not judge([Feature.FACT], MemorySettings(keep_score=4)).kept
    assert judge([Feature.DECISION], MemorySettings(decision_points=3)).kept


SHOWN = ["The fiscal year of the airports starts in April, and the budget is set in March."]


@pytest.mark.parametrize(
    ("sentence", "there"),
    [
        ("The fiscal year of the airports starts in April.", True),
        ("the FISCAL year of the airports starts in april", True),
        ("As you said, the fiscal year of the airports starts in April and the budget is set in March", True),
        ("The fiscal year of the shop starts in May.", False),
        ("Our runway is closed.", False),
        ("", False),
    ],
)
def test_what_repeats_what_was_shown_is_known_again(sentence: str, there: bool) -> None:
    assert repeats(sentence, SHOWN) is there
    assert not repeats(sentence, [])
