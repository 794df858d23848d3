"""How fast an execution goes on after its process was killed, with few and with many finished steps behind it.

    python bench/resume.py [--json] [--steps 100 1000 10000] [--repeat 5] [--folder /dev/shm]

One process carries an order out and is killed with SIGKILL in a step. Another one goes on: measured are the time from
the call of the engine to the first new step, and from the start of the process to it. Processes are new each time, and
the numbers of steps take turns, so that a busy machine slows all alike. The call of a long history over that of a
short one tells what history costs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rig import ROOT, engine_on, folders, kind_of, median, order_over, parser, show

from contracts import TaskOrder
from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.settings import LedgerSettings

MORE = 50
"""Steps that are left when the process is killed."""


async def carry_out(home: Path, steps: int) -> None:
    """Carry out the order in `home` and be killed in the step after the first `steps`."""
    left = steps

    def seen() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    await _run(home, seen)


async def go_on(home: Path) -> None:
    """Go on with the order in `home` and print when it was asked to and when the first new step began."""

    def seen() -> None:
        print(json.dumps({"asked": asked, "began": time.monotonic()}), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

    order = _order(home)
    store = await open_store(LedgerSettings(), home=home, clock=SystemClock())
    engine = engine_on(store, seen)
    asked = time.monotonic()
    await engine.run(order)


async def _run(home: Path, seen: Any) -> None:
    store = await open_store(LedgerSettings(synchronous="NORMAL"), home=home, clock=SystemClock())
    await engine_on(store, seen).run(_order(home))


def _order(home: Path) -> TaskOrder:
    return TaskOrder.read(json.loads((home / "order.json").read_text()))


def process(role: str, home: Path, *more: str) -> str:
    """Run this file in a process of its own until it kills itself; return what it said."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, __file__, role, str(home), *more], capture_output=True, text=True, check=False,
        env={**kept, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    if done.returncode != -signal.SIGKILL:
        raise SystemExit(f"{role} ended with {done.returncode}:\n{done.stderr[-2_000:]}")
    return done.stdout


def prepared(folder: Path, steps: int) -> Path:
    home = Path(tempfile.mkdtemp(dir=folder, prefix="resume-"))
    (home / "order.json").write_text(json.dumps(order_over(steps + MORE, at_once=1).to_json()))
    process("--carry-out", home, str(steps))
    return home


def measured(home: Path) -> tuple[float, float]:
    """Return seconds from the call, and from the start of the process, to the first new step."""
    begun = time.monotonic()
    said = json.loads(process("--go-on", home))
    return said["began"] - said["asked"], said["began"] - begun


def measure(folder: Path, counts: list[int], repeat: int) -> list[dict[str, Any]]:
    homes = {steps: prepared(folder, steps) for steps in counts}
    taken: dict[int, list[tuple[float, float]]] = {steps: [] for steps in counts}
    for number in range(repeat + 1):
        for steps, home in homes.items():
            one = measured(home)
            if number:  # the first start compiles
                taken[steps].append(one)
    for home in homes.values():
        shutil.rmtree(home)
    return [
        {
            "steps": steps,
            "call_ms": round(median(call for call, _ in taken[steps]) * 1e3, 1),
            "process_ms": round(median(process for _, process in taken[steps]) * 1e3),
        }
        for steps in counts
    ]


def measurements(arguments: argparse.Namespace) -> dict[str, Any]:
    places = [
        {"on": kind_of(folder), "found": measure(folder, arguments.steps, arguments.repeat)}
        for folder in folders(arguments.folder)[:1]
    ]
    return {"bench": "resume", "places": places}


def lines(found: Mapping[str, Any]) -> list[str]:
    return [
        f"{place['on']}: {run['steps']:>6} steps behind it: {run['call_ms']} ms from the call to the first new step, "
        f"{run['process_ms']} ms from the start of the process"
        for place in found["places"]
        for run in place["found"]
    ]


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--steps", type=int, nargs="+", default=[100, 1_000, 10_000])
    made.add_argument("--repeat", type=int, default=5, help="processes for each number of steps")
    arguments = made.parse_args()
    show(measurements(arguments), lines, as_json=arguments.json)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--carry-out"]:
        asyncio.run(carry_out(Path(sys.argv[2]), int(sys.argv[3])))
    elif sys.argv[1:2] == ["--go-on"]:
        asyncio.run(go_on(Path(sys.argv[2])))
    else:
        main()
