"""The life of one unit of work: a step, or one repetition of it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from itertools import product

from runtime.errors import SiliconError


class UnitState(StrEnum):
    """Where a unit stands."""

    PENDING = "pending"
    """Not begun, or to be tried again."""
    DISPATCHED = "dispatched"
    """Another employee has an order for it."""
    INTENDED = "intended"
    """Its effect was announced; there is no receipt yet."""
    WAITING = "waiting"
    """A person has to answer."""
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"

    @property
    def settled(self) -> bool:
        """Whether nothing more happens to it by itself."""
        return self in (UnitState.DONE, UnitState.FAILED, UnitState.SKIPPED)


class Move(StrEnum):
    """What moves a unit; each is an event of the order's stream."""

    DISPATCH = "step.dispatched"
    INTEND = "effect.intended"
    WAIT = "step.waiting"
    FINISH = "step.finished"
    RETRY = "step.failed, to be tried again"
    GIVE_UP = "step.failed, for good"
    SKIP = "step.skipped"
    REOPEN = "order.reopened"


_OPEN = (UnitState.PENDING, UnitState.DISPATCHED, UnitState.INTENDED, UnitState.WAITING)
_ENDS = {
    Move.WAIT: UnitState.WAITING,
    Move.FINISH: UnitState.DONE,
    Move.RETRY: UnitState.PENDING,
    Move.GIVE_UP: UnitState.FAILED,
}

LIFE: Mapping[tuple[UnitState, Move], UnitState] = {
    **{(state, move): _ENDS[move] for state, move in product(_OPEN, _ENDS)},
    (UnitState.PENDING, Move.SKIP): UnitState.SKIPPED,
    (UnitState.PENDING, Move.DISPATCH): UnitState.DISPATCHED,
    (UnitState.PENDING, Move.INTEND): UnitState.INTENDED,
    (UnitState.WAITING, Move.INTEND): UnitState.INTENDED,
    (UnitState.INTENDED, Move.INTEND): UnitState.INTENDED,
    (UnitState.FAILED, Move.REOPEN): UnitState.PENDING,
}
"""Every transition there is. A settled unit never moves again, except a failed one whose order is reopened."""


class IllegalMove(SiliconError):
    """The stream says something that cannot follow what it said before."""

    code = "ILLEGAL_MOVE"


def next_state(state: UnitState, move: Move) -> UnitState:
    """Return where `move` leads; raise IllegalMove when the table has no such row."""
    try:
        return LIFE[state, move]
    except KeyError:
        raise IllegalMove(
            f"A step that is {state} cannot be followed by “{move}”; the order's stream is damaged.",
            state=state.value,
            move=move.value,
        ) from None
