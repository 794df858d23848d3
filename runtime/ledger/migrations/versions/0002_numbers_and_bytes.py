"""Numbers for texts that repeat, bytes for hashes and ids; consumers, snapshots, fragments, tombstones.

What the chain covers stays byte for byte what it was: only how it is kept changes. The tables of 0001 are set aside
under other names, copied, and dropped in the end, the events last. On MySQL, which cannot undo a change of tables, a
migration that was killed therefore begins again when it is called again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

from runtime.errors import LedgerError

revision = "0002"
down_revision = "0001"

MYSQL: dict[str, Any] = {"mysql_engine": "InnoDB", "mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin"}
OLD = ("payloads", "streams", "leases", "events")
"""Replaced; the events last, for they say whether a migration was interrupted."""
NEW = ("names", "events", "streams", "tombstones", "consumers", "snapshots", "fragments", "leases")
COLUMNS = {
    "names": ("number", "text"),
    "events": (
        "position", "stream", "version", "id", "type", "time", "source", "organisation", "execution_id", "trace_id",
        "payload_sha256", "chain_sha256", "data", "erased_at",
    ),
    "streams": (
        "stream", "kind", "organisation", "first_position", "version", "chain_sha256", "last_type", "updated_at",
    ),
    "leases": ("name", "holder", "fence", "expires_at"),
}  # fmt: skip
BATCH = 200
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
BASE_32 = str.maketrans(CROCKFORD, "0123456789abcdefghijklmnopqrstuv")


def text(length: int) -> sa.types.TypeEngine[str]:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def exact_text() -> sa.types.TypeEngine[str]:
    return text(255).with_variant(mysql.VARBINARY(1_020), "mysql")


def number() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def binary() -> sa.types.TypeEngine[bytes]:
    return sa.LargeBinary(2**32 - 1)


def few_bytes(length: int) -> sa.types.TypeEngine[bytes]:
    return sa.LargeBinary(length).with_variant(mysql.BINARY(length), "mysql")


def upgrade() -> None:
    connection = op.get_bind()
    there = set(sa.inspect(connection).get_table_names())
    if "old_events" not in there:
        if "names" in there:  # all was copied and dropped; only the revision was not written any more
            return
        set_aside(connection.dialect.name)
        there = {f"old_{name}" for name in OLD}
    if {f"old_{name}" for name in OLD} <= there:
        drop(there & set(NEW))  # half of a copy
        make_tables()
        try:
            copy(connection)
        except LedgerError:
            put_back(connection.dialect.name)
            raise
    for name in OLD:
        if f"old_{name}" in there:
            op.drop_table(f"old_{name}")


def set_aside(dialect: str) -> None:
    """Rename what is replaced, in one statement where nothing else makes it one."""
    if dialect == "mysql":
        op.execute("RENAME TABLE " + ", ".join(f"{name} TO old_{name}" for name in OLD))
        return
    for name in OLD:
        op.rename_table(name, f"old_{name}")
        if dialect == "postgresql":
            op.execute(f"ALTER INDEX {name}_pkey RENAME TO old_{name}_pkey")
    if dialect == "postgresql":
        op.drop_constraint("events_stream_version", "old_events")
    op.drop_index("events_execution", "old_events")
    op.drop_index("streams_kind", "old_streams")


def put_back(dialect: str) -> None:
    """Undo what MySQL keeps of a migration that cannot be finished; elsewhere the transaction undoes it."""
    if dialect == "mysql":
        drop(NEW)
        op.execute("RENAME TABLE " + ", ".join(f"old_{name} TO {name}" for name in OLD))


def drop(names: Iterable[str]) -> None:
    for name in names:
        op.drop_table(name)


def make_tables() -> None:
    make_names_and_events()
    make_streams()
    make_what_is_new()
    op.create_table(
        "leases",
        sa.Column("name", text(255), primary_key=True),
        sa.Column("holder", text(255), nullable=False),
        sa.Column("fence", number(), nullable=False),
        sa.Column("expires_at", number(), nullable=False),
        **MYSQL,
    )


def make_names_and_events() -> None:
    op.create_table(
        "names",
        sa.Column("number", number(), primary_key=True, autoincrement=False),
        sa.Column("text", exact_text(), nullable=False),
        sa.UniqueConstraint("text", name="names_text"),
        **MYSQL,
    )
    op.create_table(
        "events",
        sa.Column("position", number(), primary_key=True, autoincrement=False),
        sa.Column("stream", number(), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("id", few_bytes(16), nullable=False),
        sa.Column("type", number(), nullable=False),
        sa.Column("time", number(), nullable=False),
        sa.Column("source", number(), nullable=False),
        sa.Column("organisation", number(), nullable=False),
        sa.Column("execution_id", number()),
        sa.Column("trace_id", number()),
        sa.Column("payload_sha256", few_bytes(32), nullable=False),
        sa.Column("chain_sha256", few_bytes(32), nullable=False),
        sa.Column("data", binary()),
        sa.Column("erased_at", number()),
        sa.UniqueConstraint("stream", "version", name="events_stream_version"),
        **MYSQL,
    )
    op.create_index("events_execution", "events", ["execution_id", "position"])


def make_streams() -> None:
    op.create_table(
        "streams",
        sa.Column("stream", number(), primary_key=True, autoincrement=False),
        sa.Column("kind", number(), nullable=False),
        sa.Column("organisation", number(), nullable=False),
        sa.Column("first_position", number(), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("chain_sha256", few_bytes(32), nullable=False),
        sa.Column("last_type", number(), nullable=False),
        sa.Column("updated_at", number(), nullable=False),
        **MYSQL,
    )
    op.create_index("streams_kind", "streams", ["kind", "organisation", "last_type"])
    op.create_table(
        "tombstones",
        sa.Column("stream", number(), primary_key=True, autoincrement=False),
        sa.Column("kind", number(), nullable=False),
        sa.Column("organisation", number(), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("first_position", number(), nullable=False),
        sa.Column("last_position", number(), nullable=False),
        sa.Column("positions", binary(), nullable=False),
        sa.Column("chain_sha256", few_bytes(32), nullable=False),
        sa.Column("reason", text(255), nullable=False),
        sa.Column("at", number(), nullable=False),
        **MYSQL,
    )
    op.create_index("tombstones_last_position", "tombstones", ["last_position"])


def make_what_is_new() -> None:
    op.create_table(
        "consumers",
        sa.Column("name", exact_text(), primary_key=True),
        sa.Column("position", number(), nullable=False),
        sa.Column("data", binary()),
        sa.Column("updated_at", number(), nullable=False),
        **MYSQL,
    )
    op.create_table(
        "snapshots",
        sa.Column("stream", number(), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("data", binary(), nullable=False),
        sa.PrimaryKeyConstraint("stream", "version"),
        **MYSQL,
    )
    op.create_table(
        "fragments",
        sa.Column("seq", number(), primary_key=True, autoincrement=True),
        sa.Column("stream", number(), nullable=False),
        sa.Column("execution_id", number()),
        sa.Column("type", number(), nullable=False),
        sa.Column("time", number(), nullable=False),
        sa.Column("data", binary(), nullable=False),
        sqlite_autoincrement=True,
        **MYSQL,
    )
    op.create_index("fragments_stream", "fragments", ["stream", "seq"])
    op.create_index("fragments_time", "fragments", ["time"])


def copy(connection: sa.Connection) -> None:
    """Copy every row of the old tables; raise LedgerError for one that a hand changed so that it cannot be kept."""
    refuse_strays(connection)
    names = Names(connection)
    for old, turned in (("events", names.event), ("streams", names.head), ("leases", lease)):
        for batch in batches(old_rows(connection, old)):
            rows = [turned(row) for row in batch]
            names.store()
            connection.execute(table(old).insert(), [dict(zip(COLUMNS[old], row, strict=True)) for row in rows])


def refuse_strays(connection: sa.Connection) -> None:
    query = "SELECT p.position FROM old_payloads p LEFT JOIN old_events o ON o.position = p.position "
    stray = connection.execute(sa.text(query + "WHERE o.position IS NULL")).first()
    if stray is not None:
        raise damaged(f"position {stray[0]}", ValueError("a payload but no event"))


class Names:
    """Gives each text its number."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection
        self._numbers: dict[str, int] = {}
        self._new: list[dict[str, Any]] = []

    def number(self, name: str) -> int:
        known = self._numbers.get(name)
        if known is None:
            known = self._numbers[name] = len(self._numbers) + 1
            stored: Any = name.encode() if self._connection.dialect.name == "mysql" else name
            self._new.append({"number": known, "text": stored})
        return known

    def store(self) -> None:
        if self._new:
            self._connection.execute(table("names").insert(), self._new)
            self._new = []

    def event(self, row: Any) -> tuple[Any, ...]:
        try:
            return (
                row.position,
                self.number(row.stream),
                row.version,
                ulid(row.id),
                self.number(row.type),
                microseconds(row.time),
                self.number(row.source),
                self.number(row.organisation),
                None if row.execution_id is None else self.number(row.execution_id),
                None if row.trace_id is None else self.number(row.trace_id),
                digest(row.payload_sha256),
                digest(row.chain_sha256),
                row.data,
                None if row.erased_at is None else microseconds(row.erased_at),
            )
        except (AttributeError, TypeError, ValueError) as error:
            raise damaged(f"event {row.version} of {row.stream}, at position {row.position}", error) from error

    def head(self, row: Any) -> tuple[Any, ...]:
        try:
            return (
                self.number(row.stream),
                self.number(row.kind),
                self.number(row.organisation),
                row.first_position,
                row.version,
                digest(row.chain_sha256),
                self.number(row.last_type),
                microseconds(row.updated_at),
            )
        except (AttributeError, TypeError, ValueError) as error:
            raise damaged(f"the head of the stream {row.stream}", error) from error


