"""A process that works on an order and is killed in the middle of it."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path

from contracts import TaskOrder

_ROOT = Path(__file__).parents[2]
_PROGRAM = """
import asyncio, json, sys
from importlib import import_module
from pathlib import Path
from contracts import TaskOrder

async def main():
    module, home = import_module(sys.argv[1]), Path(sys.argv[2])
    world = await module.a_world(home, stuck=True)
    await world.run(TaskOrder.read(json.loads((home / "order.json").read_text())))

asyncio.run(main())
"""


async def killed_when_stuck(module: str, home: Path, order: TaskOrder) -> None:
    """Let a process work on the order in `a_world(home, stuck=True)` of a module until it says `stuck`, and kill it."""
    (home / "order.json").write_text(json.dumps(order.to_json()))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _PROGRAM, module, str(home), cwd=_ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert await asyncio.wait_for(process.stdout.readline(), 60) == b"stuck\n"
    process.send_signal(signal.SIGKILL)
    await process.wait()
