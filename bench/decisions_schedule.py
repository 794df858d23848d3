"""The part `schedule` of decisions.py: a year of cron sensors, with servers that die, are away and compete."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from random import Random
from typing import Any

from rig import folders, kind_of

from agents.cognition.sense import Raise
from agents.cognition.sense.cron import CatchUp, CronDefinition, Repeated, Skipped, after
from agents.cognition.sense.timekeeping import Timekeeper
from contracts import ExecutionRequest
from runtime.clock import SystemClock
from runtime.executor import Submitted
from runtime.executor.register import Register
from runtime.ledger import open_store
from runtime.ledger.port import Append
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings, SensorSettings

ORGANISATION = "bench"
START = datetime(2026, 1, 1, 0, 0, 30, tzinfo=UTC)
LOOK_S = 30.0
"""How often a server looks, on the simulated clock."""
ZONES = ("Europe/Berlin", "America/Santiago", "Australia/Lord_Howe", "America/New_York", "Asia/Kolkata", "UTC")
KINDS = (("{m} {h} * * *", 1), ("{m} {h} * * {d}", 24), ("{m} {h} {d} * *", 75))
"""Schedule → of how many sensors in a hundred it is: daily, weekly, monthly."""


def add_arguments(made: argparse.ArgumentParser) -> None:
    """Let the numbers of this part be chosen."""
    made.add_argument("--sensors", type=int, default=1_000, help="cron sensors of `schedule`")
    made.add_argument("--days", type=int, default=365, help="simulated days of `schedule`")


async def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return how many instants were due, missed and doubled, and what each took."""
    random = Random(7)
    sensors = sensors_of(arguments.sensors, random)
    end = START + timedelta(days=arguments.days)
    expected = Counter((each.name, instant) for each in sensors for instant in due(each, end))
    folder = folders(arguments.folder)[0]
    with tempfile.TemporaryDirectory(dir=folder) as made:
        store = await open_store(LedgerSettings(), home=Path(made), clock=SystemClock())
        year = Year(store, sensors, random)
        begun = time.perf_counter()
        await year.live(end)
        took = time.perf_counter() - begun
        asked = await executions(store)
        await store.close()
    missed, doubled = expected - asked, asked - expected
    return {
        "on": kind_of(folder), "sensors": len(sensors), "days": arguments.days, "due": expected.total(),
        "missed": missed.total(), "doubled": doubled.total(), "looks": year.looks, "deaths": year.deaths,
        "outages": year.outages, "drift_max_s": round(year.drift_s, 1), "s": round(took, 1),
        "us": round(took / max(expected.total(), 1) * 1e6),
    }  # fmt: skip


def sensors_of(count: int, random: Random) -> list[CronDefinition]:
    """Return sensors of every kind and place, with every rule for changes of clocks."""
    patterns = [cron for cron, share in KINDS for _ in range(share)]
    made = []
    for number in range(count):
        cron = patterns[number % len(patterns)].format(
            m=random.randrange(60), h=random.choice((0, 1, 2, 2, 3, 9, 17)), d=random.randrange(1, 7)
        )
        made.append(
            CronDefinition(
                f"sensor-{number}", cron, random.choice(ZONES), skipped=random.choice(list(Skipped)),
                repeated=random.choice(list(Repeated)), catch_up=CatchUp.ALL, raises=Raise("Look", "look"),
            )
        )  # fmt: skip
    return made


def due(sensor: CronDefinition, end: datetime) -> Sequence[datetime]:
    """Return when the sensor is due until the end."""
    return list(takewhile(lambda instant: instant <= end, after(sensor, START)))


_AWAY, _DIES, _RIVALS = 0.0005, 0.002, 0.005
"""How often, of the looks at which something is due, nobody looks for hours, the server dies, two look at once."""


class Year:
    """A simulated time, in which servers look, die, are away and compete."""

    def __init__(self, store: SqlStore, sensors: Sequence[CronDefinition], random: Random) -> None:
        self._store = store
        self._sensors = {each.name: each for each in sensors}
        self._random = random
        self.looks = self.deaths = self.outages = 0
        self.drift_s = 0.0
        """How late an instant was settled at most, while somebody watched."""

    async def live(self, end: datetime) -> None:
        """Let time pass until the end: a look every so often, deaths, hours without a server."""
        now, servers = START, [self._server(), self._server()]
        await servers[0].turn(now)
        was_away = True
        while now < end:
            now = min(end, now + timedelta(seconds=LOOK_S))
            self.looks += 1
            if servers[0].next_at > now.timestamp():
                continue
            if self._random.random() < _AWAY:
                self.outages += 1
                now = min(end, now + timedelta(hours=self._random.uniform(1, 30)))
                was_away = True
            if self._random.random() < _DIES:
                self.deaths += 1
                await self._die(servers[0], now)
                servers[0] = self._server()
            settled, _ = await asyncio.gather(servers[0].turn(now), self._rival(servers[1], now))
            if not was_away:
                self.drift_s = max([self.drift_s, *((now - each.instant).total_seconds() for each in settled)])
            was_away = False
        await self._server().turn(end)

    async def _rival(self, server: Timekeeper, now: datetime) -> None:
        """Let another server look at the same moment, now and then; only one of both can be the first."""
        if self._random.random() < _RIVALS:
            await asyncio.gather(server.turn(now), return_exceptions=True)

    async def _die(self, server: Timekeeper, now: datetime) -> None:
        """Stop a server in the middle of its turn."""
        turn = asyncio.create_task(server.turn(now))
        for _ in range(self._random.randrange(6)):
            await asyncio.sleep(0)
        turn.cancel()
        await asyncio.gather(turn, return_exceptions=True)

    def _server(self) -> Timekeeper:
        register = Register(self._store)

        async def submit(request: ExecutionRequest, beside: Sequence[Append]) -> Submitted:
            return await register.submit(request, "0" * 64, Path("/bench"), beside=beside)

        return Timekeeper(self._store.ledger, ORGANISATION, self._sensors, submit, settings=SensorSettings())


async def executions(store: SqlStore) -> Counter[tuple[str, datetime]]:
    """Return what was asked for, by sensor and instant."""
    found: Counter[tuple[str, datetime]] = Counter()
    after_position = 0
    while page := await store.ledger.read_all(after=after_position, types=("execution.requested",)):
        for event in page:
            request = ExecutionRequest.read((event.data or {})["request"])  # type: ignore[arg-type]
            assert request.known_at is not None
            found[request.requested_by.removeprefix("sensor/"), request.known_at] += 1
        after_position = page[-1].position
    return found
