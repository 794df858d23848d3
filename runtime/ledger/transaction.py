"""What a job of the writer may do inside the open transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from contracts import Event
from runtime.ledger.rows import NO_CHAIN, EventRow, HeadRow, kind_of, link
from runtime.ledger.statements import Statements


@dataclass(frozen=True, slots=True)
class Head:
    """Where a stream stands."""

    version: int
    chain: str


NEW_STREAM = Head(0, NO_CHAIN)
CACHED_HEADS = 4_096


class Transaction:
    """The writer's transaction, which holds the lock of the counter.

    `heads` is the writer's memory of stream heads. It is right as long as nobody else moved the counter.
    """

    def __init__(self, cursor: Any, statements: Statements, heads: dict[str, Head], position: int) -> None:
        self.cursor = cursor
        self.statements = statements
        self.position = position
        self.committed: list[Event] = []
        """Events to be announced once the transaction is committed."""
        self._start = position
        self._heads = heads

    @property
    def moved(self) -> bool:
        """Whether events were written."""
        return self.position != self._start

    def run(self, statement: str, *values: object) -> None:
        """Run a statement."""
        self.cursor.execute(statement, values)

    def one(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        """Return the first row."""
        self.cursor.execute(statement, values)
        row: tuple[Any, ...] | None = self.cursor.fetchone()
        return row

    def head(self, stream: str) -> Head:
        """Return where the stream stands."""
        known = self._heads.get(stream)
        if known is None:
            row = self.one(self.statements.head, stream)
            known = NEW_STREAM if row is None else _head(HeadRow(*row))
            if len(self._heads) >= CACHED_HEADS:
                self._heads.clear()
            self._heads[stream] = known
        return known

    def write(self, rows: Sequence[EventRow], payloads: Sequence[bytes]) -> list[EventRow]:
        """Store the events of one stream, in order; return the rows with their place and chain filled in."""
        stream = rows[0].stream
        head = self.head(stream)
        chain, version = head.chain, head.version
        placed: list[EventRow] = []
        for row in rows:
            self.position += 1
            version += 1
            columns = (self.position, stream, version, *row[3:-1])
            chain = link(chain, columns)
            placed.append(EventRow._make((*columns, chain)))
        for row, payload in zip(placed, payloads, strict=True):
            self.cursor.execute(self.statements.insert_event, row)
            self.cursor.execute(self.statements.insert_payload, (row.position, payload, None))
        self._move_head(head, placed)
        return placed

    def finish(self) -> None:
        """Write the counter, once for all jobs."""
        if self.moved:
            self.run(self.statements.move_counter, self.position, 1)

    def _move_head(self, head: Head, placed: Sequence[EventRow]) -> None:
        first, last = placed[0], placed[-1]
        if head.version == 0:
            self.run(
                self.statements.insert_head,
                *HeadRow(
                    stream=last.stream,
                    kind=kind_of(last.stream),
                    organisation=last.organisation,
                    first_position=first.position,
                    version=last.version,
                    chain_sha256=last.chain_sha256,
                    last_type=last.type,
                    updated_at=last.time,
                ),
            )
        else:
            self.run(self.statements.move_head, last.version, last.chain_sha256, last.type, last.time, last.stream)
        self._heads[last.stream] = Head(last.version, last.chain_sha256)


def _head(row: HeadRow) -> Head:
    return Head(row.version, row.chain_sha256)
