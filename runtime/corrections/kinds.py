"""What is counted: each guard, and the occasions on which it could have fired."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Guard(StrEnum):
    """What code does because a model or an endpoint did not do it by itself."""

    ANSWER_REFUSED = "answer_refused"
    """An answer was not taken for the result of its step."""
    ARGUMENTS_INVALID = "arguments_invalid"
    """A call whose arguments do not fit went back."""
    UNKNOWN_TOOL = "unknown_tool"
    """A call of a tool that there is not went back."""
    CALL_REPEATED = "call_repeated"
    """The same call again and again was stopped."""
    ITERATION_LIMIT = "iteration_limit"
    """The model was asked as often as it may be."""
    CALLS_AS_TEXT = "calls_as_text"
    """Calls were read out of words."""
    TOOL_DROPPED = "tool_dropped"
    """A tool could not be offered."""
    USAGE_ESTIMATED = "usage_estimated"
    """What an answer took was reckoned, because the endpoint does not tell."""
    RESULT_SUSPICIOUS = "result_suspicious"
    """What a tool gave was told to be odd."""
    OUTPUT_SUSPICIOUS = "output_suspicious"
    """What a step was to give was told to be odd, by the step's own rules."""
    UNANSWERED = "unanswered"
    """A request got no answer; the model was asked once more where that may help."""
    CALL_RETRIED = "call_retried"
    """A call met a fault that passes, and was made once more."""


class Occasion(StrEnum):
    """When a guard could have fired."""

    ANSWERS = "answers"
    """Answers of the model."""
    REQUESTS = "requests"
    """Times that the model was asked, answered or not."""
    STEPS = "steps"
    """Steps that the model began to reason about."""
    CALLS = "calls"
    """Calls that the model made, whatever came of them."""
    JUDGED = "judged"
    """Results of tools that have rules of what is plausible, which were held against them."""
    ANSWERS_LACKING = "answers_lacking"
    """Answers to a request that at least one tool was dropped from: what share of answers dropping touched."""


COUNTED_OF: Mapping[Guard, Occasion] = {
    Guard.ANSWER_REFUSED: Occasion.ANSWERS,
    Guard.ARGUMENTS_INVALID: Occasion.CALLS,
    Guard.UNKNOWN_TOOL: Occasion.CALLS,
    Guard.CALL_REPEATED: Occasion.CALLS,
    Guard.ITERATION_LIMIT: Occasion.STEPS,
    Guard.CALLS_AS_TEXT: Occasion.ANSWERS,
    Guard.TOOL_DROPPED: Occasion.ANSWERS,
    Guard.USAGE_ESTIMATED: Occasion.ANSWERS,
    Guard.RESULT_SUSPICIOUS: Occasion.JUDGED,
    Guard.OUTPUT_SUSPICIOUS: Occasion.STEPS,
    Guard.UNANSWERED: Occasion.REQUESTS,
    Guard.CALL_RETRIED: Occasion.CALLS,
}
"""What each guard's share is a share of."""


class Series(NamedTuple):
    """What is counted apart."""

    what: str
    """A guard or an occasion."""
    organisation: str
    model: str
    """The name under which the execution was pinned to it; empty where that is not known."""
    tool: str = ""
    """Empty for what no one tool is concerned by; names that models make up are none."""


def by_series(counts: Mapping[Series, int], kind: type[Guard] | type[Occasion]) -> Mapping[tuple[str, str, str], int]:
    """Return what, model and tool → count, of all organisations together: of the guards, or of the occasions."""
    wanted = frozenset(map(str, kind))
    found: Counter[tuple[str, str, str]] = Counter()
    for series, count in counts.items():
        if series.what in wanted:
            found[series.what, series.model, series.tool] += count
    return found
