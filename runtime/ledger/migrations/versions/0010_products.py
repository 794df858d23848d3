"""The tables by which deliveries (reports, decisions, insights) are found without reading the ledger.

They are made of events and can be made again at any time. Each is made where it is missing, so that a migration that
was killed on MySQL goes on from where it was.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

MYSQL: dict[str, Any] = {"mysql_engine": "InnoDB", "mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin"}


def text(length: int) -> sa.types.TypeEngine[str]:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def number() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    there = sa.inspect(op.get_bind())
    if not there.has_table("products"):
        op.create_table(
            "products",
            sa.Column("product", text(40), primary_key=True),
            sa.Column("organisation", text(255), nullable=False),
            sa.Column("kind", text(40), nullable=False),
            sa.Column("key_sha256", text(64), nullable=False),
            sa.Column("stream", text(255), nullable=False),
            sa.Column("execution_id", text(40), nullable=False),
            sa.Column("position", number(), nullable=False),
            sa.Column("record", sa.LargeBinary(2**32 - 1), nullable=False),
            **MYSQL,
        )
    if not there.has_table("products_seen"):
        op.create_table(
            "products_seen",
            sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
            sa.Column("position", number(), nullable=False),
            **MYSQL,
        )
    indexed = {index["name"] for index in sa.inspect(op.get_bind()).get_indexes("products")}
    for name, columns in (
        ("listed", ["organisation", "kind", "product"]),
        ("key", ["organisation", "key_sha256", "product"]),
        ("changed", ["organisation", "position"]),
        ("of", ["execution_id"]),
        ("stream", ["stream"]),
    ):
        if f"products_{name}" not in indexed:
            op.create_index(f"products_{name}", "products", columns)
