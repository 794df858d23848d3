"""The tables by which cards are listed and judged without reading each one's stream.

They are made of events and can be made again at any time. Each is made where it is missing, so that a migration that
was killed on MySQL goes on from where it was.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

MYSQL: dict[str, Any] = {"mysql_engine": "InnoDB", "mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin"}


def text(length: int) -> sa.types.TypeEngine[str]:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def number() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    there = sa.inspect(op.get_bind())
    if not there.has_table("cards"):
        op.create_table(
            "cards",
            sa.Column("card", text(40), primary_key=True),
            sa.Column("organisation", text(255), nullable=False),
            sa.Column("execution_id", text(40), nullable=False),
            sa.Column("state", text(20), nullable=False),
            sa.Column("waits", sa.Integer, nullable=False),
            sa.Column("deadline", number(), nullable=False),
            sa.Column("due_at", number(), nullable=False),
            sa.Column("unreviewed", sa.Integer, nullable=False),
            **MYSQL,
        )
    if not there.has_table("cards_seen"):
        op.create_table(
            "cards_seen",
            sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
            sa.Column("position", number(), nullable=False),
            **MYSQL,
        )
    indexed = {index["name"] for index in sa.inspect(op.get_bind()).get_indexes("cards")}
    for name, columns in (
        ("waiting", ["waits", "deadline", "card"]),
        ("waiting_of", ["waits", "organisation", "deadline", "card"]),
        ("due", ["waits", "due_at"]),
        ("execution", ["execution_id"]),
        ("unreviewed", ["unreviewed", "card"]),
    ):
        if f"cards_{name}" not in indexed:
            op.create_index(f"cards_{name}", "cards", columns)
