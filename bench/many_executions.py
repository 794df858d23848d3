"""Many executions at once on one store: how many appends a second, and how long each waits, against a lone one.

    python bench/many_executions.py [--json] [--executions 200] [--steps 20] [--commit-ms 1 2 5] [--folder /dev/shm]

Each execution appends one event with a 90-byte result after the other to a stream of its own; appends that are ready
together share a commit. The lone execution, measured before and after, has the store to itself. Stores: SQLite in each
folder, and MariaDB where its server is installed (one of its own, on a free port). Told is also how much processor time
of this process an append takes when many are there.

Disks differ, so the last folder's SQLite and MariaDB are measured again with commits that take 1, 2 and 5 ms longer:
the bench sleeps behind each COMMIT of its own store, on top of what the disk really took, and does the same to the raw
commits of one row that are told beside it. No slower disk was at hand; the sleep stands for its wait.

Executions come in two ways. *In a closed loop* each appends again as soon as it has its answer, so that 200 are always
waiting: it tells the most that the store can do. How long one waits follows from that alone (200 waiting, over the
appends a second), so at ten times the lone rate it is twenty lone steps at least, whatever the ledger does. *Arriving*
they do what executions do that wait for models and tools: each appends by a schedule of its own, from a random moment
on, and all together ten times as often as the lone one can. Its wait counts from the scheduled moment and not from the
call, so that an append that is called late because the one before it took long is not passed over.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pymysql
from rig import RESULT, commits, folders, kind_of, median, open_raw, parser, percentile, show
from slow_commits import mysql_cursor, slow, sqlite_connection

from contracts import ExecutionId, OrderId
from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.ledger.database import parse_address
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings

LONE_STEPS, LONE_STEPS_SLOW = 300, 100
TIMES_LONE = 10
"""How often executions that arrive append, all together, over the lone one's rate."""


