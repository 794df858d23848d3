"""Why an order of the queue has no slot yet: a pure function of what it wants and of the nodes there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cluster.control_plane.matcher import Wants, fits
from cluster.control_plane.port import NodeStanding, WaitFor
from cluster.control_plane.stages import Closed
from runtime.capabilities.placing import carried_by


@dataclass(frozen=True, slots=True)
class Want:
    """What is missing, and who has it."""

    what: WaitFor
    missing: tuple[str, ...] = ()
    """Labels, capabilities or limits, by name; none where it is a slot that is missing."""
    nodes: frozenset[str] = frozenset()
    """Nodes that live and fit: whoever wants one of them stands in the same line."""


def want_of(wants: Wants, nodes: Sequence[NodeStanding]) -> Want:
    """Return what keeps an order waiting, as the nodes stand."""
    living = [each for each in nodes if not each.lost]
    fitting = [each for each in living if fits(each.node, wants)]
    if fitting:
        open_ = any(each.closed is Closed.OPEN for each in fitting)
        return Want(WaitFor.SLOT if open_ else WaitFor.NODE, (), frozenset(each.node.node_id for each in fitting))
    labelled = [each for each in living if set(wants.labels) <= set(each.node.labels)]
    if labelled and wants.needs:
        return Want(WaitFor.LIMITS, wants.needs)
    bridged = carried_by(wants.labels)
    if bridged:
        return Want(WaitFor.BRIDGE, tuple(sorted(bridged)))
    there = {label for each in living for label in each.node.labels}
    unknown = tuple(label for label in wants.labels if label not in there)
    return Want(WaitFor.LABELS, unknown or wants.labels)
