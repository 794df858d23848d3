"""Which executions are old enough to be pruned, and what stands in the way of some."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select

from contracts import ExecutionId
from runtime.keeping.owned import OWN, is_own
from runtime.keeping.results import Gone
from runtime.ledger import schema
from runtime.ledger.port import Stream
from runtime.ledger.rows import time_from_number, time_to_number
from runtime.ledger.texts import number_of

ENDED = ("execution.finished", "execution.imported")
ASKING = ("card.raised", "card.escalated")
"""What happened last to a card that waits for a person: whether an effect happened may still have to be found out."""
DECIDED = "card.decided"
"""What happened last to a card that is closed, or that waits for others, where it takes more than one."""


@dataclass(frozen=True, slots=True)
class OwnStream:
    """A stream that goes with its execution."""

    stream: Stream
    version: int
    events: int
    """How many of them are there; fewer than its version when others were pruned before."""
    last_type: str
    """What happened last in it."""

    @property
    def asks(self) -> bool:
        """Whether it is a card that waits for a person."""
        return self.last_type in ASKING


def due(connection: Connection, before: datetime) -> list[ExecutionId]:
    """Return the executions whose last event says that they ended, at the latest at `before`, oldest first."""
    heads, names = schema.streams, schema.names
    query = (
        select(names.c.text)
        .join(heads, heads.c.stream == names.c.number)
        .where(
            heads.c.kind == number_of("execution"),
            heads.c.last_type.in_([number_of(each) for each in ENDED]),
            heads.c.updated_at <= time_to_number(before),
        )
        .order_by(heads.c.first_position)
    )
    return [ExecutionId(stream) for stream in connection.execute(query).scalars()]


def interrupted(connection: Connection) -> list[ExecutionId]:
    """Return the executions whose own stream was pruned while others of theirs are left, or came later."""
    tombstones, events, heads, names = schema.tombstones, schema.events, schema.streams, schema.names
    left = (
        select(events.c.position)
        .join(heads, heads.c.stream == events.c.stream)
        .where(
            events.c.execution_id == tombstones.c.stream,
            heads.c.kind.in_([number_of(kind) for kind in sorted(OWN)]),
        )
        .exists()
    )
    query = (
        select(names.c.text)
        .join(tombstones, tombstones.c.stream == names.c.number)
        .where(tombstones.c.kind == number_of("execution"), left)
        .order_by(tombstones.c.first_position)
    )
    return [ExecutionId(stream) for stream in connection.execute(query).scalars()]


def pruned_events(connection: Connection) -> int:
    """Return how many events tombstones account for."""
    return int(connection.execute(select(func.coalesce(func.sum(schema.tombstones.c.version), 0))).scalar_one())


def gone(connection: Connection, stream: Stream) -> Gone | None:
    """Return what the tombstone of a stream tells; None for one that was never pruned."""
    tombstones, names = schema.tombstones, schema.names
    query = (
        select(names.c.text, tombstones.c.version, tombstones.c.at, tombstones.c.reason)
        .join(names, names.c.number == tombstones.c.organisation)
        .where(tombstones.c.stream == number_of(stream))
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else Gone(row.text, row.version, time_from_number(row.at), row.reason)


def own_streams(connection: Connection, execution_id: ExecutionId) -> list[OwnStream]:
    """Return the streams that go with the execution; its own stream is the first, so that nobody takes it up then."""
    events, heads, names, types = schema.events, schema.streams, schema.names, schema.names.alias()
    counted = (
        select(events.c.stream, func.count().label("events"))
        .where(events.c.execution_id == number_of(str(execution_id)))
        .group_by(events.c.stream)
        .subquery()
    )
    query = (
        select(names.c.text, heads.c.version, counted.c.events, types.c.text)
        .join_from(counted, heads, heads.c.stream == counted.c.stream)
        .join(names, names.c.number == heads.c.stream)
        .join(types, types.c.number == heads.c.last_type)
        .order_by(heads.c.first_position)
    )
    found = [
        OwnStream(stream, version, events, last_type)
        for stream, version, events, last_type in connection.execute(query)
        if is_own(stream, execution_id)
    ]
    return sorted(found, key=lambda each: each.stream != execution_id)
