"""What it costs to run one script in a slot, under each sandbox driver that works on this machine.

    python bench/sandbox.py [--json] [--repeat 20]

The raw limit, taken in turns with them, is the same Python in a plain subprocess that reads the same inputs and prints
the result: no limits, no watching, nothing ended afterwards. A ratio of 2 means that the slot doubles it.
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
from statistics import median

from cluster.sandbox import BubblewrapDriver, RlimitsDriver, SandboxDriver
from cluster.sandbox.bubblewrap import why_not
from cluster.sandbox.inside import landlock
from runtime.settings import SlotSettings

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


async def measure(repeat: int, folder: Path) -> dict[str, float]:
    """Return the median seconds of one run, by driver."""
    found = drivers()
    slots = {name: await driver.open(folder / name) for name, driver in found.items()}
    taken: dict[str, list[float]] = {name: [] for name in ("raw", *found)}
    for _ in range(repeat):
        for name, times in taken.items():
            begun = time.perf_counter()
            if name == "raw":
                await raw()
            else:
                ended = await slots[name].run_python(SCRIPT, stdin=b'{"a": 1}')
                assert json.loads(ended.answer)["result"] == 2, ended
            times.append(time.perf_counter() - begun)
    for name, driver in found.items():
        await driver.close(slots[name])
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
        print(f"{name:18} {row['ms']:8.1f} ms  {row['ratio']:5.2f} ×")


if __name__ == "__main__":
    main()
