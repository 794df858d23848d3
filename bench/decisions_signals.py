"""The part `signals` of decisions.py: raw signals through merging, beside the least that could be done with them."""

from __future__ import annotations

import argparse
import json
import sqlite3
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from rig import folders, kind_of, median, open_raw

from contracts import Severity, Signal, SignalId, SignalKind
from governance.alerts import Alerts, Level, Matcher, Route, rules_by
from governance.alerts.rules import AlertRules
from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.settings import AlertSettings, LedgerSettings

ORGANISATION = "bench"
START = datetime(2026, 3, 2, 8, tzinfo=UTC)
SENSORS, SLICES = 25, 4
ROUND_S = 60.0
"""Between two rounds, on the clock of the organisation."""


def add_arguments(made: argparse.ArgumentParser) -> None:
    """Let the numbers of this part be chosen."""
    made.add_argument("--signals", type=int, default=100_000, help="raw signals of `signals`")
    made.add_argument("--rounds", type=int, default=100, help="rounds in which they come")


async def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return how many signals a second each side takes, and what comes out."""
    rounds = signals(arguments.signals, arguments.rounds)
    folder = folders(arguments.folder)[0]
    with tempfile.TemporaryDirectory(dir=folder) as made:
        home = Path(made)
        store = await open_store(LedgerSettings(), home=home, clock=SystemClock())
        raw, alerts = Raw(home / "raw.db"), Alerts(store, ORGANISATION, rules())
        taken, least, processor = list[float](), list[float](), list[float]()
        opened = told = 0
        for number, batch in enumerate(rounds):
            begun, worked = time.perf_counter(), time.process_time()
            result = await alerts.take(batch, START + timedelta(seconds=number * ROUND_S))
            middle = time.perf_counter()
            processor.append(time.process_time() - worked)
            raw.take(batch)
            least.append(time.perf_counter() - middle)
            taken.append(middle - begun)
            opened, told = opened + len(result.opened), told + len(result.tellings)
        views = await alerts.recent()
        events = await store.ledger.head()
        await store.close()
        raw.close()
    ours, bare = sum(taken), sum(least)
    half, quarter = len(taken) // 2, max(len(taken) // 4, 1)
    return {
        "on": kind_of(folder), "signals": sum(map(len, rounds)), "rounds": len(rounds),
        "per_s": round(arguments.signals / ours), "raw_per_s": round(arguments.signals / bare),
        "ratio": round(ours / bare, 2), "us": round(ours / arguments.signals * 1e6, 1), "alerts": opened,
        "messages": told, "merged": sum(view.signals for view in views),
        "duplicates": sum(view.duplicates for view in views), "events": events,
        "flatness": round(median(processor[-quarter:]) / median(processor[half - quarter : half]), 2),
    }  # fmt: skip


def rules() -> AlertRules:
    """Return rules as an organisation has them: one route with people, everything else by the settings."""
    by = rules_by(AlertSettings(), deduplicate_s=1_800, zone=START.tzinfo)  # type: ignore[arg-type]
    return AlertRules(routes=(Route("all", Matcher(), group=("sensor",), levels=(Level(("desk",)),)),), zone=by.zone)


def signals(count: int, rounds: int) -> list[list[Signal]]:
    """Return signals as sensors give them, in rounds; a third of them were given before."""
    chance, made = Random(7), list[list[Signal]]()
    for number in range(rounds):
        at = START + timedelta(seconds=number * ROUND_S)
        batch: list[Signal] = []
        for _ in range(count // rounds):
            earlier = batch if batch and chance.random() < 1 / 3 else None
            batch.append(chance.choice(earlier) if earlier else signal(chance, at))
        made.append(batch)
    return made


def signal(chance: Random, at: datetime) -> Signal:
    sensor, slice_ = f"sensor-{chance.randrange(SENSORS)}", chance.randrange(SLICES)
    return Signal(
        signal_id=SignalId.new(), organisation=ORGANISATION, sensor=sensor, kind=SignalKind.THRESHOLD,
        metric="delay", bucket=at.isoformat(), dimensions={"slice": str(slice_)}, value=chance.random(), n=100,
        threshold="value > 0", severity=Severity.MEDIUM, key=f"{sensor}:{slice_}:{chance.randrange(10**9)}", at=at,
    )  # fmt: skip


class Raw:
    """The least that could be done: count, forget what was said, one commit a round."""

    def __init__(self, file: Path) -> None:
        self._raw: sqlite3.Connection = open_raw(file)
        self._counts: dict[tuple[str, str], int] = defaultdict(int)
        self._keys: set[str] = set()

    def take(self, batch: Sequence[Signal]) -> None:
        touched: dict[tuple[str, str], list[str]] = defaultdict(list)
        for each in batch:
            if each.key not in self._keys:
                self._keys.add(each.key)
                place = (each.sensor, str(each.dimensions["slice"]))
                self._counts[place] += 1
                touched[place].append(each.key)
        self._raw.execute("BEGIN IMMEDIATE")
        for place, keys in touched.items():
            data = json.dumps({"place": place, "count": self._counts[place], "keys": keys}).encode()
            self._raw.execute("INSERT INTO step (data) VALUES (?)", (data,))
        self._raw.execute("COMMIT")

    def close(self) -> None:
        self._raw.close()
