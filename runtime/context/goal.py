"""The goal and the plan, pinned right behind the rules: what the step is for, and where it stands in the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from contracts import TaskOrder
from runtime.context.blocks import GOAL
from runtime.context.parts import Part


class Mark(StrEnum):
    """How a step of the plan stands."""

    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"
    NOW = "now"
    OPEN = "to do"


@dataclass(frozen=True, slots=True)
class Outlined:
    """One step of the plan."""

    id: str
    mark: Mark
    about: str
    """What it does, in a few words."""


def goal_part(order: TaskOrder) -> Part:
    """Return what the order is for, word by word."""
    lines = [f"Order: {order.objective}"]
    lines += [f"It must hold that: {each}" for each in order.constraints]
    lines += [f"It is done when: {each}" for each in order.accept]
    return Part(GOAL, "\n".join(lines), "the order", pinned=True)


def plan_part(plan: Sequence[Outlined], *, most: int) -> Part | None:
    """Return the plan and where it stands, None where it has one step only.

    Args:
        most: its characters at most; what is left out is counted.
    """
    if len(plan) < 2:
        return None
    return Part(GOAL, "\n".join(["Plan:", *_outline(plan, most)]), "the plan", pinned=True)


def _outline(plan: Sequence[Outlined], most: int) -> list[str]:
    """Return a line for each step, or for those around the present one: those before it take half the room at most."""
    lines = [f"- {step.id} ({step.mark}){step.about and f': {step.about}'}" for step in plan]
    if sum(map(len, lines)) + len(lines) <= most:
        return lines
    now = next((number for number, step in enumerate(plan) if step.mark is Mark.NOW), 0)
    room = most - len(lines[now])
    before = _fitting(reversed(lines[:now]), room // 2)
    after = _fitting(lines[now + 1 :], room - sum(len(line) + 1 for line in before))
    first, last = now - len(before), now + 1 + len(after)
    return [*_left_out(plan[:first], "before"), *lines[first:last], *_left_out(plan[last:], "after")]


def _fitting(lines: Iterable[str], room: int) -> list[str]:
    """Return the first of the lines that `room` characters hold."""
    found = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        found.append(line)
    return found


def _left_out(steps: Sequence[Outlined], where: str) -> Iterator[str]:
    """Yield how many steps are left out, and how they stand."""
    if steps:
        marks = Counter(step.mark for step in steps)
        stand = ", ".join(f"{number:,} {mark}" for mark, number in marks.items())
        yield f"… {len(steps):,} steps {where}: {stand}"
