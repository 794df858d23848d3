"""How often each guard and correction fired in this process, for each model and tool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum

MOST_SERIES = 2_000
"""Different combinations that are told apart; what comes after those is counted without model and tool."""


class Guard(StrEnum):
    """What code does because a model did not do it by itself."""

    ANSWER_REFUSED = "answer_refused"
    """An answer was not taken for the result of its step."""
    ARGUMENTS_INVALID = "arguments_invalid"
    """A call whose arguments do not fit went back."""
    UNKNOWN_TOOL = "unknown_tool"
    """A call of a tool that there is not went back."""
    CALL_REPEATED = "call_repeated"
    """The same call again and again ended the step."""
    ITERATION_LIMIT = "iteration_limit"
    """The model was asked as often as it may be."""
    CALLS_AS_TEXT = "calls_as_text"
    """Calls were read out of words."""
    TOOL_DROPPED = "tool_dropped"
    """A tool could not be offered."""
    USAGE_ESTIMATED = "usage_estimated"
    """What an answer took was reckoned, because the endpoint does not tell."""
    RESULT_SUSPICIOUS = "result_suspicious"
    """A result was told to be odd."""


class GuardCounts:
    """One for a process, handed to whatever counts; it begins at zero with the process."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[Guard, str, str]] = Counter()

    def fired(self, guard: Guard, *, model: str, tool: str = "") -> None:
        """Count once more."""
        series = (guard, model, tool)
        full = len(self._counts) >= MOST_SERIES and series not in self._counts
        self._counts[(guard, "", "") if full else series] += 1

    def __iter__(self) -> Iterator[tuple[tuple[str, str, str], int]]:
        """Yield guard, model and tool with how often it fired."""
        return iter([((guard.value, model, tool), count) for (guard, model, tool), count in self._counts.items()])
