"""Many runs of the reference process on a server, with everything around them dying at random (`make crash-soak`).

    python -m tests.crash.soak [--runs 200] [--seed N]

In each run a process is killed at a random write or call, the database is killed or restarted, Redis is emptied or
killed, or a listener on the bus is killed: several of these, or none. The same seed disturbs in the same way. In the
end every run has come to what an undisturbed one comes to, the ledger is whole, and every listener heard every event
once.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

from runtime.bus import open_bus
from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.settings import BusSettings, LedgerSettings
from tests.crash.listener import GROUP, PATTERN
from tests.crash.lives import ROOT, Ended, Lives, crash_points, open_lives
from tests.crash.person import Told
from tests.servers import MariaDb, Redis

MOST_LIVES = 12
HEAR_S = 60.0
"""How long listeners get in the end to hear what they have not heard yet."""


@dataclass
class Listener:
    """A listener's process, which can be killed and started again."""

    url: str
    redis: str
    file: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        arguments = [self.url, self.redis, str(self.file)]
        command = [sys.executable, "-m", "tests.crash.listener", *arguments]
        with self.file.with_suffix(".log").open("ab") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, stderr=log)

    def kill(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()

    def restart(self) -> None:
        self.kill()
        self.start()

    def heard(self) -> list[int]:
        return [int(line) for line in self.file.read_text().split()] if self.file.exists() else []


@dataclass
class Soak:
    """The reference process, its servers and its listeners."""

    rng: random.Random
    lives: Lives
    database: MariaDb
    redis: Redis
    listeners: list[Listener]
    expected: Told
    counts: dict[str, int] = field(default_factory=dict)

    def run(self, number: int) -> list[str]:
        """Carry one execution to its end through whatever happens; return what is wrong with it then."""
        rng, key = random.Random(self.rng.random()), self.lives.begin()
        disturbed = rng.randint(1, 2)
        for life in range(MOST_LIVES):
            if life:
                self.lives.next_life(life)
            ended = self._live(key, rng) if life < disturbed else self.lives.live(key)
            if ended.told is not None:
                self._count("lives", life + 1)
                return [
                    f"run {number}: {fault}" for fault in self.lives.faults(ended.told, self.expected, lives=life + 1)
                ]
            if not ended.killed and "LedgerUnavailable" not in ended.error:
                return [f"run {number}: {ended.error}"]
        return [f"run {number}: not at its end after {MOST_LIVES} lives: {ended.error[-500:]}"]

    def _live(self, key: str, rng: random.Random) -> Ended:
        death: dict[str, Any] = {}
        match rng.choices(["none", "write", "call"], [3, 5, 1])[0]:
            case "write":
                label, nth = rng.choice(crash_points(self.expected))
                death = {"label": label, "nth": nth, "after": rng.random() < 0.5}
                self._count("killed at a write")
            case "call":
                death = {"in_call": rng.choice(["/payments", "/letters"])}
                self._count("killed in a call")
        disturbing = []
        for chance, what, disturb in self._disturbances(rng):
            if rng.random() < chance:
                self._count(what)
                disturbing.append(Thread(target=_later, args=(rng.uniform(0, 0.7), disturb)))
        for thread in disturbing:
            thread.start()
        ended = self.lives.live(key, **death)
        for thread in disturbing:
            thread.join()
        return ended

    def _disturbances(self, rng: random.Random) -> Iterator[tuple[float, str, Callable[[], None]]]:
        """Yield how likely a disturbance is, what it is, and what does it."""
        listener = rng.choice(self.listeners)
        yield rng.choice([
            (0.35, "database killed", lambda: _kill(self.database)),
            (0.35, "database restarted", self.database.restart),
        ])  # fmt: skip
        yield rng.choice([
            (0.4, "Redis emptied", self.redis.flush), (0.4, "Redis killed", lambda: _kill(self.redis)),
        ])  # fmt: skip
        yield 0.1, "listener killed", listener.restart

    def _count(self, what: str, times: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + times

    def unheard(self) -> list[str]:
        """Wait until every listener has heard everything; return what is wrong with what they heard."""
        until = time.monotonic() + HEAR_S
        while True:
            head, noted, dead = asyncio.run(self._told())
            wrong = [
                f"{listener.file.name} heard {len(heard)} of {head} events, {len(set(heard))} different ones"
                for listener in self.listeners
                if (heard := listener.heard()) != list(range(1, head + 1))
            ]
            wrong += [] if noted[0] == noted[1] else [f"the group noted {noted[0]} of {noted[1]} events"]
            if not wrong or time.monotonic() > until:
                return wrong + [f"{dead} dead letters"] * bool(dead)
            time.sleep(0.5)

    async def _told(self) -> tuple[int, tuple[int, int], int]:
        store = await open_store(LedgerSettings(url=self.lives.url), home=self.lives.folder, clock=SystemClock())
        bus = await open_bus(BusSettings(), store)
        try:
            noted, due, after = 0, 0, 0
            while page := await store.ledger.read_all(after=after):
                noted += sum(event.type == "event.noted" for event in page)
                due += sum(event.type == PATTERN for event in page)
                after = page[-1].position
            return await store.ledger.head(), (noted, due), len(await bus.dead(GROUP))
        finally:
            await bus.close()
            await store.close()


def _later(seconds: float, disturb: Callable[[], None]) -> None:
    time.sleep(seconds)
    disturb()


def _kill(server: MariaDb | Redis) -> None:
    server.kill()
    server.start()


@contextmanager
def open_soak(folder: Path, seed: int) -> Iterator[Soak]:
    """Start everything, and run once without any disturbance."""
    with ExitStack() as open_:
        database = open_.enter_context(MariaDb(folder, durable=False))
        redis = open_.enter_context(Redis(folder))
        url = open_.enter_context(database.database())
        lives = open_.enter_context(open_lives(folder, url))
        expected = lives.undisturbed()
        listeners = [Listener(url, redis.url, folder / f"heard-{number}") for number in (1, 2)]
        for listener in listeners:
            open_.callback(listener.kill)
            listener.start()
        yield Soak(random.Random(seed), lives, database, redis, listeners, expected)


def main() -> int:
    """Soak, tell what happened, and fail on the first thing that is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=20_261_130)
    given = parser.parse_args()
    began, wrong = time.monotonic(), list[str]()
    with tempfile.TemporaryDirectory(prefix="silicon-soak-") as folder, open_soak(Path(folder), given.seed) as soak:
        for number in range(given.runs):
            wrong += soak.run(number)
            print(f"\r{number + 1}/{given.runs} runs, {len(wrong)} faults", end="", flush=True)
        print()
        wrong += soak.unheard()
        wrong += [f"{fault.stream} {fault.version}: {fault.what}" for fault in soak.lives.audit()]
        told = ", ".join(f"{what} {times}" for what, times in sorted(soak.counts.items()))
    print(f"seed {given.seed}, {time.monotonic() - began:.0f} s: {told}")
    print("\n".join(wrong) or "Nothing was lost and nothing was done twice.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
