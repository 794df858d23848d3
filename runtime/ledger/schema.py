"""The tables of a ledger: one schema for SQLite, MySQL/MariaDB and PostgreSQL.

A step costs about 250 bytes for a result of 90: texts that repeat are numbers of the table `names`, hashes and ULIDs
are bytes, moments are whole microseconds since 1970 in UTC. `rows.py` turns such rows into facts and back.

Tables on a server are made by migrations only, so that what only MySQL is to be told (engine, character set) stands
there: naming it here, or a type of its own, would import its dialect with every start, also of an embedded file.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
)
from sqlalchemy.types import TypeDecorator, TypeEngine

REVISION = "0010"
"""The newest migration; a database at another revision is upgraded or refused."""

PASSING = {"passing": True}
"""Marks tables of what goes on just now: a copy of the ledger, which goes on elsewhere, begins with them empty."""


class ExactText(TypeDecorator[str]):
    """A text of at most 255 characters that equals itself only: MySQL would find `a` equal to `a` and a blank."""

    impl = String(255)
    cache_ok = True

    def load_dialect_impl(self, dialect: Any) -> TypeEngine[Any]:
        """Return UTF-8 bytes on MySQL, text that compares by code point elsewhere."""
        if dialect.name == "mysql":
            from sqlalchemy.dialects import mysql

            return dialect.type_descriptor(mysql.VARBINARY(1_020))  # type: ignore[no-any-return]
        collation = "C" if dialect.name == "postgresql" else None
        return dialect.type_descriptor(String(255, collation=collation))  # type: ignore[no-any-return]

    def process_bind_param(self, value: str | None, dialect: Any) -> Any:
        """Encode where the column holds bytes."""
        return value.encode() if value is not None and dialect.name == "mysql" else value

    def process_result_value(self, value: Any, dialect: Any) -> str | None:
        """Decode where the column holds bytes; a hand may have put in what is no UTF-8."""
        return value.decode(errors="replace") if isinstance(value, bytes) else value


class FewBytes(TypeDecorator[bytes]):
    """Bytes of one length: a hash, a ULID."""

    impl = LargeBinary
    cache_ok = True

    def __init__(self, length: int) -> None:
        super().__init__(length)
        self.length = length

    def load_dialect_impl(self, dialect: Any) -> TypeEngine[Any]:
        """Return bytes of a fixed length on MySQL, which the others do not have."""
        if dialect.name == "mysql":
            from sqlalchemy.dialects import mysql

            return dialect.type_descriptor(mysql.BINARY(self.length))  # type: ignore[no-any-return]
        return dialect.type_descriptor(LargeBinary(self.length))  # type: ignore[no-any-return]


def text(length: int) -> TypeEngine[str]:
    """Return a short text that compares by code point on every database."""
    return String(length).with_variant(String(length, collation="C"), "postgresql")


def number() -> TypeEngine[int]:
    """Return a 64-bit integer; on SQLite the type that makes a primary key the row's own address."""
    return BigInteger().with_variant(Integer(), "sqlite")


def binary() -> TypeEngine[bytes]:
    """Return bytes of any length; this length makes MySQL choose LONGBLOB, where a plain BLOB ends at 64 KiB."""
    return LargeBinary(2**32 - 1)


metadata = MetaData()

counter = Table(
    "counter",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("position", number(), nullable=False),
)
"""One row: the greatest position. Every writer locks it first, so its lock is the order of all commits."""

names = Table(
    "names",
    metadata,
    Column("number", number(), primary_key=True, autoincrement=False),
    Column("text", ExactText(), nullable=False),
    UniqueConstraint("text", name="names_text"),
)
"""Each text that repeats, once. A row is never changed and never taken away, so a number may be remembered for ever."""

events = Table(
    "events",
    metadata,
    Column("position", number(), primary_key=True, autoincrement=False),
    Column("stream", number(), nullable=False),
    Column("version", Integer, nullable=False),
    Column("id", FewBytes(16), nullable=False),
    Column("type", number(), nullable=False),
    Column("time", number(), nullable=False),
    Column("source", number(), nullable=False),
    Column("organisation", number(), nullable=False),
    Column("execution_id", number()),
    Column("trace_id", number()),
    Column("payload_sha256", FewBytes(32), nullable=False),
    Column("chain_sha256", FewBytes(32), nullable=False),
    Column("data", binary()),
    Column("erased_at", number()),
    UniqueConstraint("stream", "version", name="events_stream_version"),
    Index("events_execution", "execution_id", "position"),
)
"""One row for each fact. The chain runs over all columns but the last two: the exact bytes of the payload stand beside
it, and are null once they were erased."""

