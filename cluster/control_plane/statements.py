"""The statements of the control plane, compiled once for the database at hand, for the cursor of its writer."""

from __future__ import annotations

from sqlalchemy import (
    ClauseElement,
    Dialect,
    Integer,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    null,
    select,
    text,
    update,
)

from cluster.control_plane.stages import Stage
from runtime.ledger.leases import RELEASED
from runtime.ledger.schema import cluster_calls as calls
from runtime.ledger.schema import cluster_nodes as nodes
from runtime.ledger.schema import cluster_orders as orders
from runtime.ledger.schema import cluster_runners as runners
from runtime.ledger.schema import cluster_turns as turns
from runtime.ledger.schema import leases
from runtime.ledger.statements import compiled

_FIRST = " LIMIT 1"
"""Stands at the end on every database; SQLAlchemy would bind an offset on SQLite."""
_STAGE = {stage.name: literal_column(str(stage.value), Integer) for stage in Stage}
_ENTRY = ("order_id", "execution_id", "stage", "wants", "line", "turn", "submitter", "runner", "node", "slot", "fence",
          "losses", "since", "data", "report")  # fmt: skip


class Statements:
    """SQL text of each statement; values are passed by position, in the order of the names given here."""

    def __init__(self, dialect: Dialect) -> None:
        def made(statement: ClauseElement, *names: str) -> str:
            return compiled(dialect, statement, *names)

        one_order = orders.c.order_id == bindparam("o")
        one_runner = runners.c.runner == bindparam("r")
        one_node = nodes.c.node == bindparam("n")
        queued = orders.c.stage == _STAGE["QUEUED"]

        self.nodes = made(select(nodes.c.node, nodes.c.facts, nodes.c.closed))
        self.closed = made(select(nodes.c.closed).where(one_node), "n")
        self.put_node = made(insert(nodes), *nodes.columns.keys())
        self.move_node = made(
            update(nodes).where(one_node).values(facts=bindparam("facts"), since=bindparam("since")),
            "facts", "since", "n",
        )  # fmt: skip
        self.keep_node = made(update(nodes).where(one_node).values(since=bindparam("since")), "since", "n")
        self.close_node = made(update(nodes).where(one_node).values(closed=bindparam("closed")), "closed", "n")
        self.forget_node = made(delete(nodes).where(one_node), "n")
        self.forget_nodes = made(
            delete(nodes).where(
                nodes.c.since < bindparam("since"),
                nodes.c.closed == text("0"),
                nodes.c.node.not_in(select(runners.c.node)),
            ),
            "since",
        )

        self.runners = made(
            select(runners.c.runner, runners.c.node, runners.c.for_all, runners.c.beat_at, runners.c.pulled_at)
        )
        self.put_runner = made(insert(runners), *runners.columns.keys())
        self.beat = made(
            update(runners)
            .where(one_runner)
            .values({name: bindparam(name) for name in ("for_all", "beat_at", "pulled_at")}),
            "for_all", "beat_at", "pulled_at", "r",
        )  # fmt: skip
        self.distrust = made(update(runners).where(one_runner).values(pulled_at=text("0")), "r")
        self.forget_runner = made(delete(runners).where(one_runner), "r")

        self.slots = made(
            select(leases.c.name, leases.c.holder, leases.c.fence).where(
                leases.c.name >= bindparam("low"),
                leases.c.name < bindparam("high"),
                leases.c.holder != text(f"'{RELEASED}'"),
                leases.c.expires_at > bindparam("now"),
            ),
            "low", "high", "now",
        )  # fmt: skip

        self.any_queued = made(select(orders.c.seq).where(queued)) + _FIRST
        # each by itself: together, SQLite looks through all rows for them
        first, last = (select(end(orders.c.seq)).scalar_subquery() for end in (func.min, func.max))
        self.span = made(select(first, last))
        self.count_queued = made(select(func.count()).select_from(orders).where(queued))
        self.next_wants = (
            made(select(orders.c.wants).where(queued, orders.c.wants > bindparam("w")).order_by(orders.c.wants), "w")
            + _FIRST
        )
        self.head = made(
            select(*(orders.c[name] for name in ("seq", "order_id", "execution_id", "line", "turn", "submitter")))
            .where(queued, orders.c.wants == bindparam("w"))
            .order_by(orders.c.line, orders.c.turn, orders.c.execution_id, orders.c.seq),
            "w",
        ) + _FIRST  # fmt: skip
        self.put_order = made(insert(orders).values({name: bindparam(name) for name in _ENTRY}).inline(), *_ENTRY)
        self.order = made(
            select(orders.c.seq, orders.c.stage, orders.c.submitter, orders.c.runner, orders.c.node, orders.c.slot,
                   orders.c.fence, orders.c.losses, orders.c.report).where(one_order),
            "o",
        )  # fmt: skip
        self.data = made(select(orders.c.data).where(one_order), "o")
        self.in_hand = made(
            select(orders.c.order_id, orders.c.stage, orders.c.submitter, orders.c.runner, orders.c.node, orders.c.slot,
                   orders.c.fence, orders.c.losses, orders.c.since)
            .where(orders.c.stage.in_([_STAGE["ASSIGNED"], _STAGE["RUNNING"]])),
        )  # fmt: skip
        self.submit_again = made(
            update(orders)
            .where(one_order)
            .values({name: bindparam(name) for name in ("stage", "wants", "submitter", "since", "data")}
                    | {"report": null()}),
            "stage", "wants", "submitter", "since", "data", "o",
        )  # fmt: skip
        self.place = made(
            update(orders)
            .where(one_order)
            .values({name: bindparam(name) for name in ("stage", "runner", "node", "slot", "fence", "since")}),
            "stage", "runner", "node", "slot", "fence", "since", "o",
        )  # fmt: skip
        self.queue_again = made(
            update(orders)
            .where(one_order)
            .values({name: bindparam(name) for name in ("stage", "losses", "since")}
                    | {"runner": text("''"), "node": text("''"), "slot": text("-1"), "fence": text("0")}),
            "stage", "losses", "since", "o",
        )  # fmt: skip
        self.report = made(
            update(orders)
            .where(one_order)
            .values({name: bindparam(name) for name in ("stage", "since", "report")}),
            "stage", "since", "report", "o",
        )  # fmt: skip
        self.reports_for = made(
            select(orders.c.order_id, orders.c.report).where(
                orders.c.stage == _STAGE["REPORTED"], orders.c.submitter == bindparam("s")
            ),
            "s",
        )
        self.forget_order = made(delete(orders).where(one_order), "o")
        self.forget_reports = made(
            delete(orders).where(
                orders.c.stage.in_([_STAGE["REPORTED"], _STAGE["LEFT"]]), orders.c.since < bindparam("since")
            ),
            "since",
        )
        self.leave = made(
            update(orders).where(queued, orders.c.submitter == bindparam("s")).values(stage=_STAGE["LEFT"]), "s"
        )
        self.come_back = made(
            update(orders)
            .where(orders.c.stage == _STAGE["LEFT"], orders.c.submitter == bindparam("s"))
            .values(stage=_STAGE["QUEUED"]),
            "s",
        )

        self.forget_calls = made(delete(calls).where(calls.c.since < bindparam("since")), "since")

        self.turn = made(select(turns.c.turn, turns.c.execution_id).where(turns.c.name == bindparam("n")), "n")
        self.put_turn = made(insert(turns), *turns.columns.keys())
        self.move_turn = made(
            update(turns)
            .where(turns.c.name == bindparam("n"))
            .values(turn=bindparam("turn"), execution_id=bindparam("e")),
            "turn",
            "e",
            "n",
        )
        self.forget_turns = made(delete(turns))
