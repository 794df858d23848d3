"""One result of one test, complete: what a finding, a card and a stranger with the data need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from contracts import Json


class State(StrEnum):
    """Three values: what could not be judged is neither found nor absent."""

    FOUND = "found"
    NOT_FOUND = "not_found"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Measured:
    """An effect with its interval, the number of values behind it, and how it was tested."""

    kind: str
    """`change`, `unusual`, `contribution`, `correlation`, `change_point`."""
    about: str
    """The period, slice or metric."""
    state: State
    method: str
    """The test and its library."""
    effect: float | None = None
    unit: str = ""
    """Unit of the effect and its interval."""
    low: float | None = None
    high: float | None = None
    level: float | None = None
    """How often the interval is meant to hold."""
    n: int = 0
    """Values (periods, pairs) behind it."""
    p: float | None = None
    p_adjusted: float | None = None
    """After Holm's correction over `tried` tests."""
    tried: int = 1
    """Tests of the family, also those that found nothing."""
    why: str | None = None
    """Reason of an inconclusive result: `no_value`, `history_too_short`, `too_many_gaps`, `constant`, …"""
    facts: Mapping[str, Json] = field(default_factory=dict)


def inconclusive(kind: str, about: str, method: str, why: str, *, n: int = 0, **facts: Json) -> Measured:
    """Return a result that says why it says nothing."""
    return Measured(kind, about, State.INCONCLUSIVE, method, n=n, why=why, facts=facts)