streams = Table(
    "streams",
    metadata,
    Column("stream", number(), primary_key=True, autoincrement=False),
    Column("kind", number(), nullable=False),
    Column("organisation", number(), nullable=False),
    Column("first_position", number(), nullable=False),
    Column("version", Integer, nullable=False),
    Column("chain_sha256", FewBytes(32), nullable=False),
    Column("last_type", number(), nullable=False),
    Column("updated_at", number(), nullable=False),
    Index("streams_last_type", "kind", "last_type", "organisation"),
)
"""The head of each stream, written with each append. By its index servers find what has not ended, several times a
second: the last type stands before the organisation, which they do not name."""

tombstones = Table(
    "tombstones",
    metadata,
    Column("stream", number(), primary_key=True, autoincrement=False),
    Column("kind", number(), nullable=False),
    Column("organisation", number(), nullable=False),
    Column("version", Integer, nullable=False),
    Column("first_position", number(), nullable=False),
    Column("last_position", number(), nullable=False),
    Column("positions", binary(), nullable=False),
    Column("chain_sha256", FewBytes(32), nullable=False),
    Column("reason", text(255), nullable=False),
    Column("at", number(), nullable=False),
    Index("tombstones_last_position", "last_position"),
)
"""What stands for a stream whose events up to `version` were pruned, and at which positions they stood."""

consumers = Table(
    "consumers",
    metadata,
    Column("name", ExactText(), primary_key=True),
    Column("position", number(), nullable=False),
    Column("data", binary()),
    Column("updated_at", number(), nullable=False),
)
"""How far each consumer has come, moved in the same commit as what it made of the events."""

snapshots = Table(
    "snapshots",
    metadata,
    Column("stream", number(), nullable=False),
    Column("version", Integer, nullable=False),
    Column("data", binary(), nullable=False),
    PrimaryKeyConstraint("stream", "version"),
)
"""What was folded from a stream up to a version, compressed. Any of it may be deleted at any time."""

fragments = Table(
    "fragments",
    metadata,
    Column("seq", number(), primary_key=True, autoincrement=True),
    Column("stream", number(), nullable=False),
    Column("execution_id", number()),
    Column("type", number(), nullable=False),
    Column("time", number(), nullable=False),
    Column("data", binary(), nullable=False),
    Index("fragments_stream", "stream", "seq"),
    Index("fragments_time", "time"),
    sqlite_autoincrement=True,
)
"""Events that are only streamed, such as the words of a model: outside the chain, with a sequence of their own."""

leases = Table(
    "leases",
    metadata,
    Column("name", text(255), primary_key=True),
    Column("holder", text(255), nullable=False),
    Column("fence", number(), nullable=False),
    Column("expires_at", number(), nullable=False),
    Index("leases_expires_at", "expires_at"),
)
"""A row stays for ever, so that its fence only grows; an empty holder means released."""

blobs = Table(
    "blobs",
    metadata,
    Column("sha256", text(64), primary_key=True),
    Column("codec", text(8), nullable=False),
    Column("size", number(), nullable=False),
)
"""What is stored by content."""

blob_parts = Table(
    "blob_parts",
    metadata,
    Column("sha256", text(64), nullable=False),
    Column("part", Integer, nullable=False),
    Column("data", binary(), nullable=False),
    PrimaryKeyConstraint("sha256", "part"),
)
"""The stored bytes in parts, because servers limit the size of one statement."""

cluster_nodes = Table(
    "cluster_nodes",
    metadata,
    Column("node", text(40), primary_key=True),
    Column("facts", binary(), nullable=False),
    Column("closed", Integer, nullable=False),
    Column("since", number(), nullable=False),
    info=PASSING,
)
"""Machines that offer slots, and whether an operator closed one: that holds until it is opened again."""

cluster_runners = Table(
    "cluster_runners",
    metadata,
    Column("runner", text(255), primary_key=True),
    Column("node", text(40), nullable=False),
    Column("for_all", Integer, nullable=False),
    Column("beat_at", number(), nullable=False),
    Column("pulled_at", number(), nullable=False),
    info=PASSING,
)
"""Processes that carry out orders on a node: `for_all` those of everybody, else only those they submitted."""

cluster_orders = Table(
    "cluster_orders",
    metadata,
    Column("seq", number(), primary_key=True, autoincrement=True),
    Column("order_id", text(40), nullable=False),
    Column("execution_id", text(40), nullable=False),
    Column("stage", Integer, nullable=False),
    Column("wants", text(40), nullable=False),
    Column("line", Integer, nullable=False),
    Column("turn", number(), nullable=False),
    Column("submitter", text(255), nullable=False),
    Column("runner", text(255), nullable=False),
    Column("node", text(40), nullable=False),
    Column("slot", Integer, nullable=False),
    Column("fence", number(), nullable=False),
    Column("losses", Integer, nullable=False),
    Column("since", number(), nullable=False),
    Column("data", binary(), nullable=False),
    Column("report", binary()),
    UniqueConstraint("order_id", name="cluster_orders_order"),
    Index("cluster_orders_line", "stage", "wants", "line", "turn", "execution_id", "seq"),
    info=PASSING,
)
"""Orders that wait for a slot or were given one through the queue, until whoever submitted one has its report."""

