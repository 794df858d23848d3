"""How fast committed events reach subscribers: inside one process, and through Redis, against raw pipelined XADD.

    python bench/bus.py [--json] [--events 5000] [--folder /dev/shm]

Events of a 90-byte result are committed twenty at a time while one subscriber follows from the first position; the rate
is that from the first commit to the delivery of the last event, so it holds the commits as well. Raw is one client that
sends the same number of XADD with the same bytes in pipelines of twenty to the same Redis (one of the bench's own, on a
free port; without the program that part is left out). Each measurement is taken three times, in turns.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

from rig import RESULT, folders, kind_of, median, parser, show

from contracts import OrderId
from runtime.bus.opening import open_bus
from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from runtime.settings.groups import BusSettings

AT_ONCE = 20


async def commit(store: SqlStore, events: int) -> None:
    order = OrderId.new()
    for first in range(0, events, AT_ONCE):
        facts = [NewEvent("step.finished", RESULT)] * AT_ONCE
        await store.ledger.append(Append(order, facts, first, "bench", "/organisation/bench"))


async def delivered(folder: Path, url: str, events: int) -> float:
    """Return events a second from the first commit to the delivery of the last."""
    async with opened(folder, url) as (store, bus):
        after = await store.ledger.head()

        async def follow() -> None:
            left = events
            async with aclosing(bus.subscribe("step.*", after=after)) as seen:
                async for _ in seen:
                    left -= 1
                    if not left:
                        return

        following = asyncio.ensure_future(follow())
        await asyncio.sleep(0.05)
        begun = time.perf_counter()
        await commit(store, events)
        await following
        return events / (time.perf_counter() - begun)


async def committed(folder: Path, events: int) -> float:
    """Return commits alone, as events a second: what no bus can be faster than."""
    async with opened(folder, "") as (store, _):
        begun = time.perf_counter()
        await commit(store, events)
        return events / (time.perf_counter() - begun)


@asynccontextmanager
async def opened(folder: Path, url: str) -> AsyncIterator[tuple[SqlStore, Any]]:
    with tempfile.TemporaryDirectory(dir=folder, prefix="bus-") as home:
        store = await open_store(LedgerSettings(), home=Path(home), clock=SystemClock())
        bus = await open_bus(BusSettings(url=url), store)
        yield store, bus
        await bus.close()
        await store.close()


async def raw(url: str, events: int) -> float:
    from redis.asyncio import Redis

    client, data = Redis.from_url(url), json.dumps(RESULT)
    begun = time.perf_counter()
    for _ in range(0, events, AT_ONCE):
        pipeline = client.pipeline(transaction=False)
        for _ in range(AT_ONCE):
            pipeline.execute_command("XADD", "raw", "*", "data", data)
        await pipeline.execute()
    taken = time.perf_counter() - begun
    await client.aclose()
    return events / taken


async def measurements(arguments: argparse.Namespace) -> dict[str, Any]:
    from tests.servers import Redis, find_program

    folder, events = folders(arguments.folder)[0], arguments.events
    taken: dict[str, list[float]] = {"commits alone": [], "in process": [], "through Redis": [], "raw XADD": []}
    with tempfile.TemporaryDirectory(prefix="bus-") as home:
        server = Redis(Path(home)) if find_program("redis-server") else None
        if server:
            server.__enter__()
        try:
            for _ in range(3):
                taken["commits alone"].append(await committed(folder, events))
                taken["in process"].append(await delivered(folder, "", events))
                if server:
                    taken["through Redis"].append(await delivered(folder, server.url, events))
                    taken["raw XADD"].append(await raw(server.url, events))
        finally:
            if server:
                server.__exit__()
    found = {name: round(median(rates)) for name, rates in taken.items() if rates}
    limit = found.get("raw XADD")
    ratios = {name: round(rate / limit, 2) for name, rate in found.items()} if limit else {}
    return {"bench": "bus", "on": kind_of(folder), "events": events, "per_s": found, "of_raw": ratios}


def lines(found: Mapping[str, Any]) -> list[str]:
    return [
        f"{name}: {rate} events a second" + (f", {found['of_raw'][name]} of raw XADD" if found["of_raw"] else "")
        for name, rate in found["per_s"].items()
    ]


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--events", type=int, default=5_000)
    arguments = made.parse_args()
    show(asyncio.run(measurements(arguments)), lines, as_json=arguments.json)


if __name__ == "__main__":
    main()
