"""The tables of the execution cluster: nodes, the processes that serve them, queued orders, turns.

They hold only what goes on just now, and nothing that the streams do not tell as well. Each is made where it is
missing, so that a migration that was killed on MySQL goes on from where it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

MYSQL: dict[str, Any] = {"mysql_engine": "InnoDB", "mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin"}


def text(length: int) -> sa.types.TypeEngine[str]:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def number() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def binary() -> sa.types.TypeEngine[bytes]:
    return sa.LargeBinary(2**32 - 1)


def tables() -> dict[str, Sequence[Any]]:
    return {
        "cluster_nodes": (
            sa.Column("node", text(40), primary_key=True),
            sa.Column("facts", binary(), nullable=False),
            sa.Column("closed", sa.Integer, nullable=False),
            sa.Column("since", number(), nullable=False),
        ),
        "cluster_runners": (
            sa.Column("runner", text(255), primary_key=True),
            sa.Column("node", text(40), nullable=False),
            sa.Column("for_all", sa.Integer, nullable=False),
            sa.Column("beat_at", number(), nullable=False),
            sa.Column("pulled_at", number(), nullable=False),
        ),
        "cluster_orders": (
            sa.Column("seq", number(), primary_key=True, autoincrement=True),
            sa.Column("order_id", text(40), nullable=False),
            sa.Column("execution_id", text(40), nullable=False),
            sa.Column("stage", sa.Integer, nullable=False),
            sa.Column("wants", text(40), nullable=False),
            sa.Column("line", sa.Integer, nullable=False),
            sa.Column("turn", number(), nullable=False),
            sa.Column("submitter", text(255), nullable=False),
            sa.Column("runner", text(255), nullable=False),
            sa.Column("node", text(40), nullable=False),
            sa.Column("slot", sa.Integer, nullable=False),
            sa.Column("fence", number(), nullable=False),
            sa.Column("losses", sa.Integer, nullable=False),
            sa.Column("since", number(), nullable=False),
            sa.Column("data", binary(), nullable=False),
            sa.Column("report", binary()),
            sa.UniqueConstraint("order_id", name="cluster_orders_order"),
        ),
        "cluster_turns": (
            sa.Column("name", text(80), primary_key=True),
            sa.Column("turn", number(), nullable=False),
            sa.Column("execution_id", text(40), nullable=False),
        ),
    }


def upgrade() -> None:
    inspector = sa.inspect(op.get_bind())
    for name, columns in tables().items():
        if not inspector.has_table(name):
            op.create_table(name, *columns, **MYSQL)
    there = {index["name"] for index in sa.inspect(op.get_bind()).get_indexes("cluster_orders")}
    if "cluster_orders_line" not in there:
        in_line = ["stage", "wants", "line", "turn", "execution_id", "seq"]
        op.create_index("cluster_orders_line", "cluster_orders", in_line)