cluster_turns = Table(
    "cluster_turns",
    metadata,
    Column("name", text(80), primary_key=True),
    Column("turn", number(), nullable=False),
    Column("execution_id", text(40), nullable=False),
    info=PASSING,
)
"""Which round of the queue is served and who was last, for each rank, and which rounds each execution has used."""

cluster_calls = Table(
    "cluster_calls",
    metadata,
    Column("call_id", text(40), primary_key=True),
    Column("order_id", text(40), nullable=False),
    Column("key_sha256", text(64), nullable=False),
    Column("fence", number(), nullable=False),
    Column("stage", Integer, nullable=False),
    Column("since", number(), nullable=False),
    Column("call", binary(), nullable=False),
    Column("said", binary()),
    Index("cluster_calls_order", "order_id", "key_sha256"),
    Index("cluster_calls_since", "since"),
    info=PASSING,
)
"""Calls that lie before bridges that speak HTTP, with what was said to them: leave, receipt. Kept for a day, arguments
only as long as a bridge may still be told to carry the call out."""

cards = Table(
    "cards",
    metadata,
    Column("card", text(40), primary_key=True),
    Column("organisation", text(255), nullable=False),
    Column("execution_id", text(40), nullable=False),
    Column("state", text(20), nullable=False),
    Column("waits", Integer, nullable=False),
    Column("deadline", number(), nullable=False),
    Column("due_at", number(), nullable=False),
    Column("unreviewed", Integer, nullable=False),
    Index("cards_waiting", "waits", "deadline", "card"),
    Index("cards_waiting_of", "waits", "organisation", "deadline", "card"),
    Index("cards_due", "waits", "due_at"),
    Index("cards_execution", "execution_id"),
    Index("cards_unreviewed", "unreviewed", "card"),
    info=PASSING,
)
"""How each decision card stands, made of its events: which wait, which are due, which passed by themselves and were
not reviewed. It can be made again at any time, so a copy of the ledger begins without it."""

cards_seen = Table(
    "cards_seen",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("position", number(), nullable=False),
    info=PASSING,
)
"""One row: up to which position the table of cards knows what happened."""

memories = Table(
    "memories",
    metadata,
    Column("memory", text(40), primary_key=True),
    Column("organisation", text(255), nullable=False),
    Column("state", text(20), nullable=False),
    Column("kind", text(20), nullable=False),
    Column("class", text(20), nullable=False),
    Column("holder_kind", text(20), nullable=False),
    Column("holder", text(255), nullable=False),
    Column("domain", text(64), nullable=False),
    Column("project", text(64), nullable=False),
    Column("session", text(255), nullable=False),
    Column("text_sha256", text(64), nullable=False),
    Column("about_sha256", text(64), nullable=False),
    Column("changed_at", number(), nullable=False),
    Column("position", number(), nullable=False),
    Column("record", binary(), nullable=False),
    Index("memories_listed", "organisation", "state", "memory"),
    Index("memories_of", "organisation", "holder_kind", "holder", "memory"),
    Index("memories_changed", "organisation", "position"),
    Index("memories_text", "organisation", "text_sha256"),
    Index("memories_about", "organisation", "about_sha256"),
    info=PASSING,
)
"""How each memory record stands, made of its events; `record` is the contract as JSON. Fields that a record does not
have are empty. An erased record keeps its row, without words. It can be made again at any time."""

memories_seen = Table(
    "memories_seen",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("position", number(), nullable=False),
    info=PASSING,
)
"""One row: up to which position the table of memories knows what happened."""

products = Table(
    "products",
    metadata,
    Column("product", text(40), primary_key=True),
    Column("organisation", text(255), nullable=False),
    Column("kind", text(40), nullable=False),
    Column("key_sha256", text(64), nullable=False),
    Column("stream", text(255), nullable=False),
    Column("execution_id", text(40), nullable=False),
    Column("position", number(), nullable=False),
    Column("record", binary(), nullable=False),
    Index("products_listed", "organisation", "kind", "product"),
    Index("products_key", "organisation", "key_sha256", "product"),
    Index("products_changed", "organisation", "position"),
    Index("products_of", "execution_id"),
    Index("products_stream", "stream"),
    info=PASSING,
)
"""What work delivered, made of its events; `record` is JSON, `stream` where it was told. It can be made again."""

products_seen = Table(
    "products_seen",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("position", number(), nullable=False),
    info=PASSING,
)
"""One row: up to which position the table of deliveries knows what happened."""

access = Table(
    "access",
    metadata,
    Column("name", text(200), primary_key=True),
    Column("owner", text(200), nullable=False),
    Column("changed_at", number(), nullable=False),
    Column("data", binary(), nullable=False),
    Index("access_owner", "owner"),
)
"""What people prove themselves by: hashes of passwords, sessions, when a token was last used. None of it is an event:
secrets are never facts for ever, and what changes with every request is none at all."""
