"""Erases single records: what was made of their words first, the words themselves last.

By words that are left behind an erasure is found again that a process died in; it is finished once a day, and before a
person is erased.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from contracts import MemoryId, MemoryRecord
from memory.consolidation.shelf import shelf_of
from memory.files.exporting import export

if TYPE_CHECKING:
    from memory.room import MemoryRoom  # it makes these


class RecordErasure:
    """Of one organisation."""

    def __init__(self, memory: MemoryRoom) -> None:
        self._memory = memory

    async def erase(self, memory_id: MemoryId, *, by: str, reason: str, now: datetime) -> None:
        """Remove the words of a record for good: row, lines, pages, exported files, and every version in the ledger.

        Raises:
            MemoryPast: it is erased.
            LedgerUnavailable: it is begun, and finished by `finish`.
        """
        records = await self._memory.book.begin_erasure(memory_id, by=by, reason=reason)
        await self._carry_out({memory_id: records}, now)

    async def finish(self, now: datetime) -> int:
        """Finish what was begun and not finished; return how many records it was."""
        begun = await self._memory.book.begun_erasures()
        if begun:
            await self._carry_out(begun, now)
        return len(begun)

    async def _carry_out(self, begun: Mapping[MemoryId, Sequence[MemoryRecord]], now: datetime) -> None:
        memory = self._memory
        records = [record for told in begun.values() for record in told]
        await memory.consolidator.kept.forget(list(begun), {shelf_of(record) for record in records})
        await memory.write_pages(now)
        if memory.files.is_dir():
            holders = {record.holder.name: record.holder for record in records}
            await export(memory.book, list(holders.values()), memory.files)
        for memory_id in begun:
            await memory.book.finish_erasure(memory_id)
        await memory.flush_erased()
