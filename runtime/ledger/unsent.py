"""What a transaction wrote and the database was not given yet: it goes there table by table, once for all jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.ledger.literals import in_one
from runtime.ledger.statements import Statements

Row = tuple[Any, ...]
"""Of a table, in the order of its columns; drivers take a plain tuple faster than one with names."""
_DATA = 12
"""The payload's place in a row of `events`."""
_LARGE = 64 * 1024
"""In hexadecimal it would be longer than a statement may be, or nearly."""


class Unsent:
    """Rows that wait for the end of the transaction, or for somebody who has to read them in it."""

    def __init__(self, cursor: Any, statements: Statements) -> None:
        self.names: list[tuple[int, str]] = []
        self.events: list[Row] = []
        self._cursor = cursor
        self._statements = statements
        self._heads: dict[int, Row] = {}
        """By their streams: where a stream was appended to several times, its last head counts."""
        self._new: set[int] = set()
        """Streams of which the table has no row yet."""
        self._other_type: set[int] = set()
        """Streams that may end with another type of event than before."""

    def begin_head(self, head: Row) -> None:
        """Take in the first head of a stream, a row of `streams`."""
        self._new.add(head[0])
        self._heads[head[0]] = head

    def move_head(self, head: Row, *, other_type: bool) -> None:
        """Take in the head of a stream that has one already, in the table or here."""
        if other_type:
            self._other_type.add(head[0])
        self._heads[head[0]] = head

    def send(self) -> None:
        """Give everything to the database."""
        if self.names:
            self._send_names(self.names)
            self.names.clear()
        if self.events:
            self._send_events(self.events)
            self.events.clear()
        if self._heads:
            self._send_heads([*self._heads.values()])
            self._heads.clear()
            self._new.clear()
            self._other_type.clear()

    def _send_names(self, names: Sequence[tuple[int, str]]) -> None:
        if self._statements.as_literals:
            self._send_literally(self._statements.insert_name, [(number, text.encode()) for number, text in names])
        else:
            self._cursor.executemany(self._statements.insert_name, names)

    def _send_events(self, events: Sequence[Row]) -> None:
        insert = self._statements.insert_event
        if not self._statements.as_literals:
            self._cursor.executemany(insert, events)
            return
        self._send_literally(insert, [event for event in events if len(event[_DATA]) <= _LARGE])
        large = [event for event in events if len(event[_DATA]) > _LARGE]
        if large:
            self._cursor.executemany(insert, large)

    def _send_heads(self, heads: Sequence[Row]) -> None:
        statements, many, new, other = self._statements, self._cursor.executemany, self._new, self._other_type
        if statements.as_literals:
            self._send_literally(statements.put_head, heads)
            return
        if new:
            many(statements.insert_head, [head for head in heads if head[0] in new])
            heads = [head for head in heads if head[0] not in new]
        if other:
            many(statements.move_head, [(*head[4:], head[0]) for head in heads if head[0] in other])
            heads = [head for head in heads if head[0] not in other]
        if heads:  # an index holds the type, so it is left alone where it can be
            many(statements.move_head_in_type, [(head[4], head[5], head[7], head[0]) for head in heads])

    def _send_literally(self, insert: str, rows: Sequence[Row]) -> None:
        for statement in in_one(insert, rows):
            self._cursor.execute(statement)
