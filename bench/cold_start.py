"""How long a person waits: `silicon --help`, `silicon run` until its first event, and on Ray until its first order.

    python bench/cold_start.py [--json] [--repeat 5] [--organisation examples/three_airports --goal "…"]

Each start is a fresh process. The raw limit, taken in turns with it, is an interpreter that does nothing; for the run
it is an interpreter that commits one row to SQLite, and on Ray a bare `ray.init()`, with its import. On Ray the first
event is stored before Ray starts, so there it is the first order that counts, which a host accepts.
`PYTHONDONTWRITEBYTECODE` is left out of the environment, as it makes every start compile everything anew.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parent.parent
SILICON = [sys.executable, "-c", "from console.cli.main import run; run()"]
GOAL = "Why were so many flights cancelled at the three airports?"
COMMIT = (
    "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('PRAGMA journal_mode=WAL');"
    "c.execute('CREATE TABLE events (x)'); c.execute('INSERT INTO events VALUES (1)'); c.commit()"
)
RAY = "import ray; ray.init(include_dashboard=False, log_to_driver=False, logging_level='ERROR')"
ANY_EVENT = "SELECT 1 FROM events LIMIT 1"
AN_ORDER = "SELECT 1 FROM events JOIN names ON number = type WHERE text = 'order.accepted' LIMIT 1"
LONGEST_S = 120.0


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "SILICON_HOME": str(home), "PYTHONPATH": str(ROOT)}


def to_end(command: list[str], home: Path) -> float:
    """Seconds until the process has ended."""
    begun = time.perf_counter()
    done = subprocess.run(
        command, cwd=ROOT, env=environment(home), capture_output=True, text=True, timeout=LONGEST_S, check=False
    )
    taken = time.perf_counter() - begun
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2_000:]}")
    return taken


def to_first_event(command: list[str], home: Path, event: str = ANY_EVENT) -> float:
    """Seconds until the ledger holds such an event; the process is stopped then, as a person would with Ctrl-C."""
    begun = time.perf_counter()
    with subprocess.Popen(
        command, cwd=ROOT, env=environment(home), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        while not has_event(home / "silicon.db", event):
            if process.poll() is not None or time.perf_counter() - begun > LONGEST_S:
                process.kill()
                said = process.stderr.read() if process.stderr else ""
                raise SystemExit(f"{' '.join(command)} wrote no event:\n{said[-2_000:]}")
            time.sleep(0.002)
        taken = time.perf_counter() - begun
        process.terminate()
        try:
            process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
    return taken


def has_event(file: Path, event: str) -> bool:
    if not file.exists():
        return False
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=0.01)) as ledger:
            return bool(ledger.execute(event).fetchone())
    except sqlite3.OperationalError:  # it is being made just now
        return False


def compare(name: str, ours: Callable[[Path], float], raw: Callable[[Path], float], *, repeat: int) -> dict[str, Any]:
    taken: list[float] = []
    limit: list[float] = []
    for number in range(repeat + 1):
        with tempfile.TemporaryDirectory(prefix="cold-start-") as home:
            pair = raw(Path(home) / "raw"), ours(Path(home))
        if number:  # the first start compiles; it is not counted
            limit.append(pair[0])
            taken.append(pair[1])
    return {
        "what": name,
        "ms": round(median(taken) * 1e3),
        "raw_ms": round(median(limit) * 1e3),
        "ratio": round(median(taken) / median(limit), 1),
        "all_ms": [round(one * 1e3) for one in taken],
    }


def measure(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    run = [*SILICON, "run", str(arguments.organisation), arguments.goal, "--json", *arguments.more]
    found = [
        compare(
            "silicon --help",
            lambda home: to_end([*SILICON, "--help"], home),
            lambda home: to_end([sys.executable, "-c", "pass"], home),
            repeat=arguments.repeat,
        )
    ]
    if arguments.organisation.is_dir():
        found.append(
            compare(
                "silicon run, to the first event",
                lambda home: to_first_event(run, home),
                lambda home: to_end([sys.executable, "-c", COMMIT, str(home)], home),
                repeat=arguments.repeat,
            )
        )
        found.append(
            compare(
                "silicon run --engine ray, to the first order",
                lambda home: to_first_event([*run, "--engine", "ray"], home, AN_ORDER),
                lambda home: to_end([sys.executable, "-c", RAY], home),
                repeat=max(1, arguments.repeat // 2),
            )
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--organisation", type=Path, default=ROOT / "examples" / "three_airports")
    parser.add_argument("--goal", default=GOAL)
    parser.add_argument("more", nargs="*", help="further arguments of `silicon run`, after `--`")
    arguments = parser.parse_args()
    found = measure(arguments)
    if arguments.json:
        print(json.dumps({"bench": "cold_start", "starts": found}))
        return
    for one in found:
        print(f"{one['what']}: {one['ms']} ms; raw limit {one['raw_ms']} ms, ratio {one['ratio']}")


if __name__ == "__main__":
    main()
