"""Tables as text: values between commas, semicolons, tabs or bars."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runtime.context.bounds import counted, one_line

_SEPARATORS = (",", ";", "\t", "|")
_SAMPLE = 65_536
"""Characters of the beginning by which a text is taken for a table or not."""
_SAMPLE_ROWS = 50
_TYPED_ROWS = 1_000
"""First rows by which the type of a column is told."""
_ALIKE = 0.9
"""Share of the first rows that have the same number of columns, in a table."""
_NUMBER = re.compile(r"[+-]?(\d+|\d{1,3}(,\d{3})+)([.,]\d+)?([eE][+-]?\d+)?%?")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?")


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its first row as names of columns."""

    separator: str
    columns: tuple[str, ...]
    rows: int
    """Rows below the names."""
    uneven: int
    """Rows that have another number of columns."""
    first: tuple[tuple[str, ...], ...]
    """The first rows below the names."""
    begins: tuple[int, ...]
    """The line, from 1, in which each of these begins."""


def read_table(text: str) -> Table | None:
    """Return the table that a text is; None for any other text."""
    sample = text[:_SAMPLE]
    for separator in _SEPARATORS:
        if sample.count(separator) and _looks_even(sample, separator, whole=len(text) <= _SAMPLE):
            try:
                return _read(text, separator)
            except csv.Error:
                return None
    return None


def _looks_even(sample: str, separator: str, *, whole: bool) -> bool:
    try:
        rows = [row for row, _ in zip(_rows(sample, separator), range(_SAMPLE_ROWS), strict=False)]
    except csv.Error:
        return False
    if not whole and len(rows) < _SAMPLE_ROWS:
        rows = rows[:-1]  # cut in its middle
    widths = [len(row) for row in rows if row]
    if len(widths) < 2:
        return False
    width, alike = Counter(widths).most_common(1)[0]
    return width > 1 and widths[0] == width and alike >= _ALIKE * len(widths) and _are_names(rows[0])


def _are_names(cells: Sequence[str]) -> bool:
    """Whether the first row can hold names: each short, and together no sentence with commas in it."""
    if cells[-1].rstrip().endswith((".", "!", "?", ":", "。", "！", "？")):
        return False
    return all(len(cell) <= 80 and len(cell.split()) <= 6 for cell in cells) and any(cell.strip() for cell in cells)


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator)


def _read(text: str, separator: str) -> Table:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    columns = tuple(next(reader))
    first: list[tuple[str, ...]] = []
    begins: list[int] = []
    rows = uneven = 0
    before = reader.line_num
    for row in reader:
        if row:
            rows += 1
            uneven += len(row) != len(columns)
            if len(first) < _TYPED_ROWS:
                first.append(tuple(row))
                begins.append(before + 1)
        before = reader.line_num
    return Table(separator, columns, rows, uneven, tuple(first), tuple(begins))


def table_lines(table: Table, *, samples: bool, rows: int) -> Iterator[str]:
    """Yield what there is to say about a table: its size, each column with its type, and its first `rows` rows."""
    by = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars"}[table.separator]
    told = f"{counted(table.rows, 'row')} × {counted(len(table.columns), 'column')}, separated by {by}"
    yield f"{told}; {table.uneven:,} of them with another number of columns" if table.uneven else told
    for number, name in enumerate(table.columns):
        cells = [row[number] for row in table.first if number < len(row)]
        yield f"column {one_line(name, 80) or number + 1}: {_type_of(cells)}{_sample_of(cells) if samples else ''}"
    if samples:
        for row, line in zip(table.first[:rows], table.begins, strict=False):
            yield f"L{line} {one_line(table.separator.join(row), 200)}"


def _type_of(cells: Sequence[str]) -> str:
    given = [cell.strip() for cell in cells if cell.strip()]
    if not given:
        return "empty"
    kind = "number" if all(map(_NUMBER.fullmatch, given)) else "time" if all(map(_TIME.fullmatch, given)) else "text"
    different = len(set(given))
    told = f"{kind}, {different:,} different" if kind == "text" else kind
    return f"{told}, {len(cells) - len(given):,} empty" if len(given) < len(cells) else told


def _sample_of(cells: Sequence[str]) -> str:
    first = next((cell for cell in cells if cell.strip()), "")
    return f", first {one_line(first, 60)}" if first else ""
