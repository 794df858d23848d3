"""A step that waits for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from contracts import Step, Usage
from runtime.engine.context import Run
from runtime.engine.outcome import End, Outcome
from runtime.engine.states import UnitState
from runtime.engine.view import Unit
from runtime.ledger.port import Append, NewEvent


@dataclass(frozen=True, slots=True)
class Pause:
    """The ids a step waits for; `appends` raise what people see."""

    ids: tuple[str, ...]
    appends: Sequence[Append] = ()
    usage: Usage | None = None
    """What the order below spent so far, which is counted now: the rest of its grant is free while it waits."""
    in_doubt: bool = False
    """Whether people are asked if an effect happened."""
    denied: bool = False
    """Whether people are asked since the other side did not let us in."""


async def write_pause(run: Run, step: Step, unit: Unit, pause: Pause, *before: NewEvent) -> Outcome:
    """Store that the step waits, what it raised and what led to it, in one append; nothing when that is stored."""
    told = unit.state is UnitState.WAITING and unit.waiting == tuple(pause.ids)
    if before or not told or pause.appends or pause.usage is not None:
        data: dict[str, Any] = {"step": step.id, "index": unit.index, "ids": list(pause.ids)}
        data |= {"in_doubt": True} if pause.in_doubt else {}
        data |= {"denied": True} if pause.denied else {}
        data |= {"usage": pause.usage.to_json()} if pause.usage is not None else {}
        event = NewEvent("step.waiting", data)
        await run.journal.write(*before, event, appends=pause.appends)
    return Outcome(End.WAITING)
