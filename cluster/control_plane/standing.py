"""How nodes, slots and orders stand: reads beside the writer, which nobody waits for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, case, func, select

from cluster.control_plane.port import NodeStanding, OrderStanding
from cluster.control_plane.round import Rules
from cluster.control_plane.rows import WARM, Runner, node_from, warm_slots
from cluster.control_plane.stages import Closed, Stage
from cluster.slot import Node, lease_name
from contracts import ExecutionId, NodeId, OrderId
from runtime.executor.holder import is_gone
from runtime.ledger.leases import RELEASED
from runtime.ledger.rows import time_from_number, time_to_number
from runtime.ledger.schema import cluster_nodes, cluster_orders, cluster_runners, leases, streams
from runtime.ledger.schema import names as texts

_HANDED_OUT = (Stage.ASSIGNED, Stage.RUNNING)


@dataclass(frozen=True, slots=True)
class Glance:
    """What a look found, before anything is written."""

    needs_writing: bool
    """Whether something is to be given back, given out or collected."""
    moving: frozenset[OrderId]
    """Orders that this process carries out on a node that drains."""


def glance(connection: Connection, now: datetime, rules: Rules, me: str) -> Glance:
    """Look whether there is anything to do, on behalf of one process."""
    held, living, everyone = _held(connection, now), _living(connection, now, rules, me), _runners(connection)
    names = ("order_id", "stage", "submitter", "runner", "node", "slot", "fence", "since")
    stages = [int(stage) for stage in (*_HANDED_OUT, Stage.REPORTED)]
    query = select(*(cluster_orders.c[name] for name in names)).where(cluster_orders.c.stage.in_(stages))
    known = connection.execute(query).all()
    patience = time_to_number(now - timedelta(seconds=rules.accept_s))
    due = len(living) < len(everyone)
    moving, nodes = set(), _nodes(connection)
    for order_id, stage, submitter, runner, node, slot, fence, since in known:
        if stage == Stage.REPORTED:
            due |= submitter == me
            continue
        holder, held_fence = held.get(lease_name(NodeId(node), slot), ("", 0))
        due |= held_fence != fence or is_gone(holder)
        due |= stage == Stage.ASSIGNED and (runner == me or since <= patience)
        if runner == me and node in nodes and nodes[node][1] is Closed.DRAINING:
            moving.add(OrderId(order_id))
    if not due and waiting(connection, most=1):
        open_ = [node for node, closed in nodes.values() if closed is Closed.OPEN]
        taken = sum(node.lease_name(index) in held for node in open_ for index in range(node.slots))
        due = taken < sum(node.slots for node in open_) or any(is_gone(holder) for holder, _ in held.values())
    return Glance(due, frozenset(moving))


def nodes(connection: Connection, now: datetime, rules: Rules, me: str) -> list[NodeStanding]:
    """Return the nodes there are, and those that were there lately."""
    held, living = _held(connection, now), _living(connection, now, rules, me)
    warm = warm_slots((name, holder, fence) for name, (holder, fence) in _held(connection, now, WARM).items())
    found = []
    for node, closed in _nodes(connection).values():
        here = [each for each in living if each.node == node.node_id]
        found.append(
            NodeStanding(
                node,
                closed,
                lost=not here,
                beat_at=_moment(max((each.beat_at for each in here), default=0)),
                pulled_at=_moment(max((each.pulled_at for each in here), default=0)),
                taken=sum(node.lease_name(index) in held for index in range(node.slots)),
                runners=len(here),
                warm=frozenset(each for each in warm.get(node.node_id, ()) if node.lease_name(each) not in held),
            )
        )
    return sorted(found, key=lambda each: each.node.node_id)


def orders(
    connection: Connection, now: datetime, limit: int | None = None, organisation: str | None = None
) -> list[OrderStanding]:
    """Return the orders that wait or hold a slot, at most `limit`; see the port."""
    table = cluster_orders
    handed_out = table.c.stage.in_([int(stage) for stage in _HANDED_OUT])
    columns = [
        table.c[name] for name in ("order_id", "execution_id", "stage", "line", "node", "slot", "since", "losses")
    ]
    in_line = (table.c.line, table.c.turn, table.c.execution_id, table.c.seq)
    query = select(*columns, table.c.data).order_by(case((handed_out, 0), else_=1), *in_line).limit(limit)
    if organisation is not None:
        own = select(texts.c.number).where(texts.c.text == organisation).scalar_subquery()
        query = (
            query.join(texts, texts.c.text == table.c.execution_id)
            .join(streams, streams.c.stream == texts.c.number)
            .where(streams.c.organisation == own)
        )
    queued = [_order(row) for row in connection.execute(query)]
    known = {each.order_id for each in queued if each.stage in _HANDED_OUT}
    beside = [each for each in _without_queue(connection, now) if each.order_id not in known]
    return [*beside, *queued][:limit]


def handed_out(connection: Connection) -> dict[OrderId, tuple[NodeId, datetime]]:
    """Return the orders of the queue that have a slot: on which node, and since when."""
    table = cluster_orders
    query = select(table.c.order_id, table.c.node, table.c.since).where(
        table.c.stage.in_([int(stage) for stage in _HANDED_OUT])
    )
    return {
        OrderId(order_id): (NodeId(node), time_from_number(since))
        for order_id, node, since in connection.execute(query)
    }


def _order(row: Sequence[Any]) -> OrderStanding:
    order_id, execution_id, stage, line, node, slot, since, losses, data = row
    return OrderStanding(
        OrderId(order_id), ExecutionId(execution_id), json.loads(data)["order"]["organisation"], Stage(stage), -line,
        NodeId(node) if node else None, slot if node else None, time_from_number(since), losses,
    )  # fmt: skip


def waiting(connection: Connection, most: int | None = None) -> int:
    """Return how many orders wait for a slot, counted up to `most`."""
    queued = select(cluster_orders.c.seq).where(cluster_orders.c.stage == int(Stage.QUEUED)).limit(most).subquery()
    return int(connection.execute(select(func.count()).select_from(queued)).scalar_one())


def counts(connection: Connection) -> tuple[dict[Stage, int], datetime | None]:
    """Return how many orders of the queue stand at each stage, and since when the one that waits longest does."""
    table = cluster_orders
    query = select(table.c.stage, func.count(), func.min(table.c.since)).group_by(table.c.stage)
    found = {Stage(stage): (count, since) for stage, count, since in connection.execute(query)}
    oldest = found[Stage.QUEUED][1] if Stage.QUEUED in found else None
    return {stage: count for stage, (count, _) in found.items()}, None if oldest is None else time_from_number(oldest)


def _without_queue(connection: Connection, now: datetime) -> list[OrderStanding]:
    """Return the orders that only the lease of their slot tells of."""
    nodes_ = [node for node, _ in _nodes(connection).values()]
    known = {node.lease_name(index): (node, index) for node in nodes_ for index in range(node.slots)}
    found = []
    for name, (holder, _) in _held(connection, now).items():
        order_id = order_in(holder)
        if order_id is not None and not is_gone(holder):
            node, index = known.get(name, (None, int(name.rpartition("/")[2])))
            node_id = NodeId(f"node/{name.split('/')[1]}") if node is None else node.node_id
            found.append(OrderStanding(order_id, None, None, Stage.RUNNING, 0, node_id, index, None, 0))
    return found


def order_in(holder: str) -> OrderId | None:
    """Return the order that stands at the end of the holder of a slot's lease."""
    *_, kind, ulid = ("", *holder.split("/"))
    return OrderId(f"{kind}/{ulid}") if kind == OrderId.KIND else None


