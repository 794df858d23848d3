"""How many steps of a plan are in progress at once: one rule for each way to dispatch and each sign of how it goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self, TypeAlias

from contracts import DispatchMode, Problem
from runtime.settings.groups import EngineSettings


class Sign(StrEnum):
    """What tells whether more at once would go well."""

    SUCCESS = "success"
    """A step of the plan is done."""
    FAILURE = "failure"
    """An attempt failed."""
    RATE_LIMIT = "rate limit"
    """A service asked to be called less often."""


def sign_of(problem: Problem) -> Sign:
    """Return what a failed attempt is a sign of."""
    asked_to_wait = "retry_after_s" in problem.facts or problem.facts.get("status") == 429
    return Sign.RATE_LIMIT if asked_to_wait else Sign.FAILURE


Rule: TypeAlias = Callable[[int], int]


def _as_it_is(width: int) -> int:
    return width


def _one_more(width: int) -> int:
    return width + 1


def _half(width: int) -> int:
    return max(1, width // 2)


RULES: Mapping[tuple[DispatchMode, Sign], Rule] = {
    **{(DispatchMode.SEQUENTIAL, sign): _as_it_is for sign in Sign},
    **{(DispatchMode.PARALLEL, sign): _as_it_is for sign in Sign},
    (DispatchMode.ADAPTIVE, Sign.SUCCESS): _one_more,
    (DispatchMode.ADAPTIVE, Sign.FAILURE): _half,
    (DispatchMode.ADAPTIVE, Sign.RATE_LIMIT): _half,
}
"""Every rule there is: additive increase, multiplicative decrease (Chiu and Jain, 1989), as in TCP."""


@dataclass(slots=True)
class Pace:
    """The width of one run of one plan; made anew for each stretch, from what the stream says about the last."""

    mode: DispatchMode = DispatchMode.SEQUENTIAL
    width: int = 1
    """Steps that may be in progress now, 1 or more."""
    most: int = 1

    @classmethod
    def of(cls, mode: DispatchMode, settings: EngineSettings, *, narrowed: int | None = None) -> Self:
        """Return the pace to begin with; `narrowed` is the width that an earlier stretch had come down to."""
        first, most = settings.dispatch_at_once, settings.dispatch_most
        match mode:
            case DispatchMode.SEQUENTIAL:
                return cls(mode, 1, 1)
            case DispatchMode.PARALLEL:
                return cls(mode, first, first)
        return cls(mode, min(first if narrowed is None else narrowed, most), most)

    def take(self, sign: Sign) -> int:
        """Change the width by the rule, and return what it was before."""
        before, self.width = self.width, min(self.most, RULES[self.mode, sign](self.width))
        return before
