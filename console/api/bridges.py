"""The gateway for bridges that are other programs: nodes, orders, calls, leave, receipts; docs/cluster.md explains."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Depends
from fastapi import Path as InPath

from console.api.cluster import OfNode
from console.api.desk import Asking, AtDesk, query_of
from contracts import (
    BridgeAsk,
    BridgeBeat,
    BridgeEntry,
    BridgeIntent,
    BridgeLeave,
    BridgeNext,
    BridgeNode,
    BridgeOrders,
    BridgeReceipt,
    BridgeTaken,
    BridgeVerdict,
    BridgeWord,
    OrderId,
)
from contracts.ids import ULID_PATTERN

PREFIX = "/bridge"
routes = APIRouter(prefix=PREFIX, tags=["bridges"], dependencies=[query_of()])

_SAYS = {"session": "5f0c1d2e3b4a59687786958493a2b1c0", "slot_id": "slot/01JB0000000000000000000S0T", "fence": 3}
_CALL = "call/01JB0000000000000000000CA1"
_HASH = "7d2f" * 16


def _order_id(
    ulid: Annotated[
        str,
        InPath(
            alias="order",
            pattern=ULID_PATTERN,
            description="The order: the part of its id after the slash.",
            examples=["01JB0000000000000000000RDR"],
        ),
    ],
) -> OrderId:
    return OrderId(f"{OrderId.KIND}/{ulid}")


OfOrder = Annotated[OrderId, Depends(_order_id)]


@routes.post("/nodes", status_code=201, responses={201: {"description": "The node is entered."}})
async def register(
    desk: AtDesk,
    asking: Asking,
    node: Annotated[
        BridgeNode,
        Body(
            examples=[
                {"name": "till-7", "slots": 2, "labels": ["till"], "capabilities": ["till.refund"], "asks_first": True}
            ]
        ),
    ],
) -> BridgeEntry:
    """Enter a node, or enter it anew: then its earlier session is over, and what that had in hand goes on elsewhere."""
    return await desk.application.register_bridge(asking, node)


@routes.post("/nodes/{node}/beat")
async def beat(
    desk: AtDesk,
    asking: Asking,
    node_id: OfNode,
    said: Annotated[BridgeBeat, Body(examples=[{"session": _SAYS["session"], "holding": [], "wait_s": 5}])],
) -> BridgeOrders:
    """Give a sign of life, prolong the slots of the orders that are named, and get those that are not: new ones."""
    return await desk.application.bridge_beats(asking, node_id, said)


@routes.post("/nodes/{node}/leave", status_code=204)
async def leave(
    desk: AtDesk,
    asking: Asking,
    node_id: OfNode,
    said: Annotated[BridgeLeave, Body(examples=[{"session": _SAYS["session"]}])],
) -> None:
    """End the session in good order; orders in hand go on elsewhere, from their last finished step."""
    await desk.application.bridge_leaves(asking, node_id, said.session)


@routes.post("/nodes/{node}/orders/{order}/next")
async def next_(
    desk: AtDesk,
    asking: Asking,
    node_id: OfNode,
    order_id: OfOrder,
    said: Annotated[BridgeAsk, Body(examples=[{**_SAYS, "wait_s": 5}])],
) -> BridgeNext:
    """Ask what is next for an order: a call with everything bound, or its end, or nothing within `wait_s`."""
    return await desk.application.next_call(asking, node_id, order_id, said)


@routes.post("/nodes/{node}/orders/{order}/intent")
async def intent(
    desk: AtDesk,
    asking: Asking,
    node_id: OfNode,
    order_id: OfOrder,
    said: Annotated[BridgeIntent, Body(examples=[{**_SAYS, "call_id": _CALL, "arguments_sha256": _HASH}])],
) -> BridgeVerdict:
    """Ask for leave, right before an effect: it is allowed, people decide first, or it is refused."""
    return await desk.application.bridge_intends(asking, node_id, order_id, said)


@routes.post("/nodes/{node}/orders/{order}/receipt")
async def receipt(
    desk: AtDesk,
    asking: Asking,
    node_id: OfNode,
    order_id: OfOrder,
    said: Annotated[
        BridgeReceipt,
        Body(
            examples=[
                {**_SAYS, "call_id": _CALL, "outcome": "done", "output": {"slip": "R-17"}},
                {
                    **_SAYS,
                    "call_id": _CALL,
                    "outcome": "failed",
                    "category": "business",
                    "message": "The drawer is locked.",
                    "happened": "no",
                },
            ]
        ),
    ],
) -> BridgeTaken:
    """Report how a call ended. Sent again, it changes nothing; from whoever lost the slot, nothing of it is kept."""
    return await desk.application.take_receipt(asking, node_id, order_id, said)


@routes.post("/nodes/{node}/orders/{order}/give-back", status_code=204)
async def give_back(
    desk: AtDesk,
    asking: Asking,
    node_id: OfNode,
    order_id: OfOrder,
    said: Annotated[BridgeWord, Body(examples=[_SAYS])],
) -> None:
    """Hand an order back; it goes on elsewhere, or there again. A call that had leave is in doubt then."""
    await desk.application.give_order_back(asking, node_id, order_id, said)
