"""Slow to begin and slow to end: the state of a slice of a sensor that has `clear_when` beside `when`.

A number that swings around one threshold would ring at every swing. With two, an episode opens when `when` holds and is
over only when `clear_when` does; between them nothing changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Phase(StrEnum):
    """How a slice stands."""

    CLEAR = "clear"
    OPEN = "open"


class Seen(StrEnum):
    """What a bucket shows."""

    HOLDS = "holds"
    """`when` holds, often enough in a row."""
    BUILDS = "builds"
    """`when` holds, not yet often enough."""
    ENDS = "ends"
    """`clear_when` holds and `when` does not, and the bucket is whole: one that runs may still change."""
    NEITHER = "neither"
    NOTHING = "nothing"
    """There is no value, or not enough history to judge it by: a gap neither begins nor ends anything."""


class Move(StrEnum):
    """What follows."""

    OPENS = "opens"
    GOES_ON = "goes_on"
    STAYS = "stays"
    """Open still, though `when` does not hold."""
    CLEARS = "clears"
    NONE = "none"


TABLE: Mapping[tuple[Phase, Seen], tuple[Phase, Move]] = {
    (Phase.CLEAR, Seen.HOLDS): (Phase.OPEN, Move.OPENS),
    (Phase.CLEAR, Seen.BUILDS): (Phase.CLEAR, Move.NONE),
    (Phase.CLEAR, Seen.ENDS): (Phase.CLEAR, Move.NONE),
    (Phase.CLEAR, Seen.NEITHER): (Phase.CLEAR, Move.NONE),
    (Phase.CLEAR, Seen.NOTHING): (Phase.CLEAR, Move.NONE),
    (Phase.OPEN, Seen.HOLDS): (Phase.OPEN, Move.GOES_ON),
    (Phase.OPEN, Seen.BUILDS): (Phase.OPEN, Move.GOES_ON),
    (Phase.OPEN, Seen.ENDS): (Phase.CLEAR, Move.CLEARS),
    (Phase.OPEN, Seen.NEITHER): (Phase.OPEN, Move.STAYS),
    (Phase.OPEN, Seen.NOTHING): (Phase.OPEN, Move.STAYS),
}


@dataclass(frozen=True, slots=True)
class Mark:
    """How a slice stood when a bucket had last moved it, as the ledger knows it."""

    start: datetime
    """Start of that bucket."""
    phase: Phase


class SlicePhase:
    """The phase of one slice, from bucket to bucket, beginning with what is known of it."""

    def __init__(self, mark: Mark | None = None) -> None:
        self._mark = mark
        self.phase = mark.phase if mark is not None else Phase.CLEAR

    def see(self, start: datetime, seen: Seen) -> Move:
        """Return what follows from a bucket. One that was settled before moves nothing a second time.

        The bucket that opened an episode while it ran may still end it once it is whole.
        """
        if self._mark is not None and start <= self._mark.start:
            again = start == self._mark.start and seen is Seen.ENDS and self.phase is Phase.OPEN
            if not again:
                holds = seen in (Seen.HOLDS, Seen.BUILDS) and self.phase is Phase.OPEN and start == self._mark.start
                return Move.GOES_ON if holds else Move.NONE
        self.phase, move = TABLE[self.phase, seen]
        return move
