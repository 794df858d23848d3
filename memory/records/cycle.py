"""The daily cycle: what has faded for days in a row is archived, never deleted.

A cycle is an observation, so days on which nothing ran are none: however long an organisation was away, a memory is
archived by its third cycle and not by the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime

from contracts import MemoryClass, MemoryId, Name
from memory.conversations import ENDED
from memory.records.book import MemoryBook
from memory.records.decay import LASTING, is_fading_out
from memory.records.errors import MemoryPast
from memory.records.port import MemoryFilter
from runtime.errors import VersionConflict
from runtime.ledger.port import Append, Ledger, NewEvent
from runtime.settings import MemorySettings

CYCLE = "memories.cycled"
"""Event of the stream `memories/ORGANISATION`."""
_FADING = tuple(each for each in MemoryClass if each not in LASTING)


@dataclass(frozen=True, slots=True)
class CycleReport:
    """What a cycle found."""

    day: date
    """UTC."""
    looked_at: int
    """Memories that hold; of those the ones that fade are looked at closer."""
    faded: tuple[MemoryId, ...] = ()
    """Found nearly forgotten, and not archived yet."""
    archived: tuple[MemoryId, ...] = ()
    missed_days: int = 0
    """Days since the cycle before on which there was none."""


class DecayCycle:
    """The cycles of one organisation. Any process may hold one; each day has one at most."""

    def __init__(self, book: MemoryBook, ledger: Ledger, organisation: Name, settings: MemorySettings) -> None:
        self._book = book
        self._ledger = ledger
        self._organisation = organisation
        self._settings = settings
        self._stream = f"memories/{organisation}"

    async def hold(self, now: datetime) -> CycleReport | None:
        """Hold the cycle of this day (UTC); None when there was one. One that was killed goes on where it was.

        Where nothing is remembered it leaves no trace.
        """
        day = now.astimezone(UTC).date()
        held = await self._ledger.read_newest(self._stream)
        last = date.fromisoformat(str(held[0].data["day"])) if held and held[0].data else None
        if last is not None and last >= day:
            return None
        active = await self._book.find(MemoryFilter(classes=_FADING, every_domain=True))
        faded: list[MemoryId] = []
        archived: list[MemoryId] = []
        for record in active:
            if not is_fading_out(record, now, self._settings):
                continue
            try:
                after = await self._book.fade(
                    record.memory_id, cycle=day.isoformat(), archive_after=self._settings.archive_cycles
                )
            except (VersionConflict, MemoryPast):  # it is being read or changed, or another process was quicker
                continue
            if after is not None:
                (archived if after.state is not record.state else faded).append(record.memory_id)
        archived += await self._ended_sessions()
        missed = 0 if last is None else (day - last).days - 1
        counted = await self._book.count()
        report = CycleReport(day, counted, tuple(faded), tuple(archived), missed)
        if not counted and not archived:
            return report
        return report if await self._note(report, held[0].stream_version if held else 0) else None

    async def _ended_sessions(self) -> list[MemoryId]:
        """Archive what belonged to conversations that are over."""
        found = await self._book.find(MemoryFilter(classes=(MemoryClass.SESSION,), every_domain=True))
        sessions = {record.session for record in found if record.session}
        newest = await self._ledger.read_newest(*sessions) if sessions else []
        over = {event.subject for event in newest if event.type == ENDED}
        archived = []
        for record in found:
            if record.session not in over:
                continue
            try:
                await self._book.archive(record.memory_id, by="cycle", reason="its conversation ended")
            except (VersionConflict, MemoryPast):  # it is being changed, or another process was quicker
                continue
            archived.append(record.memory_id)
        return archived

    async def _note(self, report: CycleReport, expected: int) -> bool:
        told = {
            "day": report.day.isoformat(), "looked_at": report.looked_at, "faded": len(report.faded),
            "archived": list(report.archived), "missed_days": report.missed_days,
        }  # fmt: skip
        source = f"/organisation/{self._organisation}/memory"
        event = NewEvent(CYCLE, told)
        try:
            await self._ledger.append(Append(self._stream, (event,), expected, self._organisation, source))
        except VersionConflict:  # another process held it at the same time
            return False
        return True
