"""A process of its own that appends one step after the other: `stepper.py HOME COUNT`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.ledger.port import Append, NewEvent
from runtime.settings import LedgerSettings


async def main(home: Path, count: int) -> None:
    store = await open_store(LedgerSettings(), home=home, clock=SystemClock())
    for version in range(count):
        step = NewEvent("step.finished", {"result": "x" * 78})
        await store.ledger.append(Append("order/a", [step], version, "acme", "/organisation/acme"))
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
