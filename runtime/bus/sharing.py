"""What a broker does for a group: gives each event to one member, whatever process that is in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from contracts import Event
from runtime.bus.deliveries import Deliveries
from runtime.bus.progress import ProgressKeeper


@dataclass(frozen=True, slots=True)
class GroupState:
    """A group as one process takes part in it."""

    name: str
    fits: Callable[[Event], bool]
    """Whether an event is for the group."""
    progress: ProgressKeeper
    hand: Deliveries


class Sharing(Protocol):
    """A group's side of a broker. Everything in it may be lost at any time: the ledger is read then."""

    @property
    def away(self) -> bool:
        """Whether it gives nothing to anybody now."""
        ...

    def joined(self) -> AbstractAsyncContextManager[None]:
        """Put what the broker gives this process in hand, as long as somebody is inside."""
        ...

    def settled(self, position: int) -> None:
        """Tell the broker, in a while, that the event needs nothing more."""
        ...

    async def lost(self, positions: Sequence[int]) -> Collection[int]:
        """Return those of the open events that the broker will give to nobody; all of them while it is away."""
        ...


class NoSharing:
    """No broker: everything is read from the ledger by one process, the one that holds the group's lease."""

    away = True

    def joined(self) -> AbstractAsyncContextManager[None]:
        """Give nothing."""
        return nullcontext()

    def settled(self, position: int) -> None:
        """Forget it."""

    async def lost(self, positions: Sequence[int]) -> Collection[int]:
        """Return all: nobody else gives them."""
        return positions
