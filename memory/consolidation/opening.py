"""What a prompt begins with: the project's auto memory, then the global one; the memories themselves only without both.

It is put together from shelves when it is asked for, so that each reader gets what they may see and nobody else's, and
so that nothing is told which somebody corrected or took back since.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from contracts import MemoryId
from memory.consolidation.consolidator import Consolidator
from memory.consolidation.lines import Weighed, as_line, by_importance, current, page, within
from memory.consolidation.shelf import Shelf
from memory.records.decay import importance_now
from runtime.settings import MemorySettings

PROJECT, GLOBAL, RAW = "project", "global", "raw"
"""In the order in which they are told; raw only where neither of the others is there."""


@dataclass(frozen=True, slots=True)
class Told:
    """One page of it."""

    kind: str
    """`project`, `global` or `raw`."""
    text: str
    """At most `memory.auto_chars` characters."""
    sources: Sequence[MemoryId]
    """What it rests on."""
    left_out: int = 0
    """Lines for which there was no room; a search finds what they tell."""


class Opening:
    """Of one organisation."""

    def __init__(self, consolidator: Consolidator, settings: MemorySettings) -> None:
        self._consolidator = consolidator
        self._settings = settings

    async def tell(self, shelves: Sequence[Shelf], now: datetime) -> list[Told]:
        """Return the pages for whoever may see these shelves, in their order; none where nothing is remembered.

        Being told is no read: it makes nothing more important.
        """
        kept = await self._consolidator.kept.get(*shelves)
        if not kept:
            return self._page(RAW, await self._raw(shelves, now))
        project = [shelf for shelf in shelves if not shelf.is_global]
        rest = [shelf for shelf in shelves if shelf.is_global]
        pages = []
        for kind, of_kind in ((PROJECT, project), (GLOBAL, rest)):
            weighed: list[Weighed] = []
            for shelf in of_kind:
                records = await self._consolidator.records(shelf)
                lines, new = current(kept[shelf].lines if shelf in kept else (), records, now, self._settings)
                weighed += lines
                weighed += [Weighed(as_line(each), importance_now(each, now, self._settings)) for each in new]
            pages += self._page(kind, weighed)
        return pages

    async def _raw(self, shelves: Sequence[Shelf], now: datetime) -> list[Weighed]:
        found = []
        for shelf in shelves:
            records = await self._consolidator.records(shelf)
            found += [
                Weighed(as_line(each), importance_now(each, now, self._settings))
                for each in by_importance(records.values(), now, self._settings)
            ]
        return found

    def _page(self, kind: str, weighed: Iterable[Weighed]) -> list[Told]:
        kept, left_out = within(weighed, self._settings.auto_chars)
        if not kept:
            return []
        sources = {source for each in kept for source in each.line.sources}
        return [Told(kind, page(kept), sorted(sources), left_out)]
