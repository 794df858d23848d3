"""What was made of each shelf, kept in the ledger: the newest event of its stream is how it stands."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contracts import HolderKind, MemoryHolder, MemoryId, Name, Usage
from memory.consolidation.lines import Line
from memory.consolidation.shelf import KIND, Shelf
from runtime.ledger.port import Append, Lease, Ledger, NewEvent

CONSOLIDATED = "memories.consolidated"
CODE, MODEL = "code", "model"
"""Who told a shelf."""


@dataclass(frozen=True, slots=True)
class Consolidated:
    """A shelf as it was last told."""

    shelf: Shelf
    lines: Sequence[Line]
    mark: str
    """What the memories of the shelf were then: the same mark means that nobody wrote or forgot anything since."""
    by: str
    """`CODE`, or `MODEL` once one has told any of it."""
    version: int
    """Of its stream; what a writer expects."""


class ConsolidatedShelves:
    """Those of one organisation."""

    def __init__(self, ledger: Ledger, organisation: Name) -> None:
        self._ledger = ledger
        self._organisation = organisation

    async def get(self, *shelves: Shelf) -> Mapping[Shelf, Consolidated]:
        """Return how these shelves were last told; one that never was, or whose words were erased, is left out."""
        streams = {shelf.stream(self._organisation): shelf for shelf in shelves}
        newest = await self._ledger.read_newest(*streams) if streams else []
        found = (_read(event.data, event.stream_version) for event in newest)
        return {each.shelf: each for each in found if each is not None}

    async def all(self) -> Mapping[Shelf, Consolidated]:
        """Return all that was ever told of this organisation and is not erased."""
        newest = await self._ledger.read_newest(prefix=f"{KIND}/{self._organisation}/")
        found = (_read(event.data, event.stream_version) for event in newest)
        return {each.shelf: each for each in found if each is not None}

    async def version(self, shelf: Shelf) -> int:
        """Return how many events the stream of a shelf has."""
        newest = await self._ledger.read_newest(shelf.stream(self._organisation))
        return newest[0].stream_version if newest else 0

    async def put(
        self, shelf: Shelf, lines: Sequence[Line], *, mark: str, by: str, usage: Usage, expected: int, lease: Lease
    ) -> None:
        """Keep how a shelf is told from now on.

        Raises:
            VersionConflict: somebody else told it meanwhile.
            StaleWriter: the lease ran out, and another process has it.
        """
        holder = {"kind": shelf.holder.kind.value, "name": shelf.holder.name}
        told: dict[str, Any] = {
            "holder": holder, "domain": shelf.domain, "project": shelf.project, "mark": mark, "by": by,
            "lines": [line.to_json() for line in lines], "usage": usage.to_json(),
        }  # fmt: skip
        source = f"/organisation/{self._organisation}/memory"
        event = NewEvent(CONSOLIDATED, told)
        stream = shelf.stream(self._organisation)
        await self._ledger.append(Append(stream, [event], expected, self._organisation, source, leases=(lease,)))

    async def forget_holder(self, holder: MemoryHolder) -> int:
        """Remove for good what was ever told of a holder; return how many events lost their words."""
        gone = 0
        for newest in await self._ledger.read_newest(prefix=f"{KIND}/{self._organisation}/"):
            told = _read(newest.data, newest.stream_version)
            if told is None or told.shelf.holder == holder:  # of one without words, those before it say whose it is
                gone += await self._erase(newest.subject, lambda each: each.shelf.holder == holder)
        return gone

    async def forget(self, memory_ids: Collection[MemoryId], shelves: Collection[Shelf]) -> int:
        """Remove for good what was ever made of memories that stood on these shelves; return how many events."""
        wanted = set(memory_ids)

        def rests_on_it(told: Consolidated) -> bool:
            return any(not wanted.isdisjoint(line.sources) for line in told.lines)

        return sum([await self._erase(shelf.stream(self._organisation), rests_on_it) for shelf in set(shelves)])

    async def _erase(self, stream: str, which: Callable[[Consolidated], bool]) -> int:
        gone = 0
        for event in await self._ledger.read(stream):
            told = _read(event.data, event.stream_version)
            if told is not None and which(told):
                await self._ledger.erase(stream, event.stream_version)
                gone += 1
        return gone


def _read(data: Mapping[str, Any] | None, version: int) -> Consolidated | None:
    if data is None:
        return None
    holder = MemoryHolder(kind=HolderKind(data["holder"]["kind"]), name=data["holder"]["name"])
    shelf = Shelf(holder, data.get("domain"), data.get("project"))
    return Consolidated(shelf, [Line.read(each) for each in data["lines"]], data["mark"], data["by"], version)
