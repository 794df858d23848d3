"""What a process knows of the orders of a stretch without reading their streams: hints, which may always be missing."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from contracts import OrderId

if TYPE_CHECKING:
    from runtime.engine.source import Source


class New(Enum):
    """Whether nothing of an order is stored yet."""

    NO = "no"
    """Nobody knows."""
    SAID = "said"
    """Whoever handed it over said so; since then the same message may have come before."""
    MADE = "made"
    """It was made here, so that nobody else can have begun with it under the same leases."""


class Known:
    """Orders of one stretch in one process: which are new, and how those ended that somebody here waits for.

    That an order is said to be new is only a hint: the append of its first event names the version 0, so that one that
    began elsewhere is found out there. An end is only kept for whoever waits for it now, and given away once, so that
    it is the end that this process wrote last and not one that another went on from.
    """

    def __init__(self) -> None:
        self._new: dict[OrderId, New] = {}
        self._awaited: dict[OrderId, Source | None] = {}

    def make(self, order_id: OrderId) -> None:
        """Take note of an order that was made just now: nothing of its stream is stored yet."""
        self._new[order_id] = New.MADE

    def hear_of(self, order_id: OrderId) -> None:
        """Take note of an order that is said to be new."""
        self._new[order_id] = New.SAID

    def take_new(self, order_id: OrderId) -> New:
        """Return whether the order is new; asked a second time it is not, for somebody began with it."""
        return self._new.pop(order_id, New.NO)

    def await_end(self, order_id: OrderId) -> None:
        """Keep the next end of the order that is written here; forget an earlier one."""
        self._awaited[order_id] = None

    def awaits_end(self, order_id: OrderId) -> bool:
        """Whether somebody here waits for the end of the order."""
        return order_id in self._awaited

    def ended(self, order_id: OrderId, source: Source) -> None:
        """Take note of what the output of an order rests on that has ended."""
        if order_id in self._awaited:
            self._awaited[order_id] = source

    def take_end(self, order_id: OrderId) -> Source | None:
        """Return the end that was awaited, None where it was written elsewhere; await it no longer."""
        return self._awaited.pop(order_id, None)
