"""What a group has in hand in this process: events to be handled, being handled, or to be tried again."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from contracts import Event


@dataclass(slots=True)
class Delivery:
    """One event in the hands of this process."""

    event: Event
    uncertain: bool = False
    """Whether it was given to somebody who may have died of it: that counts as a try."""


class Deliveries:
    """In order of arrival; each event is in hand at most once."""

    def __init__(self) -> None:
        self._ready: deque[Delivery] = deque()
        self._held: dict[int, Delivery] = {}
        self._later: dict[int, asyncio.TimerHandle] = {}
        self._arrived = asyncio.Event()

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[int]:
        return iter(tuple(self._held))

    def __contains__(self, position: int) -> bool:
        return position in self._held

    @property
    def waiting(self) -> int:
        """How many wait for a member."""
        return len(self._ready)

    def add(self, event: Event, *, uncertain: bool = False) -> None:
        """Take an event in hand, unless it is already."""
        if event.position in self._held:
            return
        delivery = self._held[event.position] = Delivery(event, uncertain)
        self._put(delivery)

    async def take(self) -> Delivery:
        """Return the next one, for a member to handle."""
        while not self._ready:
            self._arrived.clear()
            await self._arrived.wait()
        return self._ready.popleft()

    def again(self, delivery: Delivery, *, in_s: float = 0.0) -> None:
        """Have it handled once more, after a while."""
        if delivery.event.position not in self._held:
            return
        if in_s <= 0:
            self._put(delivery)
            return
        loop = asyncio.get_running_loop()
        self._later[delivery.event.position] = loop.call_later(in_s, self._due, delivery)

    def done(self, delivery: Delivery) -> None:
        """Let go of it."""
        self._held.pop(delivery.event.position, None)

    def clear(self) -> None:
        """Let go of everything."""
        for handle in self._later.values():
            handle.cancel()
        self._later.clear()
        self._ready.clear()
        self._held.clear()

    def _due(self, delivery: Delivery) -> None:
        self._later.pop(delivery.event.position, None)
        self._put(delivery)

    def _put(self, delivery: Delivery) -> None:
        self._ready.append(delivery)
        self._arrived.set()
