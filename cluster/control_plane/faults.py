"""Errors of the control plane, in words that say what would help."""

from __future__ import annotations

from collections.abc import Sequence

from cluster.control_plane.matcher import Wants
from cluster.errors import NoNodeFits, NoSlotFree, QueueFull, SlotLost
from cluster.slot import Node
from contracts import Json, OrderId, OrderState, StatusReport
from runtime.canonical import to_bytes
from runtime.capabilities.placing import carried_by

AGAIN_S = 1.0
"""When to come again after the queue was full."""


def queue_full(waiting: int, most: int) -> QueueFull:
    """Return the error for a queue that takes nothing in."""
    return QueueFull(
        f"{waiting:,} orders wait for a slot, and the queue holds {most:,}. Come again in {AGAIN_S:g} s, add nodes, or "
        "raise the setting cluster.queue.",
        waiting=waiting, most=most, retry_after_s=AGAIN_S,
    )  # fmt: skip


def lost_report(order_id: OrderId, slot: str) -> bytes:
    """Return the stored report on an order that lost its last slot."""
    lost = SlotLost(
        f"The slot of {order_id} was lost while it worked, and so were those before; what was finished is kept.",
        order_id=order_id, slot=slot,
    )  # fmt: skip
    return to_bytes(StatusReport(order_id=order_id, state=OrderState.FAILED, error=lost.problem()).to_json())


def no_slot_free(slots: int, for_s: float) -> NoSlotFree:
    """Return the error for an order that waited in vain."""
    return NoSlotFree(
        f"All {slots} slots were taken for {for_s:g} s. Try again later, add a node, or raise the setting slot.count.",
        slots=slots, waited_s=for_s,
    )  # fmt: skip


def no_node_fits(nodes: Sequence[Node], wants: Wants, lost: Sequence[Node] = ()) -> NoNodeFits:
    """Return the error for an order that none of these nodes can take; those of `lost` could, if they lived."""
    ids: list[Json] = [str(node.node_id) for node in lost]
    gone = (
        f" {', '.join(map(str, ids))} would fit, and is lost: it gives no sign of life. Start it again." if ids else ""
    )
    return NoNodeFits(_misfit(nodes, wants) + gone, needed=list(wants.labels), isolation=list(wants.needs), lost=ids)


def _misfit(nodes: Sequence[Node], wants: Wants) -> str:
    offered = sorted({label for node in nodes for label in node.labels})
    able = [node for node in nodes if set(wants.labels) <= set(node.labels)]
    if not able:
        bridged = carried_by(wants.labels)
        start = (
            f" What carries out {', '.join(sorted(bridged))} is a bridge, a program that registers itself over HTTP; "
        )
        return (
            f"No node has the labels {', '.join(wants.labels) or 'none'} that the order needs. "
            f"The nodes have: {', '.join(offered) or 'none'}."
            f"{start + 'start it.' if bridged else ''}"
        )
    return (
        f"No node that has the labels can hold what the order needs: {', '.join(wants.needs)}. The sandboxes there "
        f"({', '.join(sorted({node.driver for node in able}))}) cannot; `silicon cluster nodes` tells what each cannot "
        "enforce, and docs/cluster.md how to get one that can."
    )
