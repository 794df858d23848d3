"""The costs of one execution, straight from its events."""

from __future__ import annotations

from contracts import Event, ExecutionId
from governance.costs.amounts import NOTHING, Cost, Costs, Series
from governance.costs.counting import TYPES, CostCounter
from runtime.ledger.port import Ledger

_BATCH = 1_000


async def costs_of_execution(ledger: Ledger, execution_id: ExecutionId) -> dict[str, Costs]:
    """Return day → costs of one execution; together they are what `silicon show` says that it took."""
    counter, days = CostCounter(ledger), dict[str, dict[Series, Cost]]()
    after, events = 0, list[Event]()
    while events := await ledger.read_execution(execution_id, after=after, limit=_BATCH):
        after = events[-1].position
        for each in await counter.count([event for event in events if event.type in TYPES]):
            day = days.setdefault(each.day, {})
            day[each.series] = day.get(each.series, NOTHING) + each.cost
    return dict(days)
