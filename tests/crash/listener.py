"""A process that hears everything over the bus: one subscriber, and one member of a group, for as long as it lives.

    python -m tests.crash.listener URL REDIS FILE      FILE gets a line for each event the subscriber was given

The subscriber keeps its position in FILE, as a reader outside does; the group keeps its own in the ledger.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import NoReturn

from contracts import Event
from runtime.bus import Bus, open_bus
from runtime.clock import SystemClock
from runtime.errors import LedgerError
from runtime.ledger import open_store
from runtime.ledger.port import Append, NewEvent
from runtime.settings import BusSettings, LedgerSettings

GROUP, PATTERN = "soak", "step.finished"
AGAIN_S = 0.2
"""Between two looks at a ledger that is away."""


async def note(event: Event) -> Sequence[Append]:
    """Note the event in a stream of its own, which takes exactly one note."""
    noted = NewEvent("event.noted", {"position": event.position})
    return [Append(f"noted/{event.position}", [noted], 0, event.organisation, "/soak")]


async def subscribe(bus: Bus, file: Path, position: int) -> NoReturn:
    """Write the position of every event, once and in order, whatever happens to the ledger and to Redis."""
    with file.open("a", buffering=1) as lines:  # a line at a time
        while True:
            try:
                async with aclosing(bus.subscribe("*", after=position)) as events:
                    async for event in events:
                        lines.write(f"{event.position}\n")
                        position = event.position
            except LedgerError:
                await asyncio.sleep(AGAIN_S)


async def consume(bus: Bus) -> NoReturn:
    """Be a member of the group for ever."""
    while True:
        try:
            await bus.consume(GROUP, PATTERN, note)
        except LedgerError:
            await asyncio.sleep(AGAIN_S)


async def main(url: str, redis: str, file: str, position: int) -> None:
    """Listen until killed."""
    while True:
        try:
            store = await open_store(LedgerSettings(url=url), home=Path(file).parent, clock=SystemClock())
            bus = await open_bus(BusSettings(url=redis, stale_s=2.0), store)
            break
        except LedgerError:
            await asyncio.sleep(AGAIN_S)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(subscribe(bus, Path(file), position))
        tasks.create_task(consume(bus))


if __name__ == "__main__":
    _url, _redis, _file = sys.argv[1:]
    _heard = Path(_file).read_text().split() if Path(_file).exists() else []
    asyncio.run(main(_url, _redis, _file, int(_heard[-1]) if _heard else 0))
