"""What work cost, summed up from the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from console.resources import Resources
from console.seeing import Seeing
from console.views_costs import CostRow, CostTable
from contracts import ExecutionId, Money
from governance.access.sight import EVERYTHING, Sight
from governance.costs import Cost, CostBook, costs_of_execution, summed_by
from governance.costs.amounts import BY, Costs, total
from runtime.errors import InvalidArguments

DAYS = 30
"""Days that are shown where nobody says since when, today included."""


class Costing:
    """The port `CostsPort`, of what was spent."""

    _resources: Resources

    async def costs(
        self,
        *,
        by: str,
        organisation: str | None,
        since: date | None,
        until: date | None,
        execution_id: ExecutionId | None = None,
        sight: Sight = EVERYTHING,
    ) -> CostTable:
        """Return the sums of an organisation, or of one execution; see the port."""
        if by not in BY:
            raise InvalidArguments(f"Costs are not told by {by!r}. Choose one of {', '.join(BY)}.", by=by)
        seeing = Seeing(self._resources, self._resources.onlooker)
        if execution_id is not None:
            await seeing.require(execution_id)
            view = await (await self._resources.executor()).view(execution_id)
            own = await costs_of_execution((await self._resources.store()).ledger, execution_id)
            name = view.request.organisation
            return CostTable(name, by, None, None, _rows(summed_by(by, own)), _row("", total(own)), execution_id)
        last = until or self._resources.clock.now().date()
        first = since or last - timedelta(days=DAYS - 1)
        if first > last:
            raise InvalidArguments(f"Costs since {first} until {last}: the first day comes after the last.")
        name = organisation or await self._only_one()
        bound = await seeing.in_organisation(name) if sight.whole else sight
        days = _seen(await (await self._book()).days(name, since=first, until=last), bound)
        return CostTable(name, by, first, last, _rows(summed_by(by, days)), _row("", total(days)))

    async def cost_organisations(self) -> Sequence[str]:
        """Return the organisations of which anything was spent."""
        book = await self._book()
        await book.catch_up()
        return await book.organisations()

    async def rebuild_costs(self) -> int:
        """Count all costs again from the events that are there; return how far that reaches."""
        return await (await self._book()).rebuild()

    async def _book(self) -> CostBook:
        return CostBook((await self._resources.store()).ledger)

    async def _only_one(self) -> str:
        there = await self.cost_organisations()
        if len(there) > 1:
            raise InvalidArguments(
                f"There are costs of several organisations: {', '.join(there)}. Name one (--organisation)."
            )
        return there[0] if there else ""


def _seen(days: Mapping[str, Costs], sight: Sight) -> Mapping[str, Costs]:
    """Return the costs of employees whose work may be seen."""
    if sight.whole:
        return days
    return {
        day: {series: cost for series, cost in costs.items() if series.employee and sight.sees(series.employee)}
        for day, costs in days.items()
    }


def _rows(sums: dict[str, Cost]) -> tuple[CostRow, ...]:
    return tuple(_row(key, cost) for key, cost in sums.items())


def _row(key: str, cost: Cost) -> CostRow:
    money = tuple(Money(amount=amount, currency=currency) for currency, amount in cost.money)
    return CostRow(key, cost.tokens_in, cost.tokens_out, money, round(cost.seconds, 3), cost.steps, cost.unpriced)
