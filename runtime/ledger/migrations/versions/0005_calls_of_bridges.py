"""The table of calls that lie before bridges that speak HTTP.

Like the other tables of the cluster it holds only what goes on just now. It is made where it is missing, so that a
migration that was killed on MySQL goes on from where it was.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

MYSQL: dict[str, Any] = {"mysql_engine": "InnoDB", "mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin"}


def text(length: int) -> sa.types.TypeEngine[str]:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def number() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def binary() -> sa.types.TypeEngine[bytes]:
    return sa.LargeBinary(2**32 - 1)


def upgrade() -> None:
    if not sa.inspect(op.get_bind()).has_table("cluster_calls"):
        op.create_table(
            "cluster_calls",
            sa.Column("call_id", text(40), primary_key=True),
            sa.Column("order_id", text(40), nullable=False),
            sa.Column("key_sha256", text(64), nullable=False),
            sa.Column("fence", number(), nullable=False),
            sa.Column("stage", sa.Integer, nullable=False),
            sa.Column("since", number(), nullable=False),
            sa.Column("call", binary(), nullable=False),
            sa.Column("said", binary()),
            **MYSQL,
        )
    there = {index["name"] for index in sa.inspect(op.get_bind()).get_indexes("cluster_calls")}
    for name, columns in (("order", ["order_id", "key_sha256"]), ("since", ["since"])):
        if f"cluster_calls_{name}" not in there:
            op.create_index(f"cluster_calls_{name}", "cluster_calls", columns)
