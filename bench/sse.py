"""Readers of `GET /api/v1/events`: how fast 200 of them get what is committed, and what a sleeping one costs a run.

    python bench/sse.py [--json] [--readers 200] [--events 500] [--steps 400] [--folder /dev/shm]

The API and the work share one process, as in `silicon up`; the readers are another process. *Fan-out*: events are
committed in tens while all readers follow; told is how many a second arrive, over all readers, until the last reader
has the last one. *A sleeping reader*: the engine carries steps out with nobody there and with one reader that asked
for everything and reads nothing, a hundred steps in turns, and the medians of a step are compared. It sleeps from the
first byte on, behind more events than the buffers of the connection hold.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from rig import RESULT, ROOT, commits, engine_on, folders, kind_of, median, open_raw, order_over, parser, show

from console.api import create_api, end_streams, ensure_first_token
from console.application import SiliconApplication
from console.resources import Resources
from console.server.listener import listen
from contracts import ExecutionId, OrderId
from runtime.clock import SystemClock
from runtime.engine.engine import Engine
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings.groups import ServerSettings
from runtime.settings.load import Settings

AT_ONCE = 10
BACKLOG = 12_000
"""Events that are there for the reader that sleeps: more than the buffers between it and the server hold, 4 MB."""
BLOCK = 100
SETTLE_S = 8.0
"""After this long the server has filled the buffers and waits for the reader."""


@asynccontextmanager
async def served(home: Path) -> AsyncIterator[tuple[SqlStore, int, str]]:
    """Serve the API on a free port; yield the store beside it, the port and a token."""
    import uvicorn

    settings = Settings(home=home, server=ServerSettings(port=0, rate_burst=10_000, rate_per_s=10_000))
    resources = Resources(settings, SystemClock())
    application = SiliconApplication(resources)
    token = await ensure_first_token(application)
    assert token is not None
    api = create_api(application, settings=settings, wake=lambda execution_id: None, clock=SystemClock())
    server = uvicorn.Server(uvicorn.Config(api, log_level="critical", timeout_graceful_shutdown=2))
    listening = listen(settings.server)  # with the buffers of the product
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    while not server.started:  # noqa: ASYNC110 - uvicorn has nothing to wait for
        await asyncio.sleep(0.01)
    yield await resources.store(), listening.getsockname()[1], token
    await end_streams(api)
    server.should_exit = True
    await serving
    await resources.close()


async def connected(
    port: int, token: str, after: int, *, asleep: bool = False
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Ask for all events after a position; return when the stream has begun. Asleep, it has hardly room for any."""
    plug = socket.socket()
    if asleep:
        plug.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    plug.setblocking(False)
    await asyncio.get_running_loop().sock_connect(plug, ("127.0.0.1", port))
    reader, writer = await asyncio.open_connection(sock=plug, limit=1_024 if asleep else 1 << 20)
    writer.write(
        f"GET /api/v1/events HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n"
        f"Last-Event-ID: {after}\r\n\r\n".encode()
    )
    await reader.readuntil(b"retry:")
    return reader, writer


async def read_all(port: int, token: str, readers: int, after: int, last: int) -> None:
    """Be all readers: say when each is connected and when the last one has the event at position `last`."""
    mark = f"id: {last}\n".encode()

    async def until_last(reader: asyncio.StreamReader) -> None:
        kept = b""
        while mark not in kept:
            kept = kept[-64:] + await reader.read(1 << 16)

    streams = [await connected(port, token, after) for _ in range(readers)]
    print("ready", flush=True)
    await asyncio.gather(*(until_last(reader) for reader, _ in streams))
    print(json.dumps({"last": time.monotonic()}), flush=True)


