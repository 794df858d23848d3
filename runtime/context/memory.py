"""Working memory: what a model wants to know later, kept apart from the conversation that shows it now.

The formulas are those of the product's specification: what is kept grows with the steps that are done, while the
transcript shrinks, so that a long run reads as clean as a short one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runtime.settings.context import ContextSettings


@dataclass(frozen=True, slots=True)
class Insight:
    """One thing that a model noted."""

    step: str
    """In which step."""
    text: str


def complexity_of(description: str, tools: int, settings: ContextSettings) -> int:
    """Return how hard a step is: one point for a long description, one for many tools."""
    return int(len(description) > settings.long_description_chars) + int(tools > settings.many_tools)


def insights_kept(steps: int, complexity: int, settings: ContextSettings) -> int:
    """Return how many insights are shown after so many finished steps: `round(1.2 × steps + 4 × complexity)`."""
    return min(round(1.2 * steps + 4 * complexity), settings.insights_most)


def insight_chars(steps: int, complexity: int, settings: ContextSettings) -> int:
    """Return their characters at most: `round(2000 + 200 × steps + 1000 × complexity)`."""
    return min(round(2_000 + 200 * steps + 1_000 * complexity), settings.insight_chars_most)


def messages_kept(steps: int, settings: ContextSettings) -> int:
    """Return how many messages of the transcript stay: `round(36 − 0.8 × steps)`, not fewer than the setting says."""
    return max(round(36 - 0.8 * steps), settings.messages_least)


def shown_insights(
    insights: Sequence[Insight], *, steps: int, complexity: int, settings: ContextSettings
) -> Sequence[Insight]:
    """Return those that are shown, newest first; one that does not fit any more ends the list.

    Args:
        insights: all that were noted, oldest first; of two with the same words the newer counts.
        steps: finished so far.
    """
    most, left = insights_kept(steps, complexity, settings), insight_chars(steps, complexity, settings)
    shown: list[Insight] = []
    seen: set[str] = set()
    for insight in reversed(insights):
        if insight.text in seen:
            continue
        left -= len(insight.text)
        if len(shown) >= most or left < 0:
            break
        seen.add(insight.text)
        shown.append(insight)
    return shown
