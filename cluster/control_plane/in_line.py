"""Which orders of an execution wait, for what, and how many come before: read beside the writer, from rows alone."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import Connection, func, select

from cluster.control_plane import standing
from cluster.control_plane.matcher import Wants
from cluster.control_plane.port import Wait
from cluster.control_plane.round import Rules
from cluster.control_plane.rows import wants_from
from cluster.control_plane.stages import Stage
from cluster.control_plane.waits import Want, want_of
from contracts import ExecutionId, OrderId
from runtime.ledger.rows import time_from_number
from runtime.ledger.schema import cluster_orders as table

MOST = 20
"""Waiting orders of one execution that are told; the first in line."""

Place: TypeAlias = tuple[int, int, str, int]
"""As `Head.place` sorts those who wait."""


def waits(connection: Connection, now: datetime, rules: Rules, executions: Collection[str]) -> list[Wait]:
    """Return the orders of these executions that wait, as they stand in line, `MOST` of each execution."""
    names = ("line", "turn", "execution_id", "seq", "order_id", "since", "wants")
    queued = table.c.stage == int(Stage.QUEUED)
    any_of_them = select(table.c.seq).where(queued, table.c.execution_id.in_(executions)).limit(1)
    if connection.execute(any_of_them).first() is None:
        return []
    rows = sorted(tuple(row) for row in connection.execute(select(*(table.c[name] for name in names)).where(queued)))
    mine = _first_of_each([row for row in rows if row[2] in executions])
    nodes = standing.nodes(connection, now, rules, me="")
    wants = {key: want_of(each, nodes) for key, each in _wants(connection).items()}
    line: dict[str, list[Place]] = defaultdict(list)
    for row in rows:
        line[row[6]].append(row[:4])
    data = _data(connection, [row[4] for row in mine])
    found = []
    for row in mine:
        if row[4] in data and row[6] in wants:  # else it got its slot between two of these reads
            found.append(_wait(row, data[row[4]], wants[row[6]], _ahead(row[:4], wants[row[6]], line, wants)))
    return found


def _first_of_each(rows: Sequence[Any]) -> list[Any]:
    seen: Counter[str] = Counter()
    first = []
    for row in rows:
        seen[row[2]] += 1
        if seen[row[2]] <= MOST:
            first.append(row)
    return first


def _wants(connection: Connection) -> dict[str, Wants]:
    """Return what those who wait want, by its key: many want the same."""
    queued = table.c.stage == int(Stage.QUEUED)
    first = select(func.min(table.c.seq)).where(queued).group_by(table.c.wants).scalar_subquery()
    query = select(table.c.wants, table.c.data).where(table.c.seq.in_(first))
    return {key: wants_from(bytes(data)) for key, data in connection.execute(query)}


def _data(connection: Connection, order_ids: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    query = select(table.c.order_id, table.c.data).where(table.c.order_id.in_(order_ids))
    return {order_id: json.loads(bytes(data))["order"] for order_id, data in connection.execute(query)}


def _ahead(place: Place, want: Want, line: Mapping[str, list[Place]], wants: Mapping[str, Want]) -> int:
    """Return how many come before and may take a slot of the same nodes."""
    rivals = [key for key in line if key in wants and wants[key].nodes & want.nodes]
    return sum(bisect_left(line[key], place) for key in rivals)


def _wait(row: Any, order: Mapping[str, Any], want: Want, ahead: int) -> Wait:
    chain = order.get("chain") or []
    place = f"{chain[-1]['employee']}/{chain[-1]['step']}" if chain and chain[-1].get("step") else order["employee"]
    return Wait(
        OrderId(row[4]), ExecutionId(row[2]), place, time_from_number(row[5]), want.what, want.missing, ahead
    )  # fmt: skip
