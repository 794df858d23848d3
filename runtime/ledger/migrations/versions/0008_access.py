"""The table of what people prove themselves by: hashes of passwords, sessions, when a token was last used.

It is made where it is missing, so that a migration that was killed on MySQL goes on from where it was.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

MYSQL: dict[str, Any] = {"mysql_engine": "InnoDB", "mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin"}


def text(length: int) -> sa.types.TypeEngine[str]:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def number() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    if not sa.inspect(op.get_bind()).has_table("access"):
        op.create_table(
            "access",
            sa.Column("name", text(200), primary_key=True),
            sa.Column("owner", text(200), nullable=False),
            sa.Column("changed_at", number(), nullable=False),
            sa.Column("data", sa.LargeBinary(2**32 - 1), nullable=False),
            **MYSQL,
        )
    there = {index["name"] for index in sa.inspect(op.get_bind()).get_indexes("access")}
    if "access_owner" not in there:
        op.create_index("access_owner", "access", ["owner"])
