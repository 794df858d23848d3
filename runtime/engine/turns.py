"""What begins first when an order goes on: what has something set aside, what was in progress, what waited, the rest.

Whatever begins may have to wait until others return what they hold. So all that held something when an earlier stretch
ended goes on before anything else begins, whatever room there is: nothing would come back from what does not go on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum

from contracts import Step
from runtime.engine.branches import steps_in
from runtime.engine.states import UnitState
from runtime.engine.view import OrderView, Unit


class Turn(IntEnum):
    """When a step, a branch or a repetition has its turn; what is lower comes first."""

    OVER = 0
    """There is nothing to do, and others may need it."""
    HOLDS = 1
    """Its events say that something is set aside for it."""
    IN_PROGRESS = 2
    WAITED = 3
    """For people."""
    NEW = 4


def turns_of_steps(view: OrderView, steps: Iterable[Step], index: int | None = None) -> dict[str, Turn]:
    """Return step → its turn, that of the first of its repetitions and branches; of one repetition with `index`."""
    of_part: dict[str, Turn] = {}
    for unit in view.units.values():
        if index is None or unit.index == index:
            of_part[unit.step] = min(_turn_of(unit), of_part.get(unit.step, Turn.NEW))
    return {step.id: _together(of_part, view, step, index) for step in steps}


def turns_of_repetitions(view: OrderView, step: Step) -> Mapping[int, Turn]:
    """Return index → turn, for each repetition of the step that an earlier stretch began."""
    parts = {part.id for part in steps_in(step)}
    turns: dict[int, Turn] = {}
    for unit in view.units.values():
        if unit.step in parts and unit.index is not None:
            turns[unit.index] = min(_turn_of(unit), turns.get(unit.index, Turn.NEW))
    return turns


def at_once_for(at_once: int, turns: Iterable[Turn]) -> int:
    """Return how many may go on at once, which is at least those that hold something."""
    return max(at_once, sum(turn is Turn.HOLDS for turn in turns))


def _together(of_part: Mapping[str, Turn], view: OrderView, step: Step, index: int | None) -> Turn:
    if view.state((step.id, index)) in (UnitState.DONE, UnitState.SKIPPED):
        return Turn.OVER
    return min(of_part.get(part.id, Turn.NEW) for part in steps_in(step))


def _turn_of(unit: Unit) -> Turn:
    if unit.holds:
        return Turn.HOLDS
    if unit.state.settled or unit.state is UnitState.PENDING:
        return Turn.NEW
    return Turn.WAITED if unit.state is UnitState.WAITING else Turn.IN_PROGRESS
