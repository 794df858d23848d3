"""How a step ended for the scheduler."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from contracts import Json, Problem


class End(StrEnum):
    """What the scheduler has to know."""

    DONE = "done"
    SKIPPED = "skipped"
    WAITING = "waiting"
    FAILED = "failed"
    LIMIT = "limit"
    """A budget or bound was reached: report what there is."""
    STOPPED = "stopped"
    """Not carried out, because the order ends: a cancellation, or another step failed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one step or one repetition."""

    end: End
    output: Json = None
    problem: Problem | None = None

    @property
    def closes(self) -> bool:
        """Whether nothing new starts in the order after it."""
        return self.end in (End.FAILED, End.LIMIT, End.STOPPED)


class Stop(Exception):
    """The order is being cancelled; raised inside a step so that it goes no further."""


def together(outcomes: list[Outcome]) -> Outcome | None:
    """Return what keeps repetitions from being done, the gravest and first in order; None when all of them are."""
    for end in (End.FAILED, End.LIMIT, End.STOPPED, End.WAITING):
        for outcome in outcomes:
            if outcome.end is end:
                return outcome
    return None
