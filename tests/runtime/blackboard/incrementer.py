"""Processes that add one to a key of the board: `incrementer.py DATABASE EXECUTION PROCESSES TIMES ALONE`.

ALONE of the times they commit by itself, the others fifty at a time, each a version that rests on the one before.
They are forked from one that has imported everything, before it has a thread or a loop.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
from pathlib import Path

from contracts import ExecutionId, Json
from runtime.blackboard import LedgerBlackboard
from runtime.clock import SystemClock
from runtime.errors import VersionConflict
from runtime.ledger import open_store
from runtime.ledger.port import Ledger
from runtime.settings import BlackboardSettings, LedgerSettings

TOGETHER = 50


async def main(url: str, execution_id: ExecutionId, times: int, alone: int) -> None:
    store = await open_store(LedgerSettings(url=url, synchronous="NORMAL"), home=Path(), clock=SystemClock())
    board = LedgerBlackboard(store.ledger, execution_id, organisation="acme", settings=BlackboardSettings())
    for _ in range(alone):
        await board.update("count", one_more, employee="clerk", step="count")
    for _ in range((times - alone) // TOGETHER):
        while not await added_together(store.ledger, board):  # noqa: ASYNC110
            await asyncio.sleep(random.uniform(0, 0.02))
    await store.close()


def one_more(value: Json) -> Json:
    assert value is None or isinstance(value, int)
    return (value or 0) + 1


async def added_together(ledger: Ledger, board: LedgerBlackboard) -> bool:
    """Add one fifty times in one commit; return whether nobody else was faster."""
    entry = await board.read("count")
    version, value = (entry.version, entry.value) if entry else (0, None)
    writes = []
    for expected in range(version, version + TOGETHER):
        value = one_more(value)
        writes.append(board.write("count", value, expected_version=expected, employee="clerk", step="count"))
    try:
        await ledger.append(*writes)
    except VersionConflict:
        return False
    return True


def run(url: str, execution_id: str, processes: int, times: int, alone: int) -> int:
    """Return 0 when every process came to its end."""
    children = []
    for _ in range(processes):
        child = os.fork()
        if child == 0:
            asyncio.run(main(url, ExecutionId(execution_id), times, alone))
            os._exit(0)
        children.append(child)
    return max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])))
