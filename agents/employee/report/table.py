"""Tables in a report: Markdown rows, one mark for the whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agents.employee.report.sources import Page
from agents.employee.report.traced import Links, Traced, TracedList, links_of, plain, union
from agents.employee.report.words import escape, format_number


@dataclass(frozen=True, slots=True)
class Column:
    """One column: the field, its heading and the pattern of its numbers."""

    field: str
    heading: str
    pattern: str | None


def table_for(page: Page) -> Callable[..., str]:
    """Return the `table(rows, *columns, most=None)` of templates.

    A column is a field's name, or `(field, heading)`, or `(field, heading, number pattern)`. Without columns, all
    fields of the first row are shown. A cell's source is the path under the table, the row and the field:
    `rows[3].carrier`.
    """

    def table(rows: Any, *columns: Any, most: int | None = None) -> str:
        listed = list(rows)
        shown = listed if most is None else listed[: int(plain(most))]
        links = row_links(rows, shown)
        if not listed:
            return page.say("report-no-rows") + page.mark(links)
        chosen = [_column(column) for column in columns] or [_column(field) for field in listed[0]]
        lines = [_line([escape(column.heading) for column in chosen]), _line([_rule(c, shown) for c in chosen])]
        lines += [_line([_cell(page, row, column) for column in chosen]) for row in shown]
        notes = [f"{page.say('report-table-source')} {page.mark(links)}"] if links else []
        if len(shown) < len(listed):
            notes.append(page.say("report-more-rows", count=len(listed) - len(shown)))
        return "\n".join(lines) + ("\n\n" + " · ".join(notes) if notes else "") + "\n"

    return table


def row_links(rows: Any, shown: list[Any]) -> Links:
    """Return the links of a list of rows: its own while it is the list of the source, else those of each row."""
    if isinstance(rows, TracedList) and (rows.whole or not shown) and rows.links:
        return rows.links
    return union(*(links_of(row) for row in shown))


def field_of(row: Any, field: str) -> Any:
    """Return one field of a row; raise LookupError naming what there is."""
    try:
        return row[field]
    except (LookupError, TypeError):
        there = ", ".join(str(key) for key in row) if hasattr(row, "keys") else "no fields"
        raise LookupError(f"a row has no field `{field}`; there is {there}") from None


def _column(given: Any) -> Column:
    parts = [given] if isinstance(given, str | Traced) else list(given)
    words = [str(plain(part)) for part in parts]
    return Column(words[0], words[1] if len(words) > 1 else words[0], words[2] if len(words) > 2 else None)


def _cell(page: Page, row: Any, column: Column) -> str:
    value = plain(field_of(row, column.field))
    if column.pattern is not None and value is not None:
        return format_number(value, column.pattern)
    return page.words(value)


def _rule(column: Column, rows: list[Any]) -> str:
    values = [plain(field_of(row, column.field)) for row in rows]
    numeric = all(value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in values)
    return "---:" if numeric else "---"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
