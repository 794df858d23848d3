"""Nodes, slots and orders of the cluster on a terminal."""

from __future__ import annotations

from rich.text import Text

from console.cli.words import moment
from console.views_cluster import NodeRow, NodeState, OrderRow, PlaceState, SlotRow
from runtime.texts import Say

_STYLE = {
    NodeState.OPEN: "green",
    NodeState.LOST: "red",
    NodeState.CORDONED: "yellow",
    NodeState.DRAINING: "yellow",
    PlaceState.RUNNING: "green",
    PlaceState.LEFT: "red",
}


def node_lines(row: NodeRow, say: Say) -> list[Text]:
    """Return how a node stands, what it offers, and what its sandbox cannot hold."""
    first = Text.assemble(
        str(row.node_id), "  ", (say("cluster-state", state=row.state.value), _STYLE[row.state]), "  ",
        say("cluster-taken", taken=row.taken, slots=row.slots),
    )  # fmt: skip
    facts = [row.driver, *row.labels]
    if row.beat_at is not None:
        facts.append(say("cluster-beat", at=moment(row.beat_at)))
    lines = [first, Text(f"  {' · '.join(facts)}", style="dim")]
    if row.closed_at is not None:
        who = {"name": row.closed_by or "?", "via": row.closed_via or "?"}
        lines.append(Text(f"  {say('cluster-closed-by', at=moment(row.closed_at), **who)}", style="dim"))
    if row.cannot_enforce:
        lines.append(Text(f"  {say('cluster-cannot', names=', '.join(row.cannot_enforce))}", style="dim"))
    return lines


def slot_line(row: SlotRow, say: Say) -> Text:
    """Return one slot and who holds it."""
    place = f"{row.node_id} {row.slot}"
    if row.order_id is None:
        return Text.assemble(place, "  ", (say("cluster-warm" if row.warm else "cluster-free"), "dim"))
    return Text.assemble(place, "  ", str(row.order_id), *([] if row.since is None else [f"  {moment(row.since)}"]))


def order_lines(row: OrderRow, say: Say) -> list[Text]:
    """Return where an order stands."""
    state = say("cluster-order-state", state=row.state.value)
    first = Text.assemble(str(row.order_id), "  ", (state, _STYLE.get(row.state, "")))
    if row.node_id is not None:
        first.append(f"  {row.node_id} {row.slot}")
    facts = [] if row.organisation is None else [row.organisation]
    if row.execution_id is not None:
        facts.append(str(row.execution_id))
    if row.since is not None:
        facts.append(moment(row.since))
    if row.priority:
        facts.append(say("cluster-priority", priority=row.priority))
    if row.losses:
        facts.append(say("cluster-losses", count=row.losses))
    return [first, Text(f"  {' · '.join(facts)}", style="dim")] if facts else [first]
