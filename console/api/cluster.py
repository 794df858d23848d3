"""Nodes, slots and the queue: shown to everybody who may look, steered by administrators."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi import Path as InPath

from console.api.desk import Asking, AtDesk, Desk, query_of
from console.api.shown_cluster import Node, NodeList, OrderList, Place, Slot, SlotList
from console.api.via import Via
from console.views_cluster import NodeState, OrderRow, SlotRow
from contracts import ExecutionId, NodeId
from contracts.ids import ULID_PATTERN
from governance.access import Principal

routes = APIRouter(prefix="/cluster", tags=["cluster"])


def _node_id(
    ulid: Annotated[
        str,
        InPath(
            alias="node",
            pattern=ULID_PATTERN,
            description="The node: the part of its id after the slash.",
            examples=["01JB0000000000000000000NDE"],
        ),
    ],
) -> NodeId:
    return NodeId(f"{NodeId.KIND}/{ulid}")


OfNode = Annotated[NodeId, Depends(_node_id)]
Limit = Annotated[int, Query(ge=1, le=1_000, description="How many orders at most.")]


async def _sees(desk: Desk, asking: Principal, row: SlotRow | OrderRow) -> bool:
    """Whether whose order it is may be seen: by its organisation and, for those who see departments only, by those."""
    if not asking.may_see(row.organisation or ""):
        return False
    if row.execution_id is None or desk.application.sight(asking).whole:
        return True
    return await desk.may_see(ExecutionId(row.execution_id), asking)


@routes.get("/nodes", dependencies=[query_of()])
async def nodes(desk: AtDesk, asking: Asking) -> NodeList:
    """List the nodes: what they offer, how full they are, when they last gave a sign of life."""
    return NodeList(nodes=tuple(map(Node.of, await desk.application.nodes())))


@routes.get("/slots", dependencies=[query_of()])
async def slots(desk: AtDesk, asking: Asking) -> SlotList:
    """List every slot of every node that lives; orders of organisations that may not be seen are left out."""
    rows = await desk.application.slots()
    return SlotList(slots=tuple([Slot.of(row, seen=await _sees(desk, asking, row)) for row in rows]))


@routes.get("/orders", dependencies=[query_of("limit")])
async def orders(desk: AtDesk, asking: Asking, limit: Limit = 100) -> OrderList:
    """List the orders in slots, then those that wait, as they stand in line."""
    rows = await desk.application.cluster_orders(organisation=asking.organisation, limit=limit)
    seen = [row for row in rows if await _sees(desk, asking, row)]
    return OrderList(waiting=await desk.application.waiting_orders(), orders=tuple(map(Place.of, seen)))


@routes.post("/nodes/{node}/cordon")
async def cordon(node_id: OfNode, desk: AtDesk, asking: Asking, via: Via) -> Node:
    """Let a node take no new orders; those that it has end there. It takes an administrator."""
    return Node.of(await desk.application.close_node(node_id, NodeState.CORDONED, by=asking, via=via))


@routes.post("/nodes/{node}/drain")
async def drain(node_id: OfNode, desk: AtDesk, asking: Asking, via: Via) -> Node:
    """Let a node take no new orders, and others' go on elsewhere from their next step. It takes an administrator."""
    return Node.of(await desk.application.close_node(node_id, NodeState.DRAINING, by=asking, via=via))


@routes.post("/nodes/{node}/uncordon")
async def uncordon(node_id: OfNode, desk: AtDesk, asking: Asking, via: Via) -> Node:
    """Let a node that was cordoned or drained take orders again. It takes an administrator."""
    return Node.of(await desk.application.close_node(node_id, NodeState.OPEN, by=asking, via=via))
