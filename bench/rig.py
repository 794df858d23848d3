"""What the benches share: the raw limit, an engine around one trivial capability, and the form of what they print."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from contracts import Effect, ExecutionId, Json, OrderId, PlanDefinition, TaskOrder  # noqa: E402
from runtime.capabilities.port import Allowed, CallContext, CallResult, CapabilitySpec, EffectRequest  # noqa: E402
from runtime.capabilities.registry import Registry  # noqa: E402
from runtime.capabilities.router import Router  # noqa: E402
from runtime.clock import SystemClock  # noqa: E402
from runtime.engine.engine import Engine  # noqa: E402
from runtime.garbage import look_rarely, pass_over_the_start  # noqa: E402
from runtime.ledger.port import Store  # noqa: E402
from runtime.settings.groups import EngineSettings  # noqa: E402
from runtime.telemetry.redaction import redact  # noqa: E402

look_rarely()  # as the program does

LONGEST_ON_DISK = 1_000
RESULT = {"result": "x" * 77}
"""90 bytes as canonical JSON: `{"result":"` and `"}` take 13."""


def open_raw(file: Path, kind: type[sqlite3.Connection] = sqlite3.Connection) -> sqlite3.Connection:
    """Open the raw limit: one row and one commit at a time, in WAL with synchronous=FULL."""
    raw = sqlite3.connect(file, isolation_level=None, factory=kind)
    raw.execute("PRAGMA journal_mode=WAL")
    raw.execute("PRAGMA synchronous=FULL")
    raw.execute("CREATE TABLE step (id INTEGER PRIMARY KEY, data BLOB)")
    return raw


def commits(raw: sqlite3.Connection, count: int) -> list[float]:
    """Return how long each of `count` raw commits took, s."""
    data, taken = json.dumps(RESULT, separators=(",", ":")).encode(), []
    for _ in range(count):
        begun = time.perf_counter()
        raw.execute("BEGIN IMMEDIATE")
        raw.execute("INSERT INTO step (data) VALUES (?)", (data,))
        raw.execute("COMMIT")
        taken.append(time.perf_counter() - begun)
    return taken


class Work:
    """A capability that gives the same 90 bytes each time; `seen` is told of every call."""

    spec = CapabilitySpec(
        name="work", kind="builtin_tool", description="Gives 90 bytes.", parameters={}, gives={}, effect=Effect.READ,
        open_arguments=True,
    )  # fmt: skip

    def __init__(self, seen: Callable[[], None]) -> None:
        self._seen = seen

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Give the result."""
        self._seen()
        return CallResult(output=RESULT)


class OpenGate:
    """Nothing here changes the world."""

    async def authorise(self, request: EffectRequest) -> Allowed:
        """Allow."""
        return Allowed()

    async def in_doubt(self, request: EffectRequest) -> bool:
        """Say that it happened."""
        return True


def engine_on(store: Store, seen: Callable[[], None]) -> Engine:
    """Return an engine whose only capability is `Work`, as the program wires it but for the gate and the board."""
    board: Any = None
    pass_over_the_start()
    return Engine(
        store=store, router=Router(Registry([Work(seen)])), gate=OpenGate(), clock=SystemClock(),
        settings=EngineSettings(), blackboard=board, delegate=None, leases=(), cancelled=lambda: False, redact=redact,
    )  # fmt: skip


def order_over(count: int, *, at_once: int) -> TaskOrder:
    """Return an order of one step that is carried out `count` times, its number as argument."""
    step = {"id": "each", "use": "work", "for_each": "{{ numbers }}", "at_once": at_once, "with": {"n": "{{ item }}"}}
    plan = {"parameters": {"numbers": {"type": "array"}}, "steps": [step], "gives": {"count": count}}
    return TaskOrder(
        order_id=OrderId.new(), execution_id=ExecutionId.new(), organisation="bench", employee="worker",
        issued_by="bench", objective="Work.", requested_by="bench", trace_id="0" * 32,
        plan=PlanDefinition.model_validate(plan), inputs={"numbers": list(range(count))},
    )  # fmt: skip


def folders(asked: list[Path] | None) -> list[Path]:
    """Return where to measure: in memory, and on the disk that temporary files are on, or else this folder is."""
    temporary = Path(tempfile.gettempdir())
    disk = Path.cwd() if kind_of(temporary) == "tmpfs" else temporary
    return asked or [place for place in (Path("/dev/shm"), disk) if place.is_dir()]


def lengths_on(folder: Path, asked: list[int]) -> list[int]:
    """Return how long to measure there: a long run on disk tells nothing that one in memory does not."""
    return [count for count in asked if count <= LONGEST_ON_DISK or kind_of(folder) == "tmpfs"]


def kind_of(folder: Path) -> str:
    """Return `tmpfs` or the kind of file system a folder is on."""
    best, kind = "", "unknown"
    for line in Path("/proc/mounts").read_text().splitlines() if Path("/proc/mounts").exists() else ():
        _, point, of_kind, *_ = line.split()
        if str(folder.resolve()).startswith(point) and len(point) > len(best):
            best, kind = point, of_kind
    return kind


def parser(text: str | None) -> argparse.ArgumentParser:
    """Return a parser with what all benches take."""
    made = argparse.ArgumentParser(description=(text or "").splitlines()[0])
    made.add_argument("--json", action="store_true", help="print one JSON object")
    made.add_argument("--folder", type=Path, action="append", help="where to measure; may be given several times")
    return made


def show(found: Mapping[str, Any], lines: Callable[[Mapping[str, Any]], list[str]], *, as_json: bool) -> None:
    """Print what was measured."""
    print(json.dumps(found) if as_json else "\n".join(lines(found)))


def us(seconds: float) -> float:
    """Return microseconds, to a tenth."""
    return round(seconds * 1e6, 1)


def middle(runs: list[dict[str, Any]], by: str) -> dict[str, Any]:
    """Return the run in the middle by one of its numbers."""
    return sorted(runs, key=lambda run: run[by])[len(runs) // 2]


def percentile(values: list[float], share: float) -> float:
    """Return the value that this share of all does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def machine() -> dict[str, Any]:
    """Return what the numbers were measured on."""
    model = next(
        (line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor() or platform.machine(),
    )
    memory = next((int(line.split()[1]) // 1024 for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), 0)
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "memory_mib": memory,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "load": [round(one, 1) for one in os.getloadavg()],
    }


def _lines(file: str) -> list[str]:
    return Path(file).read_text().splitlines() if Path(file).exists() else []


__all__ = ["RESULT", "ROOT", "commits", "engine_on", "folders", "kind_of", "lengths_on", "machine", "median", "middle",
           "open_raw", "order_over", "parser", "percentile", "show", "us"]  # fmt: skip


class HandClock:
    """A clock that the bench moves."""

    def __init__(self) -> None:
        self.moment = datetime(2025, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        """Return the moment."""
        return self.moment
