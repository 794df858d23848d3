"""What it costs to run one script in a slot, under each sandbox driver that works on this machine, cold and warm.

    python bench/sandbox.py [--json] [--repeat 20]

The raw limit, taken in turns with them, is the same Python in a plain subprocess that reads the same inputs and prints
the result: no limits, no watching, nothing ended afterwards. A ratio of 2 means that the slot doubles it. Cold, the
first script of an order: the folder is made and the interpreter started when it comes; warm, both were there already.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from rig import median  # puts the project's own `cluster` before the one of this folder

from cluster.sandbox import BubblewrapDriver, RlimitsDriver, SandboxDriver
from cluster.sandbox.bubblewrap import why_not
from cluster.sandbox.inside import landlock
from cluster.sandbox.slot_sandbox import ProcessSandbox
from runtime.settings import SlotSettings

WAITED_S = 0.3
SCRIPT = "result = inputs['a'] + 1"
RAW = "import json, sys; inputs = json.load(sys.stdin); print(json.dumps(inputs['a'] + 1))"


def drivers() -> dict[str, SandboxDriver]:
    settings = SlotSettings()
    found: dict[str, SandboxDriver] = {"rlimits": RlimitsDriver.for_slot(settings, 90)}
    if landlock.abi():
        found["rlimits+landlock"] = RlimitsDriver.for_slot(settings, 91, use_landlock=True)
    if not why_not():
        found["bubblewrap"] = BubblewrapDriver.for_slot(settings, 92)
    return found


async def raw() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-B", "-c", RAW, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        env={"PATH": os.defpath},
    )  # fmt: skip
    assert (await process.communicate(b'{"a": 1}'))[0] == b"2\n"


async def first_script(driver: SandboxDriver, folder: Path, *, warm: bool) -> float:
    """Return the seconds from an order's coming to the result of its first script."""
    slot = None
    if warm:
        slot = await driver.open(folder)
        assert isinstance(slot, ProcessSandbox)
        await slot.warm_up()
        await asyncio.sleep(WAITED_S)  # the interpreter starts meanwhile, as it does between two orders
    begun = time.perf_counter()
    slot = slot or await driver.open(folder)
    ended = await slot.run_python(SCRIPT, stdin=b'{"a": 1}')
    taken = time.perf_counter() - begun
    assert json.loads(ended.answer)["result"] == 2, ended
    await driver.close(slot)
    return taken


async def measure(repeat: int, folder: Path) -> dict[str, float]:
    """Return the median seconds of one run, by driver."""
    found = drivers()
    taken: dict[str, list[float]] = {"raw": []}
    for number in range(repeat):
        begun = time.perf_counter()
        await raw()
        taken["raw"].append(time.perf_counter() - begun)
        for name, driver in found.items():
            for warm in (False, True):
                seconds = await first_script(driver, folder / f"{name}-{number}", warm=warm)
                taken.setdefault(f"{name}, {'warm' if warm else 'cold'}", []).append(seconds)
    return {name: median(times) for name, times in taken.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--repeat", type=int, default=20, help="runs of each, in turns")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        taken = asyncio.run(measure(given.repeat, Path(folder)))
    told = {name: {"ms": round(s * 1_000, 1), "ratio": round(s / taken["raw"], 2)} for name, s in taken.items()}
    if given.json:
        print(json.dumps(told))
        return
    for name, row in told.items():
        print(f"{name:24} {row['ms']:8.1f} ms  {row['ratio']:5.2f} ×")


if __name__ == "__main__":
    main()
