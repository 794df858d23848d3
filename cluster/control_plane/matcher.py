"""Which order is next, and which slot it gets: pure functions of what is waiting and what is free."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from cluster.slot import Node
from contracts import NodeId
from runtime.capabilities.placing import carried_by


@dataclass(frozen=True, slots=True)
class Wants:
    """What a slot must offer to an order."""

    labels: tuple[str, ...]
    """Labels the node must have, all of them."""
    needs: tuple[str, ...]
    """Limits that the node's sandbox must hold: none of them may stand in `cannot_enforce`."""
    home: NodeId | None
    """The node of whoever submitted it: there it may be carried out by the process that submitted it."""

    @property
    def key(self) -> str:
        """The same for orders that want the same, so that only the first of them has to be looked at."""
        wanted = [sorted(set(self.labels)), sorted(set(self.needs)), self.home]
        return sha256(json.dumps(wanted).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Head:
    """The first in line of all orders that want the same."""

    seq: int
    """Its age: who came first has the smallest."""
    order_id: str
    execution_id: str
    """The older one has its turn first in each round."""
    line: int
    """The negated priority."""
    turn: int
    """The round in which it is its execution's turn."""
    submitter: str
    wants: Wants

    @property
    def place(self) -> tuple[int, int, str, int]:
        """Priority first, then whose turn it is, then age."""
        return self.line, self.turn, self.execution_id, self.seq


@dataclass(slots=True)
class Offer:
    """A node that takes orders now."""

    node: Node
    free: list[int]
    """Slots nobody holds, by number."""
    for_all: str | None
    """The process that carries out anybody's orders there, if one does."""
    runners: frozenset[str] = frozenset()
    """Processes there that carry out what they submitted themselves."""
    warm: Collection[int] = field(default=())
    """Slots that are made ready already."""

    @property
    def load(self) -> float:
        """Share of the slots that is taken."""
        return 1 - len(self.free) / self.node.slots

    def runner_for(self, submitter: str) -> str | None:
        """Return who would carry the order out there: its submitter where it can, which has all it needs at hand."""
        return submitter if submitter in self.runners else self.for_all


def fits(node: Node, wants: Wants) -> bool:
    """Whether the node has every label, and its sandbox holds every limit that is needed.

    A node of a bridge that speaks HTTP takes only orders that want something which it carries out itself.
    """
    if node.foreign and not carried_by(wants.labels):
        return False
    return set(wants.labels) <= set(node.labels) and not set(wants.needs) & set(node.cannot_enforce)


def choose_slot(offers: Iterable[Offer], head: Head) -> tuple[Offer, int] | None:
    """Return the slot for an order: on the least loaded node that fits, there a warm one; None when there is none."""
    able = [each for each in offers if each.free and fits(each.node, head.wants) and each.runner_for(head.submitter)]
    if not able:
        return None
    best = min(able, key=lambda offer: (offer.load, not set(offer.warm) & set(offer.free), offer.node.node_id))
    return best, min(best.free, key=lambda index: (index not in best.warm, index))


def choose_next(heads: Iterable[Head], offers: Sequence[Offer]) -> tuple[Head, Offer, int] | None:
    """Return the first order in line that can be placed now, and its slot; None when none can."""
    for head in sorted(heads, key=lambda head: head.place):
        slot = choose_slot(offers, head)
        if slot is not None:
            return head, *slot
    return None


def turn_of(execution: str, served: tuple[int, str] | None, used: int) -> int:
    """Return the round of an execution's next order, so that it waits for one order of each other execution at most.

    This is start-time fair queueing (Goyal, Vin, Cheng 1996) with orders of equal size. Each execution has one order in
    a round, and every round goes through the executions in the same sequence. Whoever comes new has its first turn in
    the round that is served, or in the next where its place there has passed; nobody saves turns up.

    Args:
        served: round and execution of the last order that got a slot; None when none did.
        used: the round after that of the execution's own last order.
    """
    if served is None:
        return used
    round_, last = served
    return max(round_ if execution > last else round_ + 1, used)
