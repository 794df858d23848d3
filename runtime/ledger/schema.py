"""The tables of a ledger: one schema for SQLite, MySQL/MariaDB and PostgreSQL."""

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
from sqlalchemy.types import TypeEngine

REVISION = "0001"
"""The newest migration; a database at another revision is upgraded or refused."""

MYSQL: dict[str, Any] = {"mysql_engine": "InnoDB", "mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin"}
"""Asked for on each table, for MariaDB's own default may be latin1, and names differ by case here."""


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
    **MYSQL,
)
"""One row: the greatest position. Every writer locks it first, so its lock is the order of all commits."""

events = Table(
    "events",
    metadata,
    Column("position", number(), primary_key=True, autoincrement=False),
    Column("stream", text(255), nullable=False),
    Column("version", Integer, nullable=False),
    Column("id", text(40), nullable=False),
    Column("type", text(100), nullable=False),
    Column("time", text(27), nullable=False),
    Column("source", text(255), nullable=False),
    Column("organisation", text(64), nullable=False),
    Column("execution_id", text(40)),
    Column("trace_id", text(64)),
    Column("payload_sha256", text(64), nullable=False),
    Column("chain_sha256", text(64), nullable=False),
    UniqueConstraint("stream", "version", name="events_stream_version"),
    Index("events_execution", "execution_id", "position"),
    **MYSQL,
)
"""The chain: one row for each fact, without its payload."""

payloads = Table(
    "payloads",
    metadata,
    Column("position", number(), primary_key=True, autoincrement=False),
    Column("data", binary()),
    Column("erased_at", text(27)),
    **MYSQL,
)
"""The exact bytes beside the chain; null once they were erased."""

streams = Table(
    "streams",
    metadata,
    Column("stream", text(255), primary_key=True),
    Column("kind", text(64), nullable=False),
    Column("organisation", text(64), nullable=False),
    Column("first_position", number(), nullable=False),
    Column("version", Integer, nullable=False),
    Column("chain_sha256", text(64), nullable=False),
    Column("last_type", text(100), nullable=False),
    Column("updated_at", text(27), nullable=False),
    Index("streams_kind", "kind", "organisation", "last_type"),
    **MYSQL,
)
"""The head of each stream, written with each append."""

leases = Table(
    "leases",
    metadata,
    Column("name", text(255), primary_key=True),
    Column("holder", text(255), nullable=False),
    Column("fence", number(), nullable=False),
    Column("expires_at", text(27), nullable=False),
    **MYSQL,
)
"""A row stays for ever, so that its fence only grows; an empty holder means released."""

blobs = Table(
    "blobs",
    metadata,
    Column("sha256", text(64), primary_key=True),
    Column("codec", text(8), nullable=False),
    Column("size", number(), nullable=False),
    **MYSQL,
)
"""What is stored by content."""

blob_parts = Table(
    "blob_parts",
    metadata,
    Column("sha256", text(64), nullable=False),
    Column("part", Integer, nullable=False),
    Column("data", binary(), nullable=False),
    PrimaryKeyConstraint("sha256", "part"),
    **MYSQL,
)
"""The stored bytes in parts, because servers limit the size of one statement."""