class Execution:
    """Appends one step after the other to a stream of its own."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self._order, self._id = OrderId.new(), ExecutionId.new()
        self._version = 0

    async def step(self) -> None:
        event = NewEvent("step.finished", RESULT)
        source = "/organisation/bench/worker"
        await self._store.ledger.append(Append(self._order, [event], self._version, "bench", source, self._id, "bench"))
        self._version += 1

    async def in_a_row(self, steps: int, taken: list[float]) -> None:
        """Append again as soon as the last one is stored."""
        for _ in range(steps):
            begun = time.perf_counter()
            await self.step()
            taken.append(time.perf_counter() - begun)

    async def by_schedule(self, first: float, every: float, steps: int, taken: list[float]) -> None:
        """Append at these moments; what was to be done earlier goes first, and its wait counts."""
        for number in range(steps):
            scheduled = first + number * every
            await asyncio.sleep(scheduled - time.perf_counter())
            await self.step()
            taken.append(time.perf_counter() - scheduled)


async def measure(store: SqlStore, executions: int, steps: int, *, arriving: bool) -> dict[str, Any]:
    lone_steps = LONE_STEPS_SLOW if arriving else LONE_STEPS
    await Execution(store).in_a_row(30, [])
    alone: list[float] = []
    await Execution(store).in_a_row(lone_steps, alone)
    together: list[float] = []
    begun, worked = time.perf_counter(), time.process_time()
    await asyncio.gather(*(Execution(store).in_a_row(steps, together) for _ in range(executions)))
    seconds, worked = time.perf_counter() - begun, time.process_time() - worked
    await Execution(store).in_a_row(lone_steps, alone)
    lone, waits = sum(alone) / len(alone), percentile(together, 0.99)
    return {
        "executions": executions,
        "lone_per_s": round(1 / lone),
        "together_per_s": round(executions * steps / seconds),
        "times": round(executions * steps / seconds * lone, 1),
        "processor_us": round(worked / executions / steps * 1e6),
        "lone_ms": round(median(alone) * 1e3, 2),
        "p99_ms": round(waits * 1e3, 2),
        "p99_times": round(waits / median(alone), 1),
        **(await measure_arriving(store, executions, steps, lone, median(alone)) if arriving else {}),
    }


async def measure_arriving(store: SqlStore, count: int, steps: int, mean: float, usual: float) -> dict[str, Any]:
    """Measure `count` executions that arrive, ten to the mean time of a lone step."""
    every = count * mean / TIMES_LONE
    executions = [Execution(store) for _ in range(count)]
    taken: list[float] = []
    begun = time.perf_counter() + 0.1
    chance = random.Random(7)
    await asyncio.gather(*(one.by_schedule(begun + chance.random() * every, every, steps, taken) for one in executions))
    waits = percentile(taken, 0.99)
    return {
        "arriving_per_s": round(TIMES_LONE / mean),
        "stored_per_s": round(count * steps / (time.perf_counter() - begun)),
        "arriving_median_ms": round(median(taken) * 1e3, 2),
        "arriving_p99_ms": round(waits * 1e3, 2),
        "arriving_p99_times": round(waits / usual, 1),
    }


async def on_sqlite(folder: Path, executions: int, steps: int, slower_ms: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=folder, prefix="many-executions-") as home:
        raw = open_raw(Path(home) / "raw.db", sqlite_connection(slower_ms / 1e3))
        commit_ms = round(median(commits(raw, 100)) * 1e3, 2)
        raw.close()
        store = await open_store(LedgerSettings(), home=Path(home), clock=SystemClock())
        found = await measured(store, executions, steps, slower_ms)
    return {"store": f"SQLite on {kind_of(folder)}", "raw_commit_ms": commit_ms, **found}


async def on_mariadb(executions: int, steps: int, slower_ms: Sequence[float]) -> list[dict[str, Any]]:
    from tests.servers import MariaDb, find_program

    if not all(find_program(name) for name in MariaDb.programs):
        return []
    told, home = [], Path(tempfile.mkdtemp(prefix="many-executions-"))
    name = f"MariaDB on {kind_of(Path(tempfile.gettempdir()))}"
    with MariaDb(home) as server:
        for more in slower_ms:
            with server.database() as url:
                commit_ms = raw_on_mariadb(url, more)
                store = await open_store(LedgerSettings(url=url), home=home, clock=SystemClock())
                found = await measured(store, executions, steps, more)
            told.append({"store": name, "raw_commit_ms": commit_ms, **found})
    shutil.rmtree(home)
    return told


def raw_on_mariadb(url: str, slower_ms: float) -> float:
    """Return how long the driver takes for a commit of one row, ms."""
    to = parse_address(url)
    with closing(
        pymysql.connect(
            host=to.host, port=to.port or 3306, user=to.username, password=to.password or "", database=to.database,
            cursorclass=mysql_cursor(slower_ms / 1e3), autocommit=True,
        )
    ) as connection:  # fmt: skip
        cursor = connection.cursor()
        cursor.execute("CREATE TABLE step (id INT PRIMARY KEY AUTO_INCREMENT, data BLOB)")
        taken = []
        for _ in range(100):
            begun = time.perf_counter()
            cursor.execute("BEGIN")
            cursor.execute("INSERT INTO step (data) VALUES (%s)", (b"x" * 90,))
            cursor.execute("COMMIT")
            taken.append(time.perf_counter() - begun)
        cursor.execute("DROP TABLE step")
    return round(median(taken) * 1e3, 2)


async def measured(store: SqlStore, executions: int, steps: int, slower_ms: float) -> dict[str, Any]:
    if slower_ms:
        slow(store, slower_ms / 1e3)
    found = await measure(store, executions, steps, arriving=slower_ms > 0)
    await store.close()
    return {"slower_ms": slower_ms, **found}


async def measurements(arguments: argparse.Namespace) -> dict[str, Any]:
    asked, places = (arguments.executions, arguments.steps), folders(arguments.folder)
    found = [await on_sqlite(folder, *asked, 0) for folder in places]
    found += [await on_sqlite(places[-1], *asked, more) for more in arguments.commit_ms]
    server = await on_mariadb(*asked, [0, *arguments.commit_ms])
    skipped = {} if server else {"skipped": "MariaDB: it is not installed"}
    return {"bench": "many_executions", "found": [*found, *server], **skipped}


def lines(found: Mapping[str, Any]) -> list[str]:
    told = []
    for run in found["found"]:
        slower = f", commits {run['slower_ms']:g} ms slower" if run["slower_ms"] else ""
        told.append(
            f"{run['store']}{slower} (raw {run['raw_commit_ms']} ms): {run['executions']} executions "
            f"{run['together_per_s']} appends a second, alone {run['lone_per_s']}, {run['times']} times as many, "
            f"{run['processor_us']} µs of processor each; p99 {run['p99_ms']} ms, {run['p99_times']} × the lone median "
            f"of {run['lone_ms']} ms"
        )
        if "arriving_per_s" in run:
            told.append(
                f"  arriving, {run['arriving_per_s']} a second asked and {run['stored_per_s']} stored: median "
                f"{run['arriving_median_ms']} ms, p99 {run['arriving_p99_ms']} ms, {run['arriving_p99_times']} × the "
                "lone median"
            )
    return [*told, *([found["skipped"]] if "skipped" in found else [])]


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--executions", type=int, default=200)
    made.add_argument("--steps", type=int, default=20, help="appends of each execution")
    made.add_argument(
        "--commit-ms", type=float, nargs="*", default=[1, 2, 5], help="by how much commits are made slower"
    )
    arguments = made.parse_args()
    show(asyncio.run(measurements(arguments)), lines, as_json=arguments.json)


if __name__ == "__main__":
    main()
