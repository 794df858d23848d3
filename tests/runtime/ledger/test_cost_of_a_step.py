"""What one durable step costs, in exact counts: one fsync, and bytes that do not grow with the history."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from contracts import ExecutionId, OrderId
from runtime.ledger import open_store
from runtime.ledger.port import Append, NewEvent
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[3]
STEPPER = Path(__file__).with_name("stepper.py")


def fsyncs(home: Path, count: int) -> int:
    """How often a process that appends `count` steps asks the disk to be sure, counted by the kernel."""
    trace = home / "trace"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = ["strace", "-f", "-o", str(trace), "-e", "trace=fsync,fdatasync", sys.executable, str(STEPPER)]
    done = subprocess.run(
        [*command, str(home), str(count)], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode and re.search("ptrace|PTRACE", done.stderr):
        pytest.skip(f"strace may not trace here: {done.stderr.strip()[:200]}")
    assert done.returncode == 0, done.stderr
    return len(re.findall(r"\bf(?:data)?sync\(\d+", trace.read_text()))


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace, which counts system calls, is not installed")
def test_a_step_takes_one_fsync(tmp_path: Path) -> None:
    counts = [1, 101]
    homes = [tmp_path / str(count) for count in counts]
    for home in homes:
        home.mkdir()
    few, many = (fsyncs(home, count) for home, count in zip(homes, counts, strict=True))

    assert many - few == 100


@pytest.mark.parametrize("steps", [100, 1_000, 10_000])
async def test_a_step_takes_no_more_than_320_bytes_however_long_the_history(tmp_path: Path, steps: int) -> None:
    assert await bytes_a_step(tmp_path, steps) <= 320


async def test_the_bytes_of_a_step_are_the_same_from_a_hundred_to_ten_thousand(tmp_path: Path) -> None:
    short, long = await bytes_a_step(tmp_path / "a", 100), await bytes_a_step(tmp_path / "b", 10_000)

    assert 0.9 <= long / short <= 1.1


async def bytes_a_step(home: Path, steps: int) -> float:
    """Append steps and return by how much each made the file larger than that of an empty ledger."""
    store = await open_store(LedgerSettings(synchronous="NORMAL"), home=home, clock=HandClock())
    await store.close()
    empty = (home / "silicon.db").stat().st_size
    store = await open_store(LedgerSettings(synchronous="NORMAL"), home=home, clock=HandClock())
    order, execution = OrderId.new(), ExecutionId.new()
    batch = min(steps, 50)
    for version in range(0, steps, batch):
        events = [NewEvent("step.finished", {"result": "x" * 78})] * batch
        append = Append(order, events, version, "acme", "/organisation/acme/clerk", execution, trace_id="trace")
        await store.ledger.append(append)
    await store.close()  # a checkpoint: everything is in the one file
    return ((home / "silicon.db").stat().st_size - empty) / steps
