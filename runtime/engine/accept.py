"""Acceptance checks, judged by code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from contracts import Json
from runtime.engine.retry import NOT_ACCEPTED
from runtime.engine.scope import ExpressionFaulty, holds
from runtime.errors import BusinessRefusal
from runtime.expressions import ExpressionFailed


class Judged(BusinessRefusal):
    """A result was judged and not taken."""

    given: Json = None
    """The result, which is kept for a replay."""


class NotAccepted(Judged):
    """A result does not meet the checks of its step."""

    code = NOT_ACCEPTED


class OutputFaulty(Judged):
    """A result does not have the form that its step declares."""

    code = "OUTPUT_FAULTY"


@dataclass(frozen=True, slots=True)
class Unmet:
    """A check that does not hold, or that could not be judged, which is no yes either."""

    check: str
    why: str


def unmet_checks(checks: Iterable[str], values: Mapping[str, Json]) -> list[Unmet]:
    """Return the checks that do not hold over `values`, in their order; empty means accepted.

    Raises:
        ExpressionFaulty: a check cannot be read.
    """
    found = []
    for check in checks:
        try:
            if not holds(check, values):
                found.append(Unmet(check, "it is false"))
        except ExpressionFaulty:
            raise
        except ExpressionFailed as error:
            found.append(Unmet(check, error.message))
    return found


def require_checks(whose: str, checks: Iterable[str], values: Mapping[str, Json]) -> None:
    """Return when every check holds; raise NotAccepted with those that do not. `whose` says what was checked."""
    failing = unmet_checks(checks, values)
    if failing:
        told = "; ".join(f"`{item.check}` ({item.why})" for item in failing)
        raise NotAccepted(f"The result of {whose} is not accepted: {told}.", checks=[i.check for i in failing])


def require_calls(step: str, wanted: Sequence[str], called: Iterable[str]) -> None:
    """Return when every capability that must be called was; raise NotAccepted naming the others."""
    missing = sorted(set(wanted) - set(called))
    if missing:
        raise NotAccepted(
            f"Step {step} is not done: it never called {' and '.join(missing)}, which its plan requires.",
            missing=list(missing),
        )
