"""The counts of the whole ledger: worked out from its events, each once, and kept beside the position they reach to."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from contracts import Event, ExecutionId
from runtime.corrections.counting import TYPES, counted
from runtime.corrections.kinds import Series
from runtime.errors import LedgerUnavailable, VersionConflict
from runtime.ledger.kept import kept_cursor
from runtime.ledger.port import Cursor, Ledger

NAME = "corrections"
"""The consumer under which the ledger keeps them."""
SPAN = 20_000
"""Positions that are read together."""
MOST_SERIES = 1_000
"""Series of a month that are told apart; what comes after those is counted without model and tool."""
_BEFORE = "before"
_MODELS_KEPT = 1_000
_IMPORTED = "execution.imported"


@dataclass(frozen=True, slots=True)
class Tallied:
    """The counts at a moment."""

    ever: Mapping[Series, int]
    """Since the ledger began. They only grow, also when executions are pruned."""
    lately: Mapping[Series, int]
    """Of this month and the one before it, so that what was mended meanwhile is soon forgotten."""
    since: datetime | None
    """The beginning of that time; None where nothing was counted in it."""


class Tally:
    """Counts on from where it stood. Any process may: they share one row, and none counts an event again."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._months: dict[str, Counter[Series]] = {}
        self._position = 0
        self._saved: int | None = None
        """The position that the ledger keeps; None before it was looked at."""
        self._models: OrderedDict[ExecutionId, str | None] = OrderedDict()
        self._turn = asyncio.Lock()

    async def read(self, now: datetime, *, spans: int | None = None) -> Tallied:
        """Return the counts, worked out up to now; with `spans`, after so many spans of events at most.

        What was left out then is counted by the next calls. In a ledger that cannot be written nothing is kept.

        Raises:
            LedgerError: the ledger cannot be read.
        """
        async with self._turn:
            while spans is None or spans > 0:
                if not await self._go_on():
                    break
                spans = None if spans is None else spans - 1
            return self._told(now)

    async def _go_on(self) -> bool:
        """Count the next span and keep what came of it; return whether there may be more."""
        if self._saved is None:
            await self._take_up()
        head = await self._ledger.head()
        if head <= self._position:
            return False
        end = min(head, self._position + SPAN)
        events = await self._ledger.read_all(after=self._position, until=end, limit=SPAN, types=TYPES)
        await self._count(events)
        self._position = end
        if events or end < head:
            await self._keep()
        return end < head or self._saved is None

    async def _take_up(self) -> None:
        """Begin with what the ledger keeps, unless more was counted here already."""
        kept = await kept_cursor(self._ledger, NAME) or Cursor(NAME, 0)
        self._saved = kept.position
        if kept.position >= self._position:
            self._position, self._months = kept.position, _from_data(kept.data)

    async def _keep(self) -> None:
        _forget_early(self._months)
        cursor = Cursor(NAME, self._position, self._saved, _to_data(self._months))
        try:
            await self._ledger.append(cursors=[cursor])
            self._saved = self._position
        except VersionConflict:  # another process counted on; what it kept is as good, and this one goes on from there
            self._saved, self._position = None, 0
        except LedgerUnavailable:  # read-only, or away for a moment: what is counted can be counted again
            return

    async def _count(self, events: Collection[Event]) -> None:
        models = await self._models_of({each.execution_id for each in events if each.execution_id})
        for event in events:
            model = "" if event.execution_id is None else models[event.execution_id]
            if model is None:
                continue
            month = self._months.setdefault(f"{event.time:%Y-%m}", Counter())
            for series in counted(event, model):
                full = len(month) >= MOST_SERIES and series not in month
                month[series._replace(model="", tool="") if full else series] += 1

    async def _models_of(self, executions: Collection[ExecutionId]) -> Mapping[ExecutionId, str | None]:
        """Return execution → the model it was pinned to; None for one that happened elsewhere and was imported."""
        new = executions - self._models.keys()
        newest = await self._ledger.read_newest(*map(str, new)) if new else []
        imported = {event.subject for event in newest if event.type == _IMPORTED}
        for execution in new:
            self._models[execution] = None if str(execution) in imported else await self._pinned(execution)
        found = {execution: self._models[execution] for execution in executions}
        while len(self._models) > _MODELS_KEPT:
            self._models.popitem(last=False)
        return found

    async def _pinned(self, execution: ExecutionId) -> str:
        for event in await self._ledger.read_versions(str(execution), [1]):
            models = (event.data or {}).get("models")
            return str(models.get("reason", "")) if isinstance(models, dict) else ""
        return ""  # pruned meanwhile

    def _told(self, now: datetime) -> Tallied:
        months = {now.strftime("%Y-%m"), _month_before(now).strftime("%Y-%m")}
        lately = {name: counts for name, counts in self._months.items() if name in months and counts}
        since = datetime.strptime(min(lately), "%Y-%m").replace(tzinfo=now.tzinfo) if lately else None
        return Tallied(_sum(self._months.values()), _sum(lately.values()), since)


def _month_before(moment: datetime) -> datetime:
    return moment.replace(day=1) - timedelta(days=1)


def _sum(counts: Iterable[Counter[Series]]) -> Mapping[Series, int]:
    whole: Counter[Series] = Counter()
    for each in counts:
        whole.update(each)
    return whole


def _forget_early(months: dict[str, Counter[Series]]) -> None:
    """Put all months but the last two together, so that what is kept stays small."""
    names = sorted(months.keys() - {_BEFORE})
    for name in names[:-2]:
        months.setdefault(_BEFORE, Counter()).update(months.pop(name))


def _to_data(months: Mapping[str, Counter[Series]]) -> Mapping[str, Any]:
    return {"months": {name: [[*series, count] for series, count in counts.items()] for name, counts in months.items()}}


def _from_data(data: Mapping[str, Any] | None) -> dict[str, Counter[Series]]:
    months = (data or {}).get("months", {})
    return {name: Counter(dict(_series(rows))) for name, rows in months.items()}


def _series(rows: Iterable[list[Any]]) -> Iterator[tuple[Series, int]]:
    return ((Series(*row[:-1]), row[-1]) for row in rows)
