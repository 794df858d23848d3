"""A process of its own that works for a group: `worker.py DATABASE REDIS STALE_S`. It tells of every event."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from contracts import Event
from runtime.bus import open_bus
from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.ledger.port import Append
from runtime.settings import BusSettings, LedgerSettings
from tests.runtime.bus.messages import receipt

MEMBERS = 4


async def main(database: str, redis: str, stale_s: float) -> None:
    store = await open_store(LedgerSettings(url=database, synchronous="NORMAL"), home=Path(), clock=SystemClock())
    bus = await open_bus(BusSettings(url=redis, stale_s=stale_s, retry_first_s=0), store)

    async def handle(event: Event) -> Sequence[Append]:
        print(event.position, flush=True)
        return [receipt(event)]

    print(0, flush=True)
    async with asyncio.TaskGroup() as group:
        for _ in range(MEMBERS):
            group.create_task(bus.consume("g", "step.*", handle))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], float(sys.argv[3])))
