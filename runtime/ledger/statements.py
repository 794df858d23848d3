"""The statements of the writer, compiled once for the database at hand.

The writer runs them on the driver's own cursor: a statement then costs 3 µs on SQLite, where it costs 20 µs through a
SQLAlchemy connection, and a durable step needs six of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ClauseElement, Dialect, bindparam, delete, func, insert, select, update

from runtime.ledger.schema import (
    blob_parts,
    blobs,
    consumers,
    counter,
    events,
    fragments,
    leases,
    names,
    snapshots,
    streams,
    tombstones,
)

HEAD = ("version", "chain_sha256", "last_type", "kind", "organisation", "first_position")
"""What the writer remembers of a row of `streams`."""
_MOVING = ("version", "chain_sha256", "last_type", "updated_at")
_MOST_LISTED = 512


class Statements:
    """SQL text of each hot statement; values are passed by position, in the order of the names given here."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self.as_literals = dialect.name == "mysql"
        """Whether rows go into the text of a statement, many at once; see `literals.py`."""
        self.lock_counter = self._compile(
            select(counter.c.position).where(counter.c.id == bindparam("i")).with_for_update(), "i"
        )
        self.move_counter = self._compile(
            update(counter).where(counter.c.id == bindparam("i")).values(position=bindparam("position")),
            "position",
            "i",
        )
        self.name = self._compile(select(names.c.number).where(names.c.text == bindparam("t")), "t")
        self.names = self._compile(select(names.c.text, names.c.number).where(names.c.text == bindparam("t")), "t")
        self.last_name = self._compile(select(func.max(names.c.number)))
        self.insert_name = self._compile(insert(names), *names.columns.keys())
        head = [streams.c[name] for name in HEAD]
        self.head = self._compile(select(*head).where(streams.c.stream == bindparam("s")), "s")
        self.heads = self._compile(select(streams.c.stream, *head).where(streams.c.stream == bindparam("s")), "s")
        buried = (tombstones.c.version, tombstones.c.chain_sha256)
        of_stream = tombstones.c.stream == bindparam("s")
        self.tombstone = self._compile(select(*buried, tombstones.c.positions).where(of_stream), "s")
        self.tombstones = self._compile(select(tombstones.c.stream, *buried).where(of_stream), "s")
        self.insert_head = self._compile(insert(streams), *streams.columns.keys())
        self.put_head = self.insert_head + _instead(_MOVING)
        """Inserts or moves a head, in words that MySQL and MariaDB share: for many at once, it is one statement."""
        self.move_head = self._move_head(_MOVING)
        self.move_head_in_type = self._move_head([name for name in _MOVING if name != "last_type"])
        self.insert_event = self._compile(insert(events), *events.columns.keys())
        self.event_at = self._compile(
            select(events.c.position, names.c.text, events.c.payload_sha256, events.c.erased_at)
            .join(names, names.c.number == events.c.organisation)
            .where(events.c.stream == bindparam("s"), events.c.version == bindparam("v")),
            "s",
            "v",
        )
        self.erase_payload = self._compile(
            update(events)
            .where(events.c.position == bindparam("p"))
            .values(data=bindparam("data"), erased_at=bindparam("erased_at")),
            "data",
            "erased_at",
            "p",
        )
        self.consumer = self._compile(
            select(consumers.c.position, consumers.c.data).where(consumers.c.name == bindparam("n")), "n"
        )
        self.insert_consumer = self._compile(insert(consumers), *consumers.columns.keys())
        self.move_consumer = self._compile(
            update(consumers)
            .where(consumers.c.name == bindparam("n"))
            .values({name: bindparam(name) for name in ("position", "data", "updated_at")}),
            "position",
            "data",
            "updated_at",
            "n",
        )
        self.delete_snapshot = self._compile(
            delete(snapshots).where(snapshots.c.stream == bindparam("s"), snapshots.c.version == bindparam("v")),
            "s",
            "v",
        )
        self.insert_snapshot = self._compile(insert(snapshots), *snapshots.columns.keys())
        self.organisation_of = self._compile(
            select(names.c.text)
            .join(streams, streams.c.organisation == names.c.number)
            .where(streams.c.stream == bindparam("s")),
            "s",
        )
        self.positions = self._compile(
            select(events.c.position).where(events.c.stream == bindparam("s")).order_by(events.c.version), "s"
        )
        self.delete_events = self._compile(delete(events).where(events.c.stream == bindparam("s")), "s")
        self.delete_head = self._compile(delete(streams).where(streams.c.stream == bindparam("s")), "s")
        self.delete_snapshots = self._compile(delete(snapshots).where(snapshots.c.stream == bindparam("s")), "s")
        self.delete_fragments = self._compile(delete(fragments).where(fragments.c.stream == bindparam("s")), "s")
        self.delete_tombstone = self._compile(delete(tombstones).where(tombstones.c.stream == bindparam("s")), "s")
        self.insert_tombstone = self._compile(insert(tombstones), *tombstones.columns.keys())
        columns = [name for name in fragments.columns.keys() if name != "seq"]  # noqa: SIM118
        self.insert_fragment = self._compile(
            insert(fragments).values({name: bindparam(name) for name in columns}).inline(), *columns
        )
        self.lease = self._compile(select(leases).where(leases.c.name == bindparam("n")), "n")
        self.insert_lease = self._compile(insert(leases), *leases.columns.keys())
        self.move_lease = self._compile(
            update(leases)
            .where(leases.c.name == bindparam("n"))
            .values({name: bindparam(name) for name in ("holder", "fence", "expires_at")}),
            "holder",
            "fence",
            "expires_at",
            "n",
        )
        self.blob = self._compile(select(blobs.c.sha256).where(blobs.c.sha256 == bindparam("h")), "h")
        self.insert_blob = self._compile(insert(blobs), *blobs.columns.keys())
        self.insert_blob_part = self._compile(insert(blob_parts), *blob_parts.columns.keys())

    def _move_head(self, moving: Sequence[str]) -> str:
        of_stream = streams.c.stream == bindparam("s")
        return self._compile(
            update(streams).where(of_stream).values({name: bindparam(name) for name in moving}), *moving, "s"
        )

    def _compile(self, statement: ClauseElement, *names: str) -> str:
        return compiled(self._dialect, statement, *names)


