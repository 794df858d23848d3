"""Active memories in arrays, made of the records and brought up to date with them: filtered, and scored by words.

It lives in a process as a cache of the ledger. Words of a hundred thousand memories take some tens of megabytes; what a
record says is read from the table when it is shown.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from contracts import MemoryHolder, MemoryId, MemoryRecord, MemoryState
from memory.records.port import Changes, MemoryFilter
from runtime.search import WordColumns, plain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Mask = NDArray[np.bool_]

_FOREVER = 2**62
_CODED = ("kind", "class", "holder", "domain", "project", "session", "intent", "state")
"""Columns of few different values, each value a number."""
_USED = 0.5
"""Share of numbers that have to be in use, so that an index is not made anew."""
_FEW = 1_000


class MemoryIndex:
    """The memories of one organisation that somebody may recall."""

    def __init__(self) -> None:
        self._words = WordColumns()
        self.ids: list[MemoryId | None] = []
        """Number → memory; None for a number that is not used any more."""
        self._numbers: dict[MemoryId, int] = {}
        self.fresh: set[int] = set()
        """Numbers that were given since somebody took them out of here, for whoever makes something of each text."""
        self._there = bytearray()
        """Number → 1 where it is used."""
        self._texts: dict[int, int] = {}
        """Number → hash of the text, by which a change of something else is told."""
        self._codes: dict[str, dict[str, int]] = {name: {"": 0} for name in _CODED}
        self._columns: dict[str, array[int]] = {name: array("i") for name in _CODED}
        self._times: dict[str, array[int]] = {name: array("q") for name in ("created", "from", "until")}
        self._entities: dict[str, set[int]] = {}
        self._named: dict[int, tuple[str, ...]] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def numbers(self) -> Collection[int]:
        """Those that are used."""
        return self._numbers.values()

    @property
    def wasteful(self) -> bool:
        """Whether so many numbers are not used any more that it should be made anew."""
        return len(self.ids) > _FEW and len(self._numbers) < _USED * len(self.ids)

    def take_in(self, changes: Changes) -> None:
        """Take in what changed."""
        for memory_id in changes.gone:
            self._forget(memory_id)
        for record in changes.records:
            self._put(record)

    def by_words(self, query: str, which: MemoryFilter, now: datetime) -> tuple[Floats, Mapping[str, float], Mask]:
        """Return score by number, 0 for what a filter leaves out; word → how rare it is; what the filter leaves."""
        scores, rare = self._words.scores(query, len(self.ids))
        mask = self.mask(which, now)
        scores[~mask] = 0.0
        return scores, rare, mask

    def mask(self, which: MemoryFilter, now: datetime) -> Mask:
        """Return, by number, whether a filter leaves a memory that holds now."""
        import numpy as np

        kept: Mask = np.frombuffer(self._there, dtype=np.bool_).copy()
        wanted: dict[str, Sequence[str]] = {
            "kind": [each.value for each in which.kinds], "class": [each.value for each in which.classes],
            "holder": [_holder(each) for each in which.holders], "project": which.projects,
            "session": which.sessions, "intent": which.intents, "state": [each.value for each in which.states],
            "domain": [] if which.every_domain else ["", *which.domains],
        }  # fmt: skip
        for name, values in wanted.items():
            if values:
                codes = [self._codes[name][value] for value in values if value in self._codes[name]]
                kept &= np.isin(np.frombuffer(self._columns[name], dtype=np.int32), codes)
        at = _second(now)
        kept &= self._time("from") <= at
        kept &= self._time("until") > at
        if which.since is not None:
            kept &= self._time("created") >= _second(which.since)
        if which.until is not None:
            kept &= self._time("created") < _second(which.until)
        if which.entities:
            there = np.zeros(len(self.ids), dtype=np.bool_)
            for name in which.entities:
                there[list(self._entities.get(_plainly(name), ()))] = True
            kept &= there
        return kept

    def terms(self, number: int, rare: Mapping[str, float]) -> dict[str, float]:
        """Return word → its part of a memory's score, largest first."""
        return self._words.terms(number, dict(rare))

    def _time(self, name: str) -> NDArray[np.int64]:
        import numpy as np

        return np.frombuffer(self._times[name], dtype=np.int64)

    def _put(self, record: MemoryRecord) -> None:
        if record.state is not MemoryState.ACTIVE:
            self._forget(record.memory_id)
            return
        number = self._numbers.get(record.memory_id)
        text = hash(searched(record))
        if number is None or self._texts[number] != text:
            self._forget(record.memory_id)
            number = self._append(record)
            self._texts[number] = text
            self._words.put(number, searched(record))
        self._set(number, record)

    def _append(self, record: MemoryRecord) -> int:
        number = len(self.ids)
        self.ids.append(record.memory_id)
        self._there.append(1)
        self.fresh.add(number)
        self._numbers[record.memory_id] = number
        for column in (*self._columns.values(), *self._times.values()):
            column.append(0)
        return number

    def _set(self, number: int, record: MemoryRecord) -> None:
        values = {
            "kind": record.kind.value, "class": record.memory_class.value, "holder": _holder(record.holder),
            "domain": record.domain or "", "project": record.project or "", "session": record.session or "",
            "intent": record.intent or "", "state": record.state.value,
        }  # fmt: skip
        for name, value in values.items():
            codes = self._codes[name]
            self._columns[name][number] = codes.setdefault(value, len(codes))
        self._times["created"][number] = _second(record.created_at)
        self._times["from"][number] = _second(record.valid_from)
        self._times["until"][number] = _FOREVER if record.valid_until is None else _second(record.valid_until)
        self._name(number, tuple(map(_plainly, record.entities)))

    def _name(self, number: int, entities: tuple[str, ...]) -> None:
        for name in self._named.pop(number, ()):
            self._entities[name].discard(number)
        for name in entities:
            self._entities.setdefault(name, set()).add(number)
        if entities:
            self._named[number] = entities

    def _forget(self, memory_id: MemoryId) -> None:
        number = self._numbers.pop(memory_id, None)
        if number is None:
            return
        self.ids[number] = None
        self._there[number] = 0
        self.fresh.discard(number)
        self._texts.pop(number, None)
        self._words.remove(number)
        self._name(number, ())


def searched(record: MemoryRecord) -> str:
    """Return the text by which a memory is found."""
    return " ".join(filter(None, (record.text, record.subject, record.relation, record.value, *record.entities)))


def _holder(holder: MemoryHolder) -> str:
    return f"{holder.kind.value}/{holder.name}"


def _plainly(text: str) -> str:
    return " ".join(plain(text).split())


def _second(moment: datetime) -> int:
    return int(moment.astimezone(UTC).timestamp())
