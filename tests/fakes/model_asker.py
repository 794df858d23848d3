"""A process that asks a model as often as it is told, for the tests of what processes share.

python -m tests.fakes.model_asker HOME BASE_URL REDIS_URL AT_ONCE, and on its standard input a line for each number of
requests to make at once. It answers each with a line: how many answers it got. What it logs is its standard error.
"""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from pathlib import Path
from typing import Self

from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.model.opening import Models
from runtime.model.port import ModelRequest
from runtime.settings.groups import BusSettings, LedgerSettings
from runtime.settings.models import ModelSettings
from tests.fakes.openai_server.server import MODEL

_ROOT = Path(__file__).parents[2]


class Asker:
    """Such a process, seen from the test."""

    def __init__(self, home: Path, base_url: str, redis_url: str, at_once: int) -> None:
        self._log = home / f"asker-{id(self)}.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(home), base_url, redis_url, str(at_once)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, cwd=_ROOT,
            )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    @property
    def said(self) -> str:
        """What it logged so far."""
        return self._log.read_text()

    def asks(self, times: int) -> None:
        """Let it ask so many times at once; `got` waits for the answers."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{times}\n")
        self._process.stdin.flush()

    def got(self) -> int:
        """Return how many answers came."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, self.said
        return int(line)


async def _main(home: str, base_url: str, redis_url: str, at_once: str) -> None:
    logging.basicConfig(level=logging.WARNING)
    store = await open_store(LedgerSettings(), home=Path(home), clock=SystemClock())
    settings = ModelSettings(base_url=base_url, at_once=int(at_once))
    models = Models(settings, None, BusSettings(url=redis_url), store.ledger)
    client = models.for_run("acme", {"reason": MODEL}, {})
    assert client is not None
    while line := await asyncio.to_thread(sys.stdin.readline):
        requests = (ModelRequest("reason", [{"role": "user", "content": "Hello."}]) for _ in range(int(line)))
        print(len(await asyncio.gather(*map(client.ask, requests))), flush=True)
    await models.close()
    await store.close()


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
