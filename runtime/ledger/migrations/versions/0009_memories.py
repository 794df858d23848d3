"""The tables by which memory records are found without reading each one's stream.

They are made of events and can be made again at any time. Each is made where it is missing, so that a migration that
was killed on MySQL goes on from where it was.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

MYSQL: dict[str, Any] = {"mysql_engine": "InnoDB", "mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin"}


def text(length: int) -> sa.types.TypeEngine[str]:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def number() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    there = sa.inspect(op.get_bind())
    if not there.has_table("memories"):
        op.create_table(
            "memories",
            sa.Column("memory", text(40), primary_key=True),
            sa.Column("organisation", text(255), nullable=False),
            sa.Column("state", text(20), nullable=False),
            sa.Column("kind", text(20), nullable=False),
            sa.Column("class", text(20), nullable=False),
            sa.Column("holder_kind", text(20), nullable=False),
            sa.Column("holder", text(255), nullable=False),
            sa.Column("domain", text(64), nullable=False),
            sa.Column("project", text(64), nullable=False),
            sa.Column("session", text(255), nullable=False),
            sa.Column("text_sha256", text(64), nullable=False),
            sa.Column("about_sha256", text(64), nullable=False),
            sa.Column("changed_at", number(), nullable=False),
            sa.Column("position", number(), nullable=False),
            sa.Column("record", sa.LargeBinary(2**32 - 1), nullable=False),
            **MYSQL,
        )
    if not there.has_table("memories_seen"):
        op.create_table(
            "memories_seen",
            sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
            sa.Column("position", number(), nullable=False),
            **MYSQL,
        )
    indexed = {index["name"] for index in sa.inspect(op.get_bind()).get_indexes("memories")}
    for name, columns in (
        ("listed", ["organisation", "state", "memory"]),
        ("of", ["organisation", "holder_kind", "holder", "memory"]),
        ("changed", ["organisation", "position"]),
        ("text", ["organisation", "text_sha256"]),
        ("about", ["organisation", "about_sha256"]),
    ):
        if f"memories_{name}" not in indexed:
            op.create_index(f"memories_{name}", "memories", columns)
