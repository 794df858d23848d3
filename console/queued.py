"""Orders that wait for a slot, as whoever looks at an execution sees them: it follows from the rows of the queue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from console.resources import Resources
from console.views import ExecutionOutcome, ExecutionRow
from console.views_cluster import QueuedFor, QueuedOrder
from contracts import ExecutionId, OrderState

if TYPE_CHECKING:
    from cluster.control_plane import ControlPlane, Wait


async def onlooker(resources: Resources) -> ControlPlane:
    """Return the control plane of the ledger for somebody who only looks and steers."""
    from cluster import open_control_plane  # a goal is recorded sooner than there is a cluster to look at

    settings, store = resources.settings, await resources.store()
    return open_control_plane(store, None, resources.clock, slot=settings.slot, cluster=settings.cluster)


async def queued_orders(resources: Resources, executions: Collection[ExecutionId]) -> Sequence[QueuedOrder]:
    """Return the orders of these executions that wait for a slot, as they stand in line."""
    if not executions:
        return ()
    return [_queued(each) for each in await (await onlooker(resources)).waits(executions)]


async def rows_with_queued(resources: Resources, rows: Iterable[ExecutionRow]) -> list[ExecutionRow]:
    """Return the rows, each with what of it waits; only what somebody works on can wait for a slot."""
    rows = list(rows)
    at_work = [row.execution_id for row in rows if row.held and row.state is OrderState.RUNNING]
    queued: dict[ExecutionId, list[QueuedOrder]] = defaultdict(list)
    for each in await queued_orders(resources, at_work):
        queued[each.execution_id].append(each)
    return [replace(row, queued=tuple(queued[row.execution_id])) if row.execution_id in queued else row for row in rows]


async def outcome_with_queued(resources: Resources, outcome: ExecutionOutcome) -> ExecutionOutcome:
    """Return the outcome of an execution with what of it waits."""
    if outcome.state is not OrderState.RUNNING:
        return outcome
    return replace(outcome, queued=tuple(await queued_orders(resources, [outcome.execution_id])))


def _queued(wait: Wait) -> QueuedOrder:
    return QueuedOrder(
        wait.order_id, wait.execution_id, wait.place, wait.since, QueuedFor(wait.what.value), wait.missing, wait.ahead
    )  # fmt: skip