def lease(row: Any) -> tuple[Any, ...]:
    try:
        return row.name, row.holder, row.fence, microseconds(row.expires_at)
    except (TypeError, ValueError) as error:
        raise damaged(f"the lease {row.name}", error) from error


def damaged(what: str, error: Exception) -> LedgerError:
    return LedgerError(
        f"This ledger was changed by hand: {what} holds what no program wrote ({error}). Nothing was migrated. "
        "Run `silicon audit verify` of the version that made it, then restore a backup."
    )


def old_rows(connection: sa.Connection, old: str) -> Iterator[Any]:
    """Yield the rows of an old table in the order of its key, a few at a time and without holding a cursor open."""
    key, source = {
        "events": (
            "o.position",
            "SELECT o.*, p.data, p.erased_at FROM old_events o LEFT JOIN old_payloads p ON p.position = o.position",
        ),
        "streams": ("o.stream", "SELECT o.* FROM old_streams o"),
        "leases": ("o.name", "SELECT o.* FROM old_leases o"),
    }[old]
    after: Any = None
    while True:
        where = "" if after is None else f"WHERE {key} > :after"
        query = sa.text(f"{source} {where} ORDER BY {key} LIMIT {BATCH}")
        rows = connection.execute(query, {} if after is None else {"after": after}).fetchall()
        yield from rows
        if len(rows) < BATCH:
            return
        after = getattr(rows[-1], key.removeprefix("o."))


def batches(rows: Iterable[Any]) -> Iterator[list[Any]]:
    batch: list[Any] = []
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def table(name: str) -> sa.TableClause:
    return sa.table(name, *(sa.column(column) for column in COLUMNS[name]))


def microseconds(text: str) -> int:
    moment = datetime.fromisoformat(text)
    if moment.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z" != text:
        raise ValueError(f"{text!r} is not a moment")
    return (moment - EPOCH) // timedelta(microseconds=1)


def ulid(event_id: str) -> bytes:
    kind, _, name = event_id.partition("/")
    if kind != "event" or len(name) != 26 or not set(name) <= set(CROCKFORD):
        raise ValueError(f"{event_id!r} is not the id of an event")
    return int(name.translate(BASE_32), 32).to_bytes(16)


def digest(sha256: str) -> bytes:
    stored = bytes.fromhex(sha256)
    if stored.hex() != sha256 or len(stored) != 32:
        raise ValueError(f"{sha256!r} is not a hash")
    return stored


def downgrade() -> None:
    raise RuntimeError("A ledger only goes forward; restore a backup instead.")