def _held(
    connection: Connection, now: datetime, names: tuple[str, str] = ("slot/", "slot0")
) -> Mapping[str, tuple[str, int]]:
    query = select(leases.c.name, leases.c.holder, leases.c.fence).where(
        leases.c.name >= names[0], leases.c.name < names[1], leases.c.holder != RELEASED,
        leases.c.expires_at > time_to_number(now),
    )  # fmt: skip
    return {name: (holder, fence) for name, holder, fence in connection.execute(query)}


def _nodes(connection: Connection) -> dict[str, tuple[Node, Closed]]:
    query = select(cluster_nodes.c.node, cluster_nodes.c.facts, cluster_nodes.c.closed)
    return {row[0]: (node_from(row[0], bytes(row[1])), Closed(row[2])) for row in connection.execute(query)}


def _runners(connection: Connection) -> Sequence[Any]:
    table = cluster_runners
    return connection.execute(
        select(table.c.runner, table.c.node, table.c.for_all, table.c.beat_at, table.c.pulled_at)
    ).all()


def _living(connection: Connection, now: datetime, rules: Rules, me: str) -> list[Runner]:
    oldest = time_to_number(now - timedelta(seconds=rules.lost_s))
    found = (Runner(*row) for row in _runners(connection))
    return [each for each in found if each.name == me or (each.beat_at > oldest and not is_gone(each.name))]


def _moment(number: int) -> datetime | None:
    return time_from_number(number) if number else None
