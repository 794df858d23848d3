"""A process of its own that appends: `appender.py URL NAME COUNT [print]`.

Each event goes to one of three streams that all appenders share, so they conflict, fold and decide again.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from runtime.clock import SystemClock
from runtime.errors import VersionConflict
from runtime.ledger import open_store
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings


async def main(url: str, name: str, count: int, tell: bool) -> None:
    store = await open_store(LedgerSettings(url=url, synchronous="NORMAL"), home=Path(), clock=SystemClock())
    for number in range(count):
        position = await append(store, f"order/{number % 3}", {"by": name, "n": number})
        if tell:
            print(position, flush=True)
    await store.close()


async def append(store: SqlStore, stream: str, data: dict[str, object]) -> int:
    version = 0
    while True:
        fact = Append(stream, [NewEvent("step.finished", data)], version, "acme", "/organisation/acme")
        try:
            (event,) = await store.ledger.append(fact)
        except VersionConflict as conflict:
            version = int(str(conflict.facts["actual"]))
        else:
            return event.position


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), "print" in sys.argv))