async def fan_out(folder: Path, readers: int, events: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=folder, prefix="sse-") as home:
        async with served(Path(home)) as (store, port, token):
            after = await store.ledger.head()
            asked = [str(port), token, str(readers), str(after), str(after + events)]
            process = await asyncio.create_subprocess_exec(
                sys.executable, __file__, "--read", *asked, stdout=subprocess.PIPE, cwd=ROOT
            )
            assert process.stdout is not None
            await process.stdout.readline()
            begun = time.monotonic()
            await commit(store, events)
            all_committed = time.monotonic()
            last = json.loads(await process.stdout.readline())["last"]
            await process.wait()
    return {
        "readers": readers,
        "events": events,
        "told_per_s": round(readers * events / (last - begun)),
        "last_reader_ms_after_commit": round((last - all_committed) * 1e3),
    }


async def commit(store: SqlStore, events: int) -> None:
    order = OrderId.new()
    execution = ExecutionId.new()
    for first in range(0, events, AT_ONCE):
        facts = [NewEvent("step.finished", RESULT)] * AT_ONCE
        await store.ledger.append(Append(order, facts, first, "bench", "/organisation/bench", execution, "bench"))
        await asyncio.sleep(0)


class Watched:
    """Times the engine between two calls, with the reader and without."""

    def __init__(self, folder: Path) -> None:
        self.raw = open_raw(folder / "raw.db")
        self.taken: dict[bool, list[float]] = {True: [], False: []}
        self.watched = False
        self._last = 0.0

    def __call__(self) -> None:
        now = time.perf_counter()
        if self._last:
            self.taken[self.watched].append(now - self._last)
        self._last = time.perf_counter()


async def sleeping(folder: Path, steps: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=folder, prefix="sse-") as home:
        async with served(Path(home)) as (store, port, token):
            watched = Watched(Path(home))
            engine = engine_on(store, watched)
            await engine.run(order_over(50, at_once=1))
            await commit(store, BACKLOG)
            watched.taken = {True: [], False: []}
            for _ in range(max(1, steps // BLOCK)):
                await _block(engine, watched, None)
                reader = await connected(port, token, 0, asleep=True)
                await asyncio.sleep(SETTLE_S)
                await _block(engine, watched, reader)
            raw = median(commits(watched.raw, 200))
    alone, slept = median(watched.taken[False]), median(watched.taken[True])
    return {
        "steps": steps,
        "step_us": round(alone * 1e6, 1),
        "beside_sleeper_us": round(slept * 1e6, 1),
        "ratio": round(slept / alone, 3),
        "raw_commit_us": round(raw * 1e6, 1),
    }


async def _block(engine: Engine, watched: Watched, reader: tuple[Any, asyncio.StreamWriter] | None) -> None:
    watched.watched, watched._last = reader is not None, 0.0
    await engine.run(order_over(BLOCK, at_once=1))
    if reader is not None:
        reader[1].close()
        await asyncio.sleep(SETTLE_S / 10)  # the server notices that it left


async def measurements(arguments: argparse.Namespace) -> dict[str, Any]:
    folder = folders(arguments.folder)[0]
    return {
        "bench": "sse",
        "on": kind_of(folder),
        "fan_out": await fan_out(folder, arguments.readers, arguments.events),
        "sleeping": await sleeping(folder, arguments.steps),
    }


def lines(found: Mapping[str, Any]) -> list[str]:
    told, slept = found["fan_out"], found["sleeping"]
    return [
        f"{told['readers']} readers: {told['told_per_s']} events a second told; the last reader had the last event "
        f"{told['last_reader_ms_after_commit']} ms after its commit",
        f"a step beside a sleeping reader: {slept['beside_sleeper_us']} µs, alone {slept['step_us']} µs, "
        f"ratio {slept['ratio']}",
    ]


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--readers", type=int, default=200)
    made.add_argument("--events", type=int, default=500)
    made.add_argument("--steps", type=int, default=400)
    arguments = made.parse_args()
    show(asyncio.run(measurements(arguments)), lines, as_json=arguments.json)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        asyncio.run(read_all(int(sys.argv[2]), sys.argv[3], *map(int, sys.argv[4:7])))
    else:
        main()
