"""Auto memory as people look at it, by the rights of now."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from console.memory_rights import holder_named, holders_seen
from console.views_auto_memory import AutoMemoryPage, ShelfTold
from contracts import HolderKind, MemoryHolder, Name
from governance.access import Person
from runtime.errors import NotFound

if TYPE_CHECKING:
    from agents.organisation import Organisation
    from console.remembering_room import Room


class RememberingWhole:
    """The port `AutoMemoryPort`, beside `Remembering`."""

    if TYPE_CHECKING:

        async def _room(self, folder: Path) -> Room: ...

        def _looking(self, organisation: Organisation, by: str | None) -> Person | None: ...

    async def auto_memory(
        self, folder: Path, *, by: str | None, employee: Name | None = None, domains: Sequence[Name] = (),
        projects: Sequence[Name] = (),
    ) -> Sequence[AutoMemoryPage]:  # fmt: skip
        """Return what a conversation begins with; see the port."""
        from memory.consolidation.shelf import shelves_for

        room = await self._room(folder)
        organisation, person = room.organisation, self._looking(room.organisation, by)
        holders = [MemoryHolder(kind=HolderKind.BUSINESS, name=organisation.name)]
        if employee is not None:
            holder = holder_named(employee, organisation, person)
            if holder not in holders_seen(organisation, person):
                raise NotFound(f"There are no memories of {employee} here.", whose=employee)
            holders.insert(0, holder)
        if person is not None:
            holders.insert(0, MemoryHolder(kind=HolderKind.PERSON, name=person.id))
        pages = await room.memory.opening.tell(shelves_for(holders, domains, projects), room.now())
        return [AutoMemoryPage(each.kind, each.text, each.sources, each.left_out) for each in pages]

    async def consolidate_memories(self, folder: Path, *, by: str | None) -> Sequence[ShelfTold]:
        """Tell anew what changed; see the port."""
        room = await self._room(folder)
        seen = holders_seen(room.organisation, self._looking(room.organisation, by))
        memory, told = room.memory, []
        for shelf in await memory.consolidator.shelves():
            if shelf.holder not in seen:
                continue
            done = await memory.consolidator.consolidate(shelf)
            tokens = done.usage.tokens_in + done.usage.tokens_out
            told.append(
                ShelfTold(
                    shelf.holder, shelf.domain, shelf.project, done.outcome.value, done.lines, done.requests, tokens,
                    done.faults,
                )
            )  # fmt: skip
        await memory.auto_pages.write(room.now())
        return told
