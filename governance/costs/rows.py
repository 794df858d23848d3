"""How budgets of departments and processes stand, giving one more for its period, and making their rows anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial

from contracts import Budget, Event, Limit, TaskOrder
from runtime.engine.amounts import Amounts, amounts_of, spent_of
from runtime.engine.fold import fold_order
from runtime.engine.shared import Row, extend, kept_row, key_of, read_amounts, write_amounts
from runtime.engine.shared_budget import SharedBudget
from runtime.engine.spent import SPENDING, own_spent
from runtime.errors import InvalidArguments
from runtime.ledger.port import Append, Cursor, CursorChange, Ledger, NewEvent

EXTENDED = "budget.extended"
_ACCEPTED = "order.accepted"
_ZERO = Decimal(0)
_BATCH = 5_000


@dataclass(frozen=True, slots=True)
class Standing:
    """One limit of a budget in the period that is now."""

    budget: SharedBudget
    window: str
    limit: Limit
    most: Decimal
    """What was added for this period counts."""
    extra: Decimal
    spent: Decimal
    reserved: Decimal
    """Set aside, at its worst, for calls in progress."""

    @property
    def left(self) -> Decimal:
        """What a call may still take; below zero where work took more than its worst case."""
        return self.most - self.spent - self.reserved


async def standings(
    ledger: Ledger, organisation: str, budgets: Sequence[SharedBudget], now: datetime
) -> list[Standing]:
    """Return how the budgets stand now, each limit for itself."""
    found: list[Standing] = []
    for budget in budgets:
        name = budget.row(organisation, now)
        row = await kept_row(ledger, name)
        for limit, most in amounts_of(budget.limits).items():
            extra = row.extra.get(limit, _ZERO)
            spent, aside = row.spent.get(limit, _ZERO), row.set_aside(limit)
            found.append(Standing(budget, name.rpartition("/")[2], limit, most + extra, extra, spent, aside))
    return found


async def extend_budget(
    ledger: Ledger, organisation: str, budget: SharedBudget, given: Budget, *, by: str, why: str, now: datetime
) -> None:
    """Give a budget more for the period that is now, on record.

    Raises:
        InvalidArguments: it does not limit that, or not in that currency, or nothing is given.
        VersionConflict: somebody gave it more at the same time.
    """
    limits, more = amounts_of(budget.limits), {limit: some for limit, some in amounts_of(given).items() if some}
    unknown = [limit.value for limit in more if limit not in limits]
    if unknown or not more:
        there = ", ".join(limit.value for limit in limits)
        what = f"It does not limit {', '.join(unknown)}" if unknown else "Nothing was given"
        raise InvalidArguments(f"{what}. The budget {budget.name} limits {there}.", budget=budget.name)
    money = budget.limits.money
    if money is not None and given.money is not None and given.money.currency != money.currency:
        raise InvalidArguments(
            f"The budget {budget.name} is in {money.currency}, and {given.money} are given. Nothing was changed.",
            budget=budget.name, currency=money.currency,
        )  # fmt: skip
    row = budget.row(organisation, now)
    data = {"budget": budget.name, "row": row, "more": write_amounts(more), "by": by, "why": why}
    version = len(await ledger.read(row))
    source = f"/organisation/{organisation}/person/{by}"
    append = Append(row, [NewEvent(EXTENDED, data)], version, organisation, source)
    await ledger.append(append, cursors=[CursorChange(row, partial(extend, more))])


async def rebuild_rows(ledger: Ledger, organisation: str, budgets: Sequence[SharedBudget], now: datetime) -> int:
    """Make the rows of the periods that are now anew from the events that are there; return how many.

    What orders that have ended left set aside is gone then, whatever became of its process.
    """
    rows = {budget.row(organisation, now): (budget, Row()) for budget in budgets}
    orders: dict[str, TaskOrder] = {}
    after = 0
    types = {*SPENDING, _ACCEPTED, EXTENDED}
    while events := await ledger.read_all(after=after, limit=_BATCH, types=types):
        after = events[-1].position
        for event in events:
            if event.organisation == organisation and event.data is not None:
                _count(event, event.data, orders, rows)
    for stream in orders:
        view = fold_order(await ledger.read(stream))
        if view.draws and view.report is None:
            for unit in view.units.values():
                for what, drawn in (unit.drawn or {}).items():
                    for row in drawn.keys() & rows.keys():
                        rows[row][1].open[key_of(stream, unit.step, unit.index, what)] = dict(drawn[row])
    kept = {each.name: each.position for each in await ledger.cursors("budget/")}
    anew = [Cursor(name, kept.get(name, 0) + 1, kept.get(name), row.to_data()) for name, (_, row) in rows.items()]
    await ledger.append(cursors=anew)
    return len(anew)


def _count(
    event: Event, data: Mapping[str, object], orders: dict[str, TaskOrder], rows: Mapping[str, tuple[SharedBudget, Row]]
) -> None:
    if event.type == _ACCEPTED:
        orders[event.subject] = TaskOrder.read(data["order"])  # type: ignore[arg-type]
        return
    if event.type == EXTENDED:
        if event.subject in rows:
            _add(rows[event.subject][1].extra, read_amounts(data["more"]))  # type: ignore[arg-type]
        return
    spent, order = own_spent(event.type, data), orders.get(event.subject)
    if spent is None or order is None:
        return
    for name, (budget, row) in rows.items():
        if budget.covers(order) and budget.row(event.organisation, event.time) == name:
            _add(row.spent, spent_of(spent.usage, budget.limits))


def _add(sums: dict[Limit, Decimal], more: Amounts) -> None:
    for limit, some in more.items():
        sums[limit] = sums.get(limit, _ZERO) + some
