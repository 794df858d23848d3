"""What the tests of the bus append, handle and wait for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager

from contracts import Event
from runtime.bus import Bus, Handler
from runtime.bus.redis_bus import RedisBus
from runtime.ledger.port import Append, Ledger, NewEvent
from runtime.settings import BusSettings

QUICK = BusSettings(stale_s=0.5, retry_first_s=0)


def fact(number: int, event_type: str = "step.finished") -> Append:
    return Append(f"order/{number}", [NewEvent(event_type, {"n": number})], 0, "acme", "/organisation/acme")


async def take(bus: Bus, pattern: str, after: int, count: int) -> list[Event]:
    """The first events that a subscriber gets."""
    taken: list[Event] = []
    async with asyncio.timeout(60), aclosing(bus.subscribe(pattern, after=after)) as events:
        async for event in events:
            taken.append(event)
            if len(taken) == count:
                break
    return taken


def receipt(event: Event, group: str = "g") -> Append:
    """What a handler makes of an event: the second one for the same event would be refused."""
    data = {"position": event.position}
    return Append(
        f"receipt/{group}-{event.position}", [NewEvent("receipt.made", data)], 0, "acme", "/organisation/acme"
    )


async def receipts(ledger: Ledger, group: str = "g") -> list[int]:
    """The positions of the events that were handled, in order."""
    found, after = [], 0
    while page := await ledger.read_all(after=after):
        found += [event for event in page if event.subject.startswith(f"receipt/{group}-")]
        after = page[-1].position
    return sorted(int(str(event.data["position"])) for event in found if event.data)


async def receipted(ledger: Ledger, count: int, group: str = "g") -> list[int]:
    """The positions of the events that were handled, as soon as there are so many."""
    async with asyncio.timeout(60):
        while len(found := await receipts(ledger, group)) < count:  # noqa: ASYNC110 - others write them
            await asyncio.sleep(0.05)  # whoever looks without pause takes a core from those who work
    return found


async def following(*buses: Bus) -> None:
    """Return when each knows where its ledger ends: a bus publishes only what is committed from then on."""
    async with asyncio.timeout(60):
        for bus in buses:
            assert isinstance(bus, RedisBus)
            while bus._tail._floor is None:  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0)


@asynccontextmanager
async def members(
    bus: Bus, handler: Handler, *, count: int = 1, group: str = "g", pattern: str = "step.*", after: int = 0
) -> AsyncGenerator[None, None]:
    """Members of a group, for as long as the test is inside."""
    tasks = [asyncio.create_task(bus.consume(group, pattern, handler, after=after)) for _ in range(count)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(end, asyncio.CancelledError) for end in ended), ended


class Seen:
    """Counts what happens, and lets a test wait for it."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._more = asyncio.Event()

    @property
    def positions(self) -> list[int]:
        return [event.position for event in self.events]

    def add(self, event: Event) -> None:
        self.events.append(event)
        self._more.set()

    async def until(self, holds: Callable[[], bool], *, within_s: float = 60) -> None:
        async with asyncio.timeout(within_s):
            while not holds():
                self._more.clear()
                await self._more.wait()

    async def count(self, number: int) -> None:
        await self.until(lambda: len(self.events) >= number)


async def settled(ledger: Ledger, position: int, group: str = "g") -> None:
    """Return when the group has settled everything up to a position."""
    async with asyncio.timeout(60):
        while await ledger.cursor(f"bus/{group}") < position:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
