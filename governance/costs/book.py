"""The costs of the whole ledger by day: counted from its events, each once, and kept beside the position they reach to.

What is kept is derived: `rebuild` makes it anew from the events that are there. A question costs what happened since
the last one, and a row for each day that it is about; it does not grow with the history.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from governance.costs.amounts import NOTHING, Cost, Costs, Series
from governance.costs.counting import TYPES, CostCounter, Counted
from runtime.errors import LedgerUnavailable, VersionConflict
from runtime.ledger.kept import kept_cursor
from runtime.ledger.port import Cursor, Ledger

NAME = "costs"
"""The consumer under which the ledger keeps how far they are counted; days are `costs/ORGANISATION/DAY`."""
SPAN = 20_000
"""Positions that are read together."""


class CostBook:
    """Counts on from where it stood. Any process may: they share the rows, and none counts an event again."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._counter = CostCounter(ledger)
        self._turn = asyncio.Lock()

    async def days(
        self, organisation: str, *, since: date | None = None, until: date | None = None
    ) -> Mapping[str, Costs]:  # fmt: skip
        """Return day (UTC) → costs of an organisation, counted up to now, from `since` to `until`, both included.

        Raises:
            LedgerError: the ledger cannot be read, or, where something is to be counted, written.
        """
        await self.catch_up()
        return await self._read(organisation, since, until)

    async def catch_up(self) -> None:
        """Count what happened since it was counted last; raises as `days`."""
        async with self._turn:
            while await self._go_on():
                pass

    async def organisations(self) -> list[str]:
        """Return the organisations of which costs are kept."""
        kept = await self._ledger.cursors(f"{NAME}/")
        return sorted({each.name.split("/")[1] for each in kept if each.data and each.data["rows"]})

    async def rebuild(self) -> int:
        """Count everything again from the first event that is there; return how many positions that were.

        Costs of executions that were pruned meanwhile are gone then.
        """
        async with self._turn:
            kept = await self._ledger.cursors(NAME)
            days = [Cursor(each.name, 0, data={"rows": []}) for each in kept if each.name.startswith(f"{NAME}/")]
            await self._ledger.append(cursors=[Cursor(NAME, 0), *days])
            while await self._go_on():
                pass
            return await self._ledger.cursor(NAME)

    async def _go_on(self) -> bool:
        """Count the next span and keep what came of it; return whether there may be more."""
        position, head = await self._ledger.cursor(NAME), await self._ledger.head()
        if head <= position:
            return False
        end = min(head, position + SPAN)
        events = await self._ledger.read_all(after=position, until=end, limit=SPAN, types=TYPES)
        counted = await self._counter.count(events)
        if not counted and end == head and end - position < SPAN // 2:
            return False  # nothing to keep yet: the next question looks at these few again
        try:
            days = await self._with(counted, end)
            await self._ledger.append(cursors=[Cursor(NAME, end, position), *days])
        except VersionConflict:  # another process counted on: go on from there
            return True
        except LedgerUnavailable:
            if counted:
                raise
        return end < head

    async def _with(self, counted: Iterable[Counted], position: int) -> list[Cursor]:
        """Return the rows of the days to which something is added; who moves the position first keeps his."""
        added: dict[str, dict[Series, Cost]] = {}
        for each in counted:
            day = added.setdefault(f"{NAME}/{each.organisation}/{each.day}", {})
            day[each.series] = day.get(each.series, NOTHING) + each.cost
        rows = []
        for name, more in added.items():
            costs = dict(_from_data(await self._row(name)))
            for series, cost in more.items():
                costs[series] = costs.get(series, NOTHING) + cost
            rows.append(Cursor(name, position, data={"rows": [[*s, *c.to_data()] for s, c in costs.items()]}))
        return rows

    async def _row(self, name: str) -> Mapping[str, Any] | None:
        kept = await kept_cursor(self._ledger, name)
        return None if kept is None else kept.data

    async def _read(self, organisation: str, since: date | None, until: date | None) -> dict[str, Costs]:
        first, last = (since or date.min).isoformat(), (until or date.max).isoformat()
        among = first[: next((n for n in range(len(first)) if first[n] != last[n]), len(first))]
        found = await self._ledger.cursors(f"{NAME}/{organisation}/{among}")
        days = {each.name.rpartition("/")[2]: _from_data(each.data) for each in found}
        return {day: costs for day, costs in sorted(days.items()) if first <= day <= last and costs}


def _from_data(data: Mapping[str, Any] | None) -> Costs:
    width = len(Series._fields)
    return {Series(*row[:width]): Cost.from_data(row[width:]) for row in (data or {}).get("rows", ())}
