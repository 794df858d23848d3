"""The life of a queued order, and of a node: which move leads from where to where."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum


class Stage(IntEnum):
    """Where an order of the queue stands. The numbers are stored."""

    QUEUED = 0
    """Waits for a slot."""
    ASSIGNED = 1
    """Has a slot; the process that is to carry it out has not begun."""
    RUNNING = 2
    """Is being carried out."""
    REPORTED = 3
    """Its report waits for whoever submitted it."""
    LEFT = 4
    """Whoever submitted it died before it got a slot; it is queued again when somebody submits it again."""


class Move(StrEnum):
    """What happens to an order."""

    ASSIGN = "assign"
    ACCEPT = "accept"
    GIVE_BACK = "give back"
    """Not accepted in time, lost, or handed back by a process that ends."""
    REPORT = "report"
    LEAVE = "leave"
    SUBMIT = "submit"
    """Submitted again, by the same process or another."""


LIFE: Mapping[tuple[Stage, Move], Stage] = {
    (Stage.QUEUED, Move.ASSIGN): Stage.ASSIGNED,
    (Stage.QUEUED, Move.LEAVE): Stage.LEFT,
    (Stage.QUEUED, Move.SUBMIT): Stage.QUEUED,
    (Stage.ASSIGNED, Move.ACCEPT): Stage.RUNNING,
    (Stage.ASSIGNED, Move.GIVE_BACK): Stage.QUEUED,
    (Stage.ASSIGNED, Move.SUBMIT): Stage.ASSIGNED,
    (Stage.RUNNING, Move.GIVE_BACK): Stage.QUEUED,
    (Stage.RUNNING, Move.REPORT): Stage.REPORTED,
    (Stage.RUNNING, Move.SUBMIT): Stage.RUNNING,
    (Stage.REPORTED, Move.SUBMIT): Stage.QUEUED,
    (Stage.LEFT, Move.SUBMIT): Stage.QUEUED,
}


def stage_after(stage: Stage, move: Move) -> Stage | None:
    """Return where the move leads; None where an order of that stage cannot make it, for somebody was quicker."""
    return LIFE.get((stage, move))


class Closed(IntEnum):
    """Whether a node takes orders. The numbers are stored."""

    OPEN = 0
    """It does."""
    CORDONED = 1
    """It takes no new ones; those that it has end there."""
    DRAINING = 2
    """It takes no new ones, and those that it has through the queue go on elsewhere from their next step on."""
