"""What stands in the system prompt of a step beside the platform's own rules, one block for each kind.

A block that nobody has built yet is one that gives nothing. One that can change while a step goes on (`moves`) is
looked at once, when the step begins, and recorded, so that the beginning of its prompts stays the same to the byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from contracts import TaskOrder
from runtime.context.parts import Part

RULES, AGENT, POLICIES, STRATEGIES, CHAINS = "rules", "agent", "policies", "strategies", "chains"
GOAL, BOARD, MEMORY, INDEX, INSIGHTS = "goal", "collaboration", "memory", "index", "insights"
TASK, INPUTS, TRANSCRIPT = "task", "inputs", "transcript"
SYSTEM = (RULES, AGENT, POLICIES, STRATEGIES, CHAINS, GOAL, BOARD, MEMORY, INDEX, INSIGHTS)
"""The blocks of the system prompt, in the order in which they stand: what changes least comes first."""


@dataclass(frozen=True, slots=True)
class About:
    """What a block may know about the step whose prompt it is for."""

    order: TaskOrder
    step: str
    task: str
    """What the model is asked to do."""
    uses: Sequence[str]
    """Capabilities and skills that it may call."""


class Block(Protocol):
    """One kind of what a model is told."""

    @property
    def name(self) -> str:
        """Which of `SYSTEM` it is."""
        ...

    @property
    def moves(self) -> bool:
        """Whether what it gives may change while a step goes on."""
        ...

    async def parts(self, about: About) -> Sequence[Part]:
        """Return what stands in the prompt, nothing where there is nothing to say; bounded by its own settings."""
        ...
