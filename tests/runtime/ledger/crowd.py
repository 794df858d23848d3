"""Many processes on one ledger: `crowd.py URL WRITERS APPENDS READERS`; it ends with 0 when every reader saw all.

The processes are forked from one that has imported everything, before any loop or thread exists in it.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from runtime.clock import SystemClock
from runtime.errors import VersionConflict
from runtime.ledger import open_store, opening  # noqa: F401 - imported once, before the forks
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings

LANES = 10
"""Appends that a writer has under way at once; one of them goes to a stream that all writers share."""


async def opened(url: str) -> SqlStore:
    settings = LedgerSettings(url=url, synchronous="NORMAL", busy_timeout_s=60)
    return await open_store(settings, home=Path(), clock=SystemClock())


async def write(url: str, name: str, count: int) -> None:
    store = await opened(url)
    await asyncio.gather(*(lane(store, name, number, count // LANES) for number in range(LANES)))
    await store.close()


async def lane(store: SqlStore, name: str, number: int, count: int) -> None:
    stream = f"order/{'shared' if number == 0 else name}-{number}"
    version = 0
    for turn in range(count):
        data = {"by": f"{name}-{number}", "n": turn}
        while True:
            fact = Append(stream, [NewEvent("step.finished", data)], version, "acme", "/organisation/acme")
            try:
                await store.ledger.append(fact)
            except VersionConflict as conflict:
                version = int(str(conflict.facts["actual"]))
            else:
                version += 1
                break


async def follow(url: str, wanted: int) -> None:
    """Read with a cursor until all is there; raise where a position is missing, comes twice or out of order."""
    store = await opened(url)
    seen = 0
    turns: dict[str, int] = {}
    while seen < wanted:
        events = await store.ledger.read_all(after=seen, limit=700)
        if not events:
            await asyncio.sleep(0.02)  # a reader that looks without pause takes a core from the writers
        for event in events:
            assert event.position == seen + 1, f"{event.position} after {seen}"
            assert event.data is not None
            lane = str(event.data["by"])
            assert event.data["n"] == turns.get(lane, -1) + 1, f"{event.data} after {turns.get(lane)}"
            turns[lane] = int(str(event.data["n"]))
            seen = event.position
    assert seen == wanted == await store.ledger.head()
    await store.close()


def forked(work: Coroutine[Any, Any, None]) -> int:
    process = os.fork()
    if process == 0:
        try:
            asyncio.run(work)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    work.close()
    return process


def main(url: str, writers: int, appends: int, readers: int) -> int:
    started = [forked(follow(url, writers * appends)) for _ in range(readers)]
    started += [forked(write(url, f"w{number}", appends)) for number in range(writers)]
    return max(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in started)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
