"""A process whose files may not grow beyond a size: `filler.py HOME BYTES`; it appends for as long as it can."""

from __future__ import annotations

import asyncio
import resource
import sys
from pathlib import Path

from runtime.clock import SystemClock
from runtime.errors import LedgerUnavailable
from runtime.ledger import open_store
from runtime.ledger.port import Append, NewEvent
from runtime.settings import LedgerSettings


async def main(home: Path, limit: int) -> None:
    store = await open_store(LedgerSettings(), home=home, clock=SystemClock())
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    finished = 0
    try:
        while True:
            event = NewEvent("step.finished", {"x": "y" * 5_000})
            await store.ledger.append(Append("order/a", [event], finished, "acme", "/organisation/acme"))
            finished += 1
    except LedgerUnavailable as error:
        print(finished, error.message)
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
