"""The first tables: the chain and its payloads, stream heads, leases, blobs."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

MYSQL: dict[str, Any] = {"mysql_engine": "InnoDB", "mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin"}


def text(length: int) -> sa.types.TypeEngine[str]:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def number() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def binary() -> sa.types.TypeEngine[bytes]:
    return sa.LargeBinary(2**32 - 1)


def upgrade() -> None:
    counter = op.create_table(
        "counter",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("position", number(), nullable=False),
        **MYSQL,
    )
    op.bulk_insert(counter, [{"id": 1, "position": 0}])
    op.create_table(
        "events",
        sa.Column("position", number(), primary_key=True, autoincrement=False),
        sa.Column("stream", text(255), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("id", text(40), nullable=False),
        sa.Column("type", text(100), nullable=False),
        sa.Column("time", text(27), nullable=False),
        sa.Column("source", text(255), nullable=False),
        sa.Column("organisation", text(64), nullable=False),
        sa.Column("execution_id", text(40)),
        sa.Column("trace_id", text(64)),
        sa.Column("payload_sha256", text(64), nullable=False),
        sa.Column("chain_sha256", text(64), nullable=False),
        sa.UniqueConstraint("stream", "version", name="events_stream_version"),
        **MYSQL,
    )
    op.create_index("events_execution", "events", ["execution_id", "position"])
    op.create_table(
        "payloads",
        sa.Column("position", number(), primary_key=True, autoincrement=False),
        sa.Column("data", binary()),
        sa.Column("erased_at", text(27)),
        **MYSQL,
    )
    op.create_table(
        "streams",
        sa.Column("stream", text(255), primary_key=True),
        sa.Column("kind", text(64), nullable=False),
        sa.Column("organisation", text(64), nullable=False),
        sa.Column("first_position", number(), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("chain_sha256", text(64), nullable=False),
        sa.Column("last_type", text(100), nullable=False),
        sa.Column("updated_at", text(27), nullable=False),
        **MYSQL,
    )
    op.create_index("streams_kind", "streams", ["kind", "organisation", "last_type"])
    op.create_table(
        "leases",
        sa.Column("name", text(255), primary_key=True),
        sa.Column("holder", text(255), nullable=False),
        sa.Column("fence", number(), nullable=False),
        sa.Column("expires_at", text(27), nullable=False),
        **MYSQL,
    )
    op.create_table(
        "blobs",
        sa.Column("sha256", text(64), primary_key=True),
        sa.Column("codec", text(8), nullable=False),
        sa.Column("size", number(), nullable=False),
        **MYSQL,
    )
    op.create_table(
        "blob_parts",
        sa.Column("sha256", text(64), nullable=False),
        sa.Column("part", sa.Integer, nullable=False),
        sa.Column("data", binary(), nullable=False),
        sa.PrimaryKeyConstraint("sha256", "part"),
        **MYSQL,
    )


def downgrade() -> None:
    raise RuntimeError("A ledger only goes forward; restore a backup instead.")
