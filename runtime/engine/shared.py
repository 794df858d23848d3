"""Budgets that many orders draw on: those of a department or a process, for a day, a week or a month.

Each is one row for each period, changed in the very commit of the event that says what happened: `budget.drawn` before
a call takes its worst case out, and whatever event tells what the call took puts that in its place. So no two calls
take the same money, in whichever process they are made, and a crash between the two leaves the worst case set aside.
The rows can be made again from the events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

from contracts import Budget, Limit, TaskOrder
from runtime.engine.amounts import SMALLEST, Amounts, amounts_of, shown, spent_of
from runtime.engine.drawn import settled_by
from runtime.engine.shared_budget import PREFIX, SharedBudget
from runtime.engine.spent import own_spent
from runtime.engine.view import OrderView, Unit
from runtime.errors import BudgetExceeded
from runtime.ledger.kept import kept_cursor
from runtime.ledger.port import Cursor, CursorChange, Ledger, NewEvent

DRAWN = "budget.drawn"
_ZERO = Decimal(0)
Change = Callable[[Cursor], Cursor]


@dataclass(slots=True)
class Row:
    """How a budget stands in one period."""

    spent: dict[Limit, Decimal] = field(default_factory=dict)
    open: dict[str, dict[Limit, Decimal]] = field(default_factory=dict)
    """Call in progress → the most that it takes."""
    extra: dict[Limit, Decimal] = field(default_factory=dict)
    """What people added to it for this period."""

    @classmethod
    def of(cls, data: Mapping[str, Any] | None) -> Row:
        """Return the row as it is kept."""
        found = data or {}
        drawn = {key: read_amounts(amounts) for key, amounts in found.get("open", {}).items()}
        return cls(read_amounts(found.get("spent", {})), drawn, read_amounts(found.get("extra", {})))

    def to_data(self) -> dict[str, Any]:
        """Return the form in which it is kept."""
        drawn = {key: write_amounts(amounts) for key, amounts in self.open.items()}
        return {"spent": write_amounts(self.spent), "open": drawn, "extra": write_amounts(self.extra)}

    def set_aside(self, limit: Limit, *, apart_from: str = "") -> Decimal:
        """Return how much of a limit calls in progress have set aside."""
        return sum((some.get(limit, _ZERO) for key, some in self.open.items() if key != apart_from), _ZERO)


async def kept_row(ledger: Ledger, name: str) -> Row:
    """Return how a budget stands in one period; one on which nothing was drawn yet stands at zero."""
    kept = await kept_cursor(ledger, name)
    return Row.of(None if kept is None else kept.data)


class SharedBudgetExceeded(BudgetExceeded):
    """A budget that many share does not reach; `may_return` tells whether calls in progress may give enough back."""

    def __init__(
        self, budget: SharedBudget, row: str, limit: Limit, needed: Decimal, standing: Row, *, key: str = ""
    ) -> None:  # fmt: skip
        currency = budget.limits.money.currency if budget.limits.money else None
        most = amounts_of(budget.limits)[limit] + standing.extra.get(limit, _ZERO)
        spent, aside = standing.spent.get(limit, _ZERO), standing.set_aside(limit, apart_from=key)
        amounts = {"most": most, "spent": spent, "reserved": aside, "needed": needed}
        told = {name: shown(limit, some, currency) for name, some in amounts.items()}
        window = row.rpartition("/")[2]
        super().__init__(
            f"The budget of the {budget.kind} {budget.owner} for {window} does not reach ({limit.value}): up to "
            f"{told['needed']} may be needed, and of {told['most']} there are {told['spent']} spent and "
            f"{told['reserved']} set aside for calls in progress. The finished steps are kept; when it has more "
            f"(`silicon costs extend`), or a new {budget.per.value} has begun, `silicon resume` goes on from here.",
            limit=limit.value, budget=budget.name, window=window, **told,
        )  # fmt: skip
        self.may_return = aside > 0 and most - spent >= needed


class Shared:
    """The shared budgets that one order draws on, while it is being carried out."""

    def __init__(
        self, budgets: Sequence[SharedBudget], order: TaskOrder, view: OrderView, now: Callable[[], datetime]
    ) -> None:  # fmt: skip
        self.budgets = tuple(budgets)
        self._order = order
        self._view = view
        self._now = now

    def drawing(
        self, unit: Unit, what: str, needed: Callable[[Budget], Amounts]
    ) -> tuple[NewEvent, list[CursorChange]] | None:  # fmt: skip
        """Return what sets the worst case of a call aside, None where that is done already or takes nothing.

        The event and the changes belong into one commit, of which SharedBudgetExceeded is raised where it is not there.

        Args:
            needed: tells how much the call takes at most of what a budget limits.
        """
        now, known = self._now(), (unit.drawn or {}).get(what)
        wanted = {budget.row(self._order.organisation, now): (budget, needed(budget.limits)) for budget in self.budgets}
        if not any(amounts for _, amounts in wanted.values()):
            return None
        if known is not None and all(_holds(known.get(row), amounts) for row, (_, amounts) in wanted.items()):
            return None
        key = self._key(unit.step, unit.index, what)
        changes = [CursorChange(row, partial(_take, budget, key, some)) for row, (budget, some) in wanted.items()]
        changes += [CursorChange(row, partial(_settle, [key], {})) for row in known or {} if row not in wanted]
        rows = {row: write_amounts(amounts) for row, (_, amounts) in wanted.items()}
        return NewEvent(DRAWN, {"step": unit.step, "index": unit.index, "what": what, "rows": rows}), changes

    def settling(self, events: Iterable[NewEvent]) -> list[CursorChange]:
        """Return what puts in its place what these events say was spent; they and it belong into one commit."""
        changes: list[CursorChange] = []
        for event in events:
            drawn, used = self._settled(event), dict[str, Amounts]()
            spent = own_spent(event.type, event.data)
            if spent is not None:
                used = {self._row_of(budget, drawn): spent_of(spent.usage, budget.limits) for budget in self.budgets}
            used = {row: amounts for row, some in used.items() if (amounts := _some(some))}
            rows = dict.fromkeys((*drawn, *used))
            changes += [CursorChange(row, partial(_settle, drawn.get(row, ()), used.get(row, {}))) for row in rows]
        return changes

    def _row_of(self, budget: SharedBudget, drawn: Iterable[str]) -> str:
        """Return where the event counts: in the period in which it was drawn, or else in the one that is now."""
        whole = f"{PREFIX}/{self._order.organisation}/{budget.name}/"
        return next((row for row in drawn if row.startswith(whole)), budget.row(self._order.organisation, self._now()))

    def _settled(self, event: NewEvent) -> dict[str, list[str]]:
        """Return row → keys of what the event settles there."""
        found: dict[str, list[str]] = {}
        for unit, what in settled_by(self._view, event.type, event.data):
            for row in (unit.drawn or {})[what]:
                found.setdefault(row, []).append(self._key(unit.step, unit.index, what))
        return found

    def _key(self, step: str, index: int | None, what: str) -> str:
        return key_of(str(self._order.order_id), step, index, what)


def key_of(order_id: str, step: str, index: int | None, what: str) -> str:
    """Return under which name a row holds what a call of an order takes."""
    return f"{order_id}:{step}:{'-' if index is None else index}:{what}"


def releasing(view: OrderView) -> list[CursorChange]:
    """Return what counts as spent, at its worst, whatever an order still has set aside that nobody goes on with."""
    assert view.order is not None
    changes: list[CursorChange] = []
    for unit in view.units.values():
        for what, rows in (unit.drawn or {}).items():
            key = key_of(str(view.order.order_id), unit.step, unit.index, what)
            changes += [CursorChange(row, partial(_settle, [key], amounts)) for row, amounts in rows.items()]
    return changes


def merged(changes: Iterable[CursorChange]) -> list[CursorChange]:
    """Return one change for each row, in which those of the same row follow each other."""
    found: dict[str, list[Change]] = {}
    for each in changes:
        found.setdefault(each.name, []).append(each.change)
    return [CursorChange(name, partial(_one_after_the_other, steps)) for name, steps in found.items()]


def _one_after_the_other(steps: Sequence[Change], stands: Cursor) -> Cursor:
    for step in steps:
        stands = step(stands)
    return stands


def _take(budget: SharedBudget, key: str, amounts: Amounts, stands: Cursor) -> Cursor:
    row = Row.of(stands.data)
    for limit, most in amounts_of(budget.limits).items():
        free = most + row.extra.get(limit, _ZERO) - row.spent.get(limit, _ZERO) - row.set_aside(limit, apart_from=key)
        needed = amounts.get(limit, SMALLEST[limit])
        if free < needed:
            raise SharedBudgetExceeded(budget, stands.name, limit, needed, row, key=key)
    row.open[key] = dict(amounts)
    return _changed(stands, row)


def _settle(keys: Sequence[str], used: Amounts, stands: Cursor) -> Cursor:
    row = Row.of(stands.data)
    for key in keys:
        row.open.pop(key, None)
    for limit, some in used.items():
        row.spent[limit] = row.spent.get(limit, _ZERO) + some
    return _changed(stands, row)


def extend(amounts: Amounts, stands: Cursor) -> Cursor:
    """Return the row with so much more for its period."""
    row = Row.of(stands.data)
    for limit, some in amounts.items():
        row.extra[limit] = row.extra.get(limit, _ZERO) + some
    return _changed(stands, row)


def _changed(stands: Cursor, row: Row) -> Cursor:
    return Cursor(stands.name, stands.position + 1, data=row.to_data())


def _some(amounts: Amounts) -> Amounts:
    return {limit: some for limit, some in amounts.items() if some}


def _holds(known: Mapping[Limit, Decimal] | None, amounts: Amounts) -> bool:
    return known is not None and all(known.get(limit, _ZERO) >= some for limit, some in amounts.items())


def read_amounts(data: Mapping[str, Any]) -> dict[Limit, Decimal]:
    """Return amounts as an event or a row holds them."""
    return {Limit(limit): Decimal(some) for limit, some in data.items()}


def write_amounts(amounts: Amounts) -> dict[str, str]:
    """Return amounts in the form in which an event or a row holds them."""
    return {limit.value: str(some) for limit, some in amounts.items()}
