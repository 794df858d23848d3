"""The cluster as operators see and steer it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from cluster import Closed
from cluster.control_plane import Closer, ControlPlane, NodeStanding, OrderStanding, Stage
from console.asking import may_steer
from console.queued import onlooker
from console.resources import Resources
from console.system_user import system_user
from console.views_cluster import ClusterNumbers, NodeRow, NodeState, OrderRow, PlaceState, SlotRow
from contracts import ExecutionId, NodeId
from governance.access import Principal
from runtime.corrections import Guard, Occasion, by_series
from runtime.executor.states import FINISHED

_SPANS = 5
"""Spans of events that are counted for one answer; a ledger that was never counted catches up over several."""
_CLOSED = {NodeState.OPEN: Closed.OPEN, NodeState.CORDONED: Closed.CORDONED, NodeState.DRAINING: Closed.DRAINING}


class Clustering:
    """The parts of the port `Application` that are about nodes, slots and the queue."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    async def nodes(self) -> Sequence[NodeRow]:
        """Return the nodes, by id; see the port."""
        return [_node_row(each) for each in await (await self._plane()).nodes()]

    async def cluster_orders(self, *, organisation: str | None = None, limit: int) -> Sequence[OrderRow]:
        """Return the orders in slots, then those that wait, as they stand in line; see the port."""
        plane = await self._plane()
        found = [_order_row(each) for each in await plane.orders(limit, organisation=organisation)]
        told = await self._told_by_streams([each for each in found if each.organisation is None])
        over = await self._over({str(each.execution_id) for each in found if each.state is PlaceState.LEFT})
        rows = [
            told.get(each.order_id, each)
            for each in found
            if each.state is not PlaceState.LEFT or str(each.execution_id) not in over
        ]
        return [each for each in rows if organisation is None or each.organisation == organisation][:limit]

    async def slots(self) -> Sequence[SlotRow]:
        """Return every slot of every node that lives, with the order that holds it; see the port."""
        nodes = [each for each in await self.nodes() if each.state is not NodeState.LOST]
        most = sum(each.slots for each in nodes) * 2
        held = {(each.node_id, each.slot): each for each in await self.cluster_orders(limit=most) if each.node_id}
        rows = []
        for node in nodes:
            for index in range(node.slots):
                order = held.get((node.node_id, index))
                row = SlotRow(node.node_id, index, warm=order is None and index in node.warm)
                rows.append(
                    row if order is None else replace(
                        row, order_id=order.order_id, execution_id=order.execution_id, organisation=order.organisation,
                        since=order.since,
                    )
                )  # fmt: skip
        return rows

    async def close_node(
        self, node_id: NodeId, state: NodeState, *, by: Principal | None = None, via: str = "cli"
    ) -> NodeRow:
        """Cordon, drain or open a node; see the port."""
        closer = Closer(system_user(), via) if by is None else Closer(may_steer(by).name, via, by.id)
        return _node_row(await (await self._plane()).close(node_id, _CLOSED[state], by=closer))

    async def cluster_numbers(self) -> ClusterNumbers:
        """Return how the cluster stands; see the port."""
        plane, now = await self._plane(), self._resources.clock.now()
        counts, oldest = await plane.counts()
        leases = await (await self._resources.store()).leases.live()
        counts_ever = (await (await self._resources.tally()).read(now, spans=_SPANS)).ever
        return ClusterNumbers(
            at=now,
            nodes=[_node_row(each) for each in await plane.nodes()],
            orders={PlaceState(stage.name.lower()): counts.get(stage, 0) for stage in Stage},
            most_queued=self._resources.settings.cluster.queue,
            oldest_wait_s=0.0 if oldest is None else max(0.0, (now - oldest).total_seconds()),
            guards=by_series(counts_ever, Guard),
            occasions=by_series(counts_ever, Occasion),
            leases=Counter(each.name.partition("/")[0] for each in leases),
        )

    async def waiting_orders(self) -> int:
        """Return how many orders wait for a slot."""
        return await (await self._plane()).waiting()

    async def require_room(self) -> None:
        """Return when the queue takes orders in; see the port."""
        await (await self._plane()).require_room()

    async def _plane(self) -> ControlPlane:
        return await onlooker(self._resources)

    async def _over(self, executions: Collection[str]) -> set[str]:
        """Return which of these executions have ended: nobody submits an order of theirs again."""
        if not executions:
            return set()
        newest = await (await self._resources.store()).ledger.read_newest(*executions)
        return {event.subject for event in newest if event.type == FINISHED}

    async def _told_by_streams(self, rows: Sequence[OrderRow]) -> dict[str, OrderRow]:
        """Return orders that went into their slots without the queue, with what their streams tell of them."""
        if not rows:
            return {}
        by_id = {str(each.order_id): each for each in rows}
        newest = await (await self._resources.store()).ledger.read_newest(*by_id)
        return {
            event.subject: replace(
                by_id[event.subject],
                organisation=event.organisation,
                execution_id=None if event.execution_id is None else ExecutionId(event.execution_id),
            )
            for event in newest
        }


def _node_row(standing: NodeStanding) -> NodeRow:
    node = standing.node
    state = NodeState.LOST if standing.lost else NodeState(standing.closed.name.lower())
    return NodeRow(
        node.node_id, state, node.labels, node.driver, node.cannot_enforce, node.slots, standing.taken,
        standing.runners, standing.beat_at, standing.pulled_at, standing.warm,
        None if standing.closing is None else standing.closing.by.name,
        None if standing.closing is None else standing.closing.by.via,
        None if standing.closing is None else standing.closing.at,
    )  # fmt: skip


def _order_row(standing: OrderStanding) -> OrderRow:
    return OrderRow(
        standing.order_id, standing.execution_id, standing.organisation, PlaceState(standing.stage.name.lower()),
        standing.priority, standing.node_id, standing.slot, standing.since, standing.losses,
    )  # fmt: skip