_made: dict[tuple[str, str], Statements] = {}


def statements_for(dialect: Dialect) -> Statements:
    """Return the statements for this kind of database and driver; they are compiled once in a process (12 ms)."""
    kind = (dialect.name, dialect.driver)
    if kind not in _made:
        _made[kind] = Statements(dialect)
    return _made[kind]


def for_all(statement: str, values: Sequence[Any]) -> Iterator[tuple[str, list[Any]]]:
    """Yield a statement that looks one value up made to look up many, with its values, until all are looked up.

    It is asked in few lengths, so that the database prepares few statements; the first value fills up the last one.
    """
    before, mark = statement.rsplit(" = ", 1)
    for at in range(0, len(values), _MOST_LISTED):
        some = [*values[at : at + _MOST_LISTED]]
        some += some[:1] * ((1 << (len(some) - 1).bit_length()) - len(some))
        yield f"{before} IN ({', '.join([mark] * len(some))})", some


def _instead(names: Sequence[str]) -> str:
    return " ON DUPLICATE KEY UPDATE " + ", ".join(f"{name} = VALUES({name})" for name in names)


def compiled(dialect: Dialect, statement: ClauseElement, *names: str) -> str:
    """Return the text of a statement for a driver's own cursor, which takes its values in the order of `names`."""
    made = statement.compile(dialect=dialect)
    order = tuple(getattr(made, "positiontup", None) or ())
    if order != names:
        raise AssertionError(f"{made} takes {order}, not {names}")
    return str(made)
