"""What a job of the writer may do inside the open transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from contracts import Event
from runtime.ledger.facts import Prepared
from runtime.ledger.port import Append
from runtime.ledger.rows import NO_CHAIN, kind_of, link_of, quoted, quoted_origin, time_to_number, to_event
from runtime.ledger.statements import Statements, for_all
from runtime.ledger.unsent import Unsent


class Head(NamedTuple):
    """Where a stream stands."""

    version: int
    chain: str
    last_type: int = 0
    """This and what follows are as they stand in the table of streams, numbers of names and a position."""
    kind: int = 0
    organisation: int = 0
    first_position: int = 0
    """0 where the table has no row for it: a new stream has none, nor one whose events were all pruned."""

    @property
    def stored(self) -> bool:
        """Whether the table of streams has a row for it."""
        return self.first_position != 0


NEW_STREAM = Head(0, NO_CHAIN)
CACHED_HEADS = 4_096
CACHED_NAMES = 16_384


@dataclass(slots=True)
class Memory:
    """What the writer remembers from one transaction to the next; none of it outlives one that failed."""

    position: int = -1
    """Where the counter stood after the last commit."""
    heads: dict[str, Head] = field(default_factory=dict)
    """Right as long as nobody else moved the counter."""
    numbers: dict[str, int] = field(default_factory=dict)
    """Names and their numbers: right for ever, for a name is never changed and never taken away."""

    def forget(self) -> None:
        """Forget everything."""
        self.position = -1
        self.heads.clear()
        self.numbers.clear()


class Transaction:
    """The writer's transaction, which holds the lock of the counter, which stands at `position`."""

    def __init__(self, cursor: Any, statements: Statements, memory: Memory, position: int) -> None:
        self.cursor = cursor
        self.statements = statements
        self.position = position
        self.committed: list[Event] = []
        """Events to be announced once the transaction is committed."""
        self.ran = False
        """Whether a statement was run that is no query."""
        self._start = position
        self._heads, self._numbers = memory.heads, memory.numbers
        self._last_number: int | None = None
        self._nameless: set[str] = set()
        """Texts that were looked for and are no names."""
        self._unsent = Unsent(cursor, statements)
        self._leases: dict[str, tuple[Any, ...] | None] = {}
        if position != memory.position:  # another process wrote
            self._heads.clear()

    @property
    def wrote(self) -> bool:
        """Whether anything was written."""
        return self.ran or self.moved

    @property
    def moved(self) -> bool:
        """Whether events were written."""
        return self.position != self._start

    def run(self, statement: str, *values: object) -> None:
        """Run a statement that is no query."""
        self.ran = True
        self._leases.clear()  # the statement may be about one
        self.cursor.execute(statement, values)

    def lease(self, name: str) -> tuple[Any, ...] | None:
        """Return the row of a lease: many jobs of one commit ask about the same."""
        if name not in self._leases:
            self._leases[name] = self.one(self.statements.lease, name)
        return self._leases[name]

    def one(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        """Return the first row."""
        self.cursor.execute(statement, values)
        row: tuple[Any, ...] | None = self.cursor.fetchone()
        return row

    def all(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Return all rows."""
        self.cursor.execute(statement, values)
        return list(self.cursor.fetchall())

    def head(self, stream: str) -> Head:
        """Return where the stream stands."""
        known = self._heads.get(stream)
        if known is None:
            number = self.find(stream)
            known = NEW_STREAM if number is None else self._head(number)
            if len(self._heads) >= CACHED_HEADS:
                self.send()
                self._heads.clear()
            self._heads[stream] = known
        return known

    def forget_head(self, stream: str) -> None:
        """Look the stream's head up again when it is next asked for."""
        self._heads.pop(stream, None)

    def look_up(self, appends: Sequence[Append]) -> None:
        """Find out about the names and the heads of all these together, before anything is written."""
        if len(self._heads) + len(appends) > CACHED_HEADS:
            self._heads.clear()
        appends = [one for one in appends if one.stream not in self._heads]
        if not appends:
            return
        numbers, nameless = self._numbers, self._nameless
        texts = {text for one in appends for text in (one.stream, one.execution_id, one.trace_id) if text is not None}
        if len(numbers) + len(texts) > CACHED_NAMES:
            numbers.clear()
        unknown = [text for text in texts if text not in numbers]
        for text, number in self._all_of(self.statements.names, unknown):
            numbers[text if isinstance(text, str) else bytes(text).decode()] = number
        nameless.update(text for text in unknown if text not in numbers)
        asked = {numbers[one.stream]: one.stream for one in appends if one.stream in numbers}
        for stream, *row in self._all_of(self.statements.heads, [*asked]):
            self._heads[asked.pop(stream)] = _stored_head(row)
        for stream, *row in self._all_of(self.statements.tombstones, [*asked]):
            self._heads[asked.pop(stream)] = _buried_head(row)
        self._heads.update(dict.fromkeys(asked.values(), NEW_STREAM))

    def _all_of(self, statement: str, values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        if not values:
            return
        for many, some in for_all(statement, values):
            yield from self.all(many, *some)

    def find(self, text: str) -> int | None:
        """Return the number of a name, or None for a text that was never stored as one."""
        known = self._numbers.get(text)
        if known is None and text not in self._nameless:
            row = self.one(self.statements.name, text)
            if row is not None:
                return self._remember(text, int(row[0]))
            self._nameless.add(text)
        return known

    def number_of(self, text: str) -> int:
        """Return the number of a name, stored when it is new."""
        known = self._numbers.get(text) or self.find(text)
        if known is None:
            if self._last_number is None:
                row = self.one(self.statements.last_name)
                self._last_number = (row and row[0]) or 0
            self._last_number += 1
            self._unsent.names.append((self._last_number, text))
            known = self._remember(text, self._last_number)
        return known

    def write(self, new: Prepared, moment: datetime) -> list[Event]:
        """Store the events of one stream, in order, and return them; they happened at that moment.

        An empty payload is one that was erased elsewhere.
        """
        append, number_of, time = new.append, self.number_of, time_to_number(moment)
        stream, source, organisation = append.stream, append.source, append.organisation
        execution_id, trace_id = append.execution_id, append.trace_id
        head, position, first = self.head(stream), self.position, self.position + 1
        version, chain = head.version, head.chain
        named, origin = quoted(stream), quoted_origin(source, organisation, execution_id, trace_id)
        number, of_source, of_organisation = number_of(stream), number_of(source), number_of(organisation)
        of_execution = None if execution_id is None else number_of(execution_id)
        of_trace = None if trace_id is None else number_of(trace_id)
        events, stored = self._unsent.events, list[Event]()
        for event_id, stored_id, event_type, payload, payload_sha256 in new.facts:
            position += 1
            version += 1
            chain = link_of(
                chain, position, named, version, event_id, quoted(event_type), new.time, origin, payload_sha256
            )
            chain_sha256, of_type = bytes.fromhex(chain), number_of(event_type)
            events.append(
                (position, number, version, stored_id, of_type, time, of_source, of_organisation, of_execution,
                 of_trace, bytes.fromhex(payload_sha256), chain_sha256, payload, None)
            )  # fmt: skip
            stored.append(
                to_event(
                    event_id, source, event_type, stream, moment, payload or None, organisation, execution_id, trace_id,
                    version, position, payload_sha256, chain,
                )
            )  # fmt: skip
        self.position = position
        moved = version, chain_sha256, of_type, time
        if head.stored:
            kind, of_organisation, first = head.kind, head.organisation, head.first_position
            moving = number, kind, of_organisation, first, *moved
            self._unsent.move_head(moving, other_type=of_type != head.last_type)
        else:
            kind = number_of(kind_of(stream))
            self._unsent.begin_head((number, kind, of_organisation, first, *moved))
        self._heads[stream] = Head(version, chain, of_type, kind, of_organisation, first)
        return stored

    def send(self) -> None:
        """Give the database what was written so far."""
        self._unsent.send()

    def finish(self) -> None:
        """Send what is left, and the counter, once for all jobs."""
        self.send()
        if self.moved:
            self.run(self.statements.move_counter, self.position, 1)

    def _head(self, stream: int) -> Head:
        row = self.one(self.statements.head, stream)
        if row is not None:
            return _stored_head(row)
        row = self.one(self.statements.tombstone, stream)
        return NEW_STREAM if row is None else _buried_head(row)

    def _remember(self, text: str, number: int) -> int:
        if len(self._numbers) >= CACHED_NAMES:
            self.send()
            self._nameless.clear()
            self._numbers.clear()
        self._numbers[text] = number
        return number


def _stored_head(row: Sequence[Any]) -> Head:
    version, chain, *others = row
    return Head(version, bytes(chain).hex(), *others)


def _buried_head(row: Sequence[Any]) -> Head:
    return Head(row[0], bytes(row[1]).hex())
