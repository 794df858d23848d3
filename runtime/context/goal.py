"""The goal and the plan, pinned right behind the rules: what the step is for, and where it stands in the whole."""

from __future__ import annotations

from collections.abc import Sequence
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
    """Return a line for each step, or for those around the present one."""
    lines = [f"- {step.id} ({step.mark}){step.about and f': {step.about}'}" for step in plan]
    now = next((number for number, step in enumerate(plan) if step.mark is Mark.NOW), 0)
    first, last, left = now, now + 1, most - len(lines[now])
    while left > 0 and (first > 0 or last < len(lines)):
        at = first - 1 if first > 0 and (now - first <= last - now or last == len(lines)) else last
        left -= len(lines[at]) + 1
        if left < 0:
            break
        first, last = min(first, at), max(last, at + 1)
    before = [f"… {first:,} steps before"] if first else []
    after = [f"… {len(lines) - last:,} steps after"] if last < len(lines) else []
    return [*before, *lines[first:last], *after]
