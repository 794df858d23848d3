"""Costs as a table; what nobody knows is said, and never shown as nothing."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from rich.console import RenderableType
from rich.text import Text

from console.cli.render.facts import table
from console.views_costs import BudgetRow, CostRow, CostTable
from contracts import Money
from runtime.texts import Say

_PLACES = Decimal("0.000001")


def cost_table(costs: CostTable, say: Say) -> RenderableType:
    """Return the sums, and below them that of everything where it is another."""
    headings = [say(f"costs-by-{costs.by}"), *(say(f"costs-{name}") for name in _COLUMNS)]
    rows = [[_key(costs, each, say), *_cells(each, say)] for each in costs.rows]
    bold = [Text(cell, style="bold") for cell in (say("costs-total"), *_cells(costs.total, say))]
    return table(headings, [*rows, bold], right=(1, 2, 3, 4, 5))


def budget_table(rows: Sequence[BudgetRow], say: Say) -> RenderableType:
    """Return budgets with what is spent of them, set aside and left."""
    headings = [say(f"budgets-{name}") for name in ("budget", "window", "limit", "most", "spent", "reserved", "left")]
    cells = [
        [
            each.budget,
            each.window,
            each.limit,
            *(_short(each, told) for told in (each.most, each.spent, each.reserved, each.left)),
        ]
        for each in rows
    ]
    return table(headings, cells, right=(3, 4, 5, 6))


def _short(row: BudgetRow, told: str) -> str:
    """Return seconds to a tenth; everything else as it is."""
    return f"{float(told):.1f}" if row.limit == "seconds" else told


_COLUMNS = ("money", "tokens-in", "tokens-out", "seconds", "steps")


def _key(costs: CostTable, row: CostRow, say: Say) -> str:
    if not row.key:
        return say(f"costs-no-{costs.by}")
    if costs.by == "department":
        depth = row.key.count("/")
        return "  " * depth + row.key.rpartition("/")[2]
    return row.key


def _cells(row: CostRow, say: Say) -> list[str]:
    return [money_text(row.money, row.unpriced, say), f"{row.tokens_in:,}", f"{row.tokens_out:,}",
            f"{row.seconds:,.1f}", f"{row.steps:,}"]  # fmt: skip


def money_text(money: tuple[Money, ...], unpriced: int, say: Say) -> str:
    """Return amounts and how many calls nobody knows the price of; a dash where nothing was paid."""
    parts = [f"{_plain(each.amount)} {each.currency}" for each in money]
    parts += [say("costs-unknown", count=unpriced)] if unpriced else []
    return " + ".join(parts) or "–"


def _plain(amount: Decimal) -> str:
    return format(round(amount, 6).normalize(), "f") if amount >= _PLACES or not amount else f"{amount.normalize()}"
