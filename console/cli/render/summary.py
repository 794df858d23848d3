"""An output in a few words: its numbers, and how much there is of the rest."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len

from console.cli.words import NO_BREAK, one_line
from contracts import Json
from runtime.texts import Say

ROWS = 5
"""Rows of a table whose values are shown; the JSON form has all of them."""


def facts_of(output: Json, say: Say, *, most: int = 24) -> list[str]:
    """Return `name value` for each number, text and truth in `output`, two levels deep; of arrays the first rows."""
    facts = list(_facts(output, "", say, depth=2))
    if len(facts) > most:
        return [*facts[:most], say("summary-more", count=len(facts) - most)]
    return facts


def fill(facts: list[str], width: int) -> tuple[str, ...]:
    """Return facts joined by middle dots, in lines of at most `width` cells."""
    lines: list[str] = []
    for fact in facts:
        if lines and cell_len(lines[-1]) + cell_len(fact) + 3 <= width:
            lines[-1] += f" · {fact}"
        else:
            lines.append(fact)
    return tuple(lines)


def _row(row: dict[str, Json]) -> str:
    """Return the numbers and short texts of a row."""
    plain = [(key, item) for key, item in row.items() if isinstance(item, str | int | float)]
    return ", ".join(
        f"{key} {item:.6g}" if isinstance(item, float) else f"{key} {one_line(str(item), 40)}" for key, item in plain
    )


def _facts(value: Json, name: str, say: Say, *, depth: int) -> Iterator[str]:
    label = f"{name}{NO_BREAK}" if name else ""
    match value:
        case dict() if depth:
            for key, item in value.items():
                yield from _facts(item, f"{name}.{key}" if name else key, say, depth=depth - 1)
        case dict():
            yield label + say("summary-fields", count=len(value))
        case list():
            yield label + say("summary-items", count=len(value))
            for number, row in enumerate(value[:ROWS] if depth else []):
                if isinstance(row, dict) and row:
                    yield f"{name}[{number}]{NO_BREAK}{_row(row)}"
        case None:
            yield label + say("summary-missing")
        case bool():
            yield label + say("summary-yes" if value else "summary-no")
        case float():
            yield f"{label}{value:.6g}"
        case int():
            yield f"{label}{value}"
        case str():
            yield label + one_line(value, 60)
