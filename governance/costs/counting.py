"""From events of orders to costs: each event counts for the order that spent it, under who and what that order was."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from contracts import Event, ExecutionId
from governance.costs.amounts import Cost, Series
from runtime.engine.spent import SPENDING, own_spent
from runtime.ledger.port import Ledger

ACCEPTED = "order.accepted"
TYPES = frozenset({*SPENDING, ACCEPTED})
"""Types of the events that costs are counted from."""
_KEPT = 20_000
_IMPORTED = "execution.imported"


@dataclass(frozen=True, slots=True)
class _Order:
    """Who has an order, and for what."""

    path: str
    process: str
    skill: str
    step: str = ""
    """The step above that it carries out, where it is one call that a plan of another order names."""


_UNKNOWN = _Order("", "", "")
"""An order whose beginning is not there any more."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What one event adds."""

    organisation: str
    day: str
    """UTC, `2026-12-01`."""
    series: Series
    cost: Cost


class CostCounter:
    """Counts events; what it has to know of their orders it reads once, and keeps."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._orders: OrderedDict[str, _Order] = OrderedDict()
        self._models: OrderedDict[ExecutionId, dict[str, str] | None] = OrderedDict()

    async def count(self, events: Collection[Event]) -> list[Counted]:
        """Return what the events add, each for itself; those of executions that happened elsewhere add nothing."""
        for event in events:
            if event.type == ACCEPTED and event.data is not None:
                self._orders[event.subject] = _order_of(event.data)
        spending = [event for event in events if event.type in SPENDING]
        await self._look_up(spending)
        found = list(self._counted(spending))
        for kept in (self._orders, self._models):
            while len(kept) > _KEPT:
                kept.popitem(last=False)
        return found

    def _counted(self, events: Iterable[Event]) -> Iterator[Counted]:
        for event in events:
            models = {} if event.execution_id is None else self._models[event.execution_id]
            spent = own_spent(event.type, event.data)
            if models is None or spent is None:
                continue
            order = self._orders[event.subject]
            model = models.get(spent.role) or models.get("reason") or spent.role if spent.role else ""
            series = Series(order.path, order.process, order.skill, order.step or spent.step, model)
            yield Counted(
                event.organisation, f"{event.time:%Y-%m-%d}", series, Cost.of(spent.usage, unpriced=spent.unpriced)
            )

    async def _look_up(self, events: Collection[Event]) -> None:
        executions = {event.execution_id for event in events if event.execution_id} - self._models.keys()
        newest = await self._ledger.read_newest(*map(str, executions)) if executions else []
        imported = {event.subject for event in newest if event.type == _IMPORTED}
        for execution in executions:
            self._models[execution] = None if str(execution) in imported else await self._pinned(execution)
        for stream in {event.subject for event in events} - self._orders.keys():
            first = await self._ledger.read_versions(stream, [1])
            data = first[0].data if first and first[0].type == ACCEPTED else None
            self._orders[stream] = _UNKNOWN if data is None else _order_of(data)

    async def _pinned(self, execution: ExecutionId) -> dict[str, str]:
        for event in await self._ledger.read_versions(str(execution), [1]):
            models = (event.data or {}).get("models")
            return {role: str(name) for role, name in models.items()} if isinstance(models, dict) else {}
        return {}


def _order_of(data: Any) -> _Order:
    order = data["order"]
    chain = order.get("chain") or ()
    path = [*(above["employee"] for above in chain), order["employee"]]
    path = [name for number, name in enumerate(path) if number == 0 or path[number - 1] != name]
    skills = [skill for skill in (*(above.get("skill") for above in chain), order.get("skill")) if skill]
    process, skill = skills[0] if skills else "", order.get("skill") or ""
    if skill or not chain:
        return _Order("/".join(path), process, skill)
    return _Order("/".join(path), process, chain[-1].get("skill") or "", chain[-1].get("step") or "")
