"""The texts behind the numbers that rows hold, as a reader knows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, ScalarSelect, select

from runtime.ledger.schema import names

CACHED = 65_536
AT_ONCE = 500


class Texts:
    """Numbers and their texts, remembered: a name is never changed, so what was read once stays right.

    That holds for one ledger. Behind the same address another may stand, once a connection was lost: a server that was
    restored from a backup, or a replica that lacks the last commits and gives their numbers to other names.
    """

    def __init__(self) -> None:
        self._known: dict[int, str] = {}

    def forget(self) -> None:
        """Forget everything; a thread that reads at this moment remembers nothing of what it found."""
        self._known = {}

    def of(self, connection: Connection, numbers: Iterable[Any]) -> Mapping[int, str]:
        """Return a mapping in which each of the numbers that has a name is found.

        The rows that hold the numbers were read before on this database, so their names are there by now.
        """
        wanted = set(numbers)
        known = before = self._known
        unknown = [number for number in wanted if number not in known and isinstance(number, int)]
        if not unknown:
            return known
        if len(known) + len(unknown) > CACHED:  # a new mapping: another thread may still read from the old one
            known = {number: known[number] for number in wanted if number in known}
        for start in range(0, len(unknown), AT_ONCE):
            known.update(read_names(connection, unknown[start : start + AT_ONCE]))
        if self._known is before:
            self._known = known
        return known


def read_names(connection: Connection, numbers: Sequence[int]) -> dict[int, str]:
    """Return the texts of some numbers."""
    query = select(names.c.number, names.c.text).where(names.c.number.in_(numbers))
    return {row.number: row.text for row in connection.execute(query)}


def number_of(text: str) -> ScalarSelect[int]:
    """Return an expression for the number of a name; it is null for a text that was never stored as one."""
    return select(names.c.number).where(names.c.text == text).scalar_subquery()
