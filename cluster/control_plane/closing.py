"""Who closed or opened a node: one fact in the node's own stream, `node/01J…`, in the commit that does it."""

from __future__ import annotations

from datetime import datetime

from cluster.control_plane.port import Closer, Closing
from cluster.control_plane.stages import Closed
from contracts import Event, NodeId
from runtime.canonical import clean_text
from runtime.ledger.facts import prepare
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.rows import time_to_text
from runtime.ledger.storing import Storing, store
from runtime.ledger.transaction import Transaction

OWNER = "silicon"
"""Whose facts those of nodes are: they belong to no organisation."""
CLOSED, OPENED = "node.closed", "node.opened"


def record(transaction: Transaction, node_id: NodeId, closed: Closed, by: Closer, now: datetime) -> None:
    """Store who closed or opened the node."""
    who = {"name": clean_text(by.name), "via": clean_text(by.via), "principal": by.principal}
    if closed is Closed.OPEN:
        event = NewEvent(OPENED, {"by": who})
    else:
        event = NewEvent(CLOSED, {"state": closed.name.lower(), "by": who})
    version = transaction.head(node_id).version
    append = Append(node_id, (event,), version, OWNER, f"/organisation/{OWNER}/cluster")
    store(transaction, Storing(now, [prepare(append, time_to_text(now))]))


def closing_of(event: Event) -> Closing:
    """Return what `record` stored; an erased payload names nobody."""
    told = (event.data or {}).get("by")
    who = told if isinstance(told, dict) else {}
    principal = who.get("principal")
    by = Closer(str(who.get("name", "")), str(who.get("via", "")), None if principal is None else str(principal))
    return Closing(by, event.time)
