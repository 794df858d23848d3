"""How far a group has come: kept in the ledger, and moved in the commit that stores what its handlers made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from runtime.errors import LedgerError
from runtime.ledger.port import Append, Cursor, CursorChange, Ledger


@dataclass(frozen=True, slots=True)
class Progress:
    """What a group has settled: everything up to `mark`, and `done` beyond it; and how often the rest was tried."""

    mark: int = 0
    done: frozenset[int] = frozenset()
    tries: Mapping[int, int] = field(default_factory=dict)
    revision: int = 0
    """Grows with every change."""

    def is_settled(self, position: int) -> bool:
        """Whether the event at the position needs nothing more."""
        return position <= self.mark or position in self.done

    def with_settled(self, position: int) -> Progress:
        """Return the progress after the event at the position was settled."""
        tries = {at: count for at, count in self.tries.items() if at != position}
        return replace(self, done=self.done | {position}, tries=tries)

    def with_try(self, position: int) -> Progress:
        """Return the progress after one more try of the event at the position."""
        return replace(self, tries={**self.tries, position: self.tries.get(position, 0) + 1})

    def with_nothing_open(self, horizon: Horizon) -> Progress:
        """Return the progress with its mark where the first open event stands."""
        mark = max(self.mark, horizon.mark(self.is_settled))
        return replace(self, mark=mark, done=frozenset(at for at in self.done if at > mark))

    def to_data(self) -> dict[str, Any]:
        """Return what is stored beside the mark."""
        tries = sorted(map(list, self.tries.items()))
        return {"done": sorted(self.done), "tries": tries, "revision": self.revision}

    @staticmethod
    def of(cursor: Cursor) -> Progress:
        """Return what was stored."""
        data = cursor.data or {}
        tries = {int(at): int(count) for at, count in data["tries"]}
        return Progress(cursor.position, frozenset(map(int, data["done"])), tries, int(data["revision"]))


@dataclass(frozen=True, slots=True)
class Horizon:
    """What is known of the open events: the first of them, in order, and up to where there are no others."""

    open: Sequence[int] = ()
    known_to: int = 0

    def mark(self, is_settled: Callable[[int], bool]) -> int:
        """Return up to where nothing is open."""
        for position in self.open:
            if not is_settled(position):
                return position - 1
        return self.known_to


Change = Callable[[Progress], Progress]


class NothingLeft(LedgerError):
    """What was to be changed is as it should be; nothing of the append is stored."""

    code: ClassVar[str] = "NOTHING_LEFT"


class ProgressKeeper:
    """The progress of one group, as this process knows it.

    Every change is made on what stands in the ledger at that moment, inside the commit. So an event is settled once,
    however many members work on it, and members never get into each other's way.
    """

    def __init__(self, ledger: Ledger, group: str, *, after: int) -> None:
        self.known = Progress(mark=after)
        """What was read or written last."""
        self.horizon: Callable[[], Horizon] = Horizon
        """Tells what is open; the one who reads the ledger for the group knows."""
        self._ledger = ledger
        self._row = f"bus/{group}"
        self._after = after

    async def read(self) -> Progress:
        """Return what stands in the ledger now."""
        for stored in await self._ledger.cursors(self._row):
            if stored.name == self._row:
                self._learn(Progress.of(stored))
        return self.known

    async def settle(self, position: int, appends: Sequence[Append]) -> bool:
        """Store the appends and mark the event as settled, in one commit; False when it was settled before."""

        def change(progress: Progress) -> Progress:
            _must(not progress.is_settled(position))
            return progress.with_settled(position)

        return await self._change(change, appends) is not None

    async def count_try(self, position: int) -> int:
        """Record one more try, and return how many there are; 0 when the event was settled meanwhile."""

        def change(progress: Progress) -> Progress:
            _must(not progress.is_settled(position))
            return progress.with_try(position)

        progress = await self._change(change)
        return progress.tries[position] if progress else 0

    async def advance(self) -> None:
        """Store up to where nothing is open, where that has changed."""
        horizon = self.horizon()

        def change(progress: Progress) -> Progress:
            _must(horizon.mark(progress.is_settled) > progress.mark)
            return progress

        await self._change(change)

    async def _change(self, change: Change, appends: Sequence[Append] = ()) -> Progress | None:
        """Return the progress after the change; None when there was nothing left to change."""
        horizon = self.horizon()
        made: list[Progress] = []

        def work(stands: Cursor) -> Cursor:
            before = Progress(mark=self._after) if stands.data is None else Progress.of(stands)
            after = change(before).with_nothing_open(horizon)
            made[:] = [replace(after, revision=before.revision + 1)]
            return Cursor(self._row, made[0].mark, data=made[0].to_data())

        try:
            await self._ledger.append(*appends, cursors=[CursorChange(self._row, work)])
        except NothingLeft:
            await self.read()
            return None
        self._learn(made[0])
        return made[0]

    def _learn(self, progress: Progress) -> None:
        if progress.revision > self.known.revision:
            self.known = progress


def _must(changes: bool) -> None:
    if not changes:
        raise NothingLeft("The event was settled already.")
