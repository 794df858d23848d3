"""Many rows in one statement for MySQL and MariaDB, whose driver takes ten times as long to write a row out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

MOST_BYTES = 1_000_000
"""Of one statement, well under the least `max_allowed_packet`; a row that is longer goes alone."""

_LITERALS: Mapping[type, Callable[[Any], str]] = {
    int: int.__repr__,
    bytes: lambda value: f"x'{value.hex()}'",
    type(None): lambda _: "NULL",
}
"""Numbers, bytes in hexadecimal, nothing: no text that somebody chose, so there is nothing to escape."""


def in_one(insert: str, rows: Sequence[tuple[Any, ...]]) -> Iterator[str]:
    """Yield statements that insert these rows of numbers and bytes, few and none too long.

    Args:
        insert: the statement for one row, with marks for its values.
    """
    before, after = _halves(insert)
    some: list[str] = []
    length = 0
    for row in rows:
        text = f"({','.join([_LITERALS[type(value)](value) for value in row])})"
        if some and length + len(text) > MOST_BYTES:
            yield before + ",".join(some) + after
            some, length = [], 0
        some.append(text)
        length += len(text)
    if some:
        yield before + ",".join(some) + after


@lru_cache(maxsize=16)
def _halves(insert: str) -> tuple[str, str]:
    """Return what stands before and behind the marks of the values."""
    before, _, rest = insert.partition("VALUES (")
    return before + "VALUES ", rest.partition(")")[2]
