"""Working memory: what is kept grows with the steps that are done, by the formulas of the specification."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.context.memory import (
    Insight,
    complexity_of,
    insight_chars,
    insights_kept,
    messages_kept,
    shown_insights,
)
from runtime.settings.context import ContextSettings

SETTINGS = ContextSettings()


@pytest.mark.parametrize(
    ("steps", "complexity", "insights", "chars", "messages"),
    [(0, 0, 0, 2_000, 36), (3, 1, 8, 3_600, 34), (10, 2, 20, 6_000, 28), (30, 2, 40, 8_000, 12), (60, 0, 40, 8_000, 6)],
)
def test_what_is_kept_follows_the_formulas(
    steps: int, complexity: int, insights: int, chars: int, messages: int
) -> None:
    assert insights_kept(steps, complexity, SETTINGS) == insights
    assert insight_chars(steps, complexity, SETTINGS) == chars
    assert messages_kept(steps, SETTINGS) == messages


def test_a_long_description_and_many_tools_make_a_step_complex() -> None:
    assert [complexity_of("x" * n, tools, SETTINGS) for n, tools in ((400, 5), (401, 5), (400, 6), (401, 6))] == [
        0, 1, 1, 2,
    ]  # fmt: skip


def test_the_newest_come_first_and_the_same_words_once() -> None:
    noted = [Insight("a", "one"), Insight("b", "two"), Insight("c", "one")]

    shown = shown_insights(noted, steps=5, complexity=0, settings=SETTINGS)

    assert [(each.step, each.text) for each in shown] == [("c", "one"), ("b", "two")]


@given(st.lists(st.text(min_size=1, max_size=500), max_size=80), st.integers(0, 80), st.integers(0, 2))
def test_what_is_shown_never_exceeds_number_and_size(texts: list[str], steps: int, complexity: int) -> None:
    noted = [Insight("a", text) for text in texts]

    shown = shown_insights(noted, steps=steps, complexity=complexity, settings=SETTINGS)

    assert len(shown) <= insights_kept(steps, complexity, SETTINGS)
    assert sum(len(each.text) for each in shown) <= insight_chars(steps, complexity, SETTINGS)
