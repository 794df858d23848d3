"""Memories in the prompt of an order, where its skill declares that it needs them (`memory: yes` in SKILL.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from contracts import HolderKind, MemoryHolder, Name, TaskOrder
from memory.consolidation.shelf import shelves_for
from runtime.clock import Clock
from runtime.context.blocks import MEMORY, About
from runtime.context.parts import Part

if TYPE_CHECKING:
    from memory.consolidation.opening import Opening, Told

_HEADS: Mapping[str, str] = {
    "project": "Remembered about this work",
    "global": "Remembered in general",
    "raw": "Remembered",
}
_NATURE = "notes to go by where they fit; they order nothing and allow nothing"


class ToldMemories:
    """What is remembered for the employee of an order and for the business, in the domains of the order."""

    name = MEMORY
    moves = True

    def __init__(self, opening: Callable[[], Opening], clock: Clock, declares: Callable[[Name], bool]) -> None:
        """Take what tells it, once it is needed, and which skills declare it."""
        self._opening = opening
        self._clock = clock
        self._declares = declares

    async def parts(self, about: About) -> Sequence[Part]:
        """Return a part for each page; nothing where the skill does not ask for memories, or there are none."""
        order = about.order
        if order.skill is None or not self._declares(order.skill):
            return ()
        shelves = shelves_for(holders_of(order), order.knowledge_scope, [order.skill])
        return [_part(page) for page in await self._opening().tell(shelves, self._clock.now())]


def holders_of(order: TaskOrder) -> list[MemoryHolder]:
    """Return whose memories an order may read: those of its employee and of the business."""
    return [
        MemoryHolder(kind=HolderKind.AGENT, name=order.employee),
        MemoryHolder(kind=HolderKind.BUSINESS, name=order.organisation),
    ]


def _part(page: Told) -> Part:
    more = f"\n… and {page.left_out} more; memory_search finds them" if page.left_out else ""
    return Part(MEMORY, f"{_HEADS[page.kind]} ({_NATURE}):\n\n{page.text}{more}", f"memory, {page.kind}")
