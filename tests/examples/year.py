"""The year 2013 as the example's daily sensors saw it, day by day, beside a computation of its own in pandas.

`python -m tests.examples.year` prints the tables that stand in docs/sensors-and-metrics.md.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import pandas as pd

from agents.cognition.sense import SensorDefinition, Standing
from console.pinned import Organisations
from contracts import SignalKind
from runtime.ledger import open_store
from runtime.settings.load import load
from tests.fakes.clock import HandClock

EXAMPLE = Path(__file__).parents[2] / "examples" / "three_airports"
NEW_YORK = ZoneInfo("America/New_York")
FIRST, LAST = date(2013, 1, 1), date(2013, 12, 31)
LOOKS_AT = timedelta(days=1, hours=6, minutes=30)
"""When each day is looked at, from its beginning: the next morning, when the data of all its flights was due."""

SENSORS = (
    "cancellations-of-the-day", "unusual-cancellations", "delays-of-the-day", "unusual-delays", "missing-flights",
)  # fmt: skip
SHORT = {"flights": "{:.0f}", "cancel-rate": "{:.1%}", "departure-delay": "{:.1f} min"}


@dataclass
class Seen:
    """What one sensor said of the year."""

    definition: SensorDefinition
    fired: dict[date, tuple[float, float | None, float | None]] = field(default_factory=dict)
    """Day → value, what was expected, and the limit that it passed."""
    judged: set[date] = field(default_factory=set)
    cleared: set[date] = field(default_factory=set)
    blind: set[date] = field(default_factory=set)
    """Days of which it said that it had not enough history."""
    signals: int = 0


async def see(home: Path, names: tuple[str, ...] = SENSORS) -> dict[str, Seen]:
    """Let the sensors look on each morning of the year, with a clock that is moved by hand."""
    settings, clock = load({"home": str(home)}, working=home), HandClock()
    store = await open_store(settings.ledger, home=home, clock=clock)
    organisations = Organisations(store, settings, clock)
    try:
        wired = organisations.now(EXAMPLE)
        seen = {name: Seen(wired.organisation.thresholds[name]) for name in names}
        for day in days():
            clock.advance((moment_after(day) - clock.now()).total_seconds())
            for each in seen.values():
                _note(each, day, await wired.sensors.run(each.definition, clock.now()))
        return seen
    finally:
        await organisations.close()
        await store.close()


def _note(seen: Seen, day: date, run: Any) -> None:
    assert run.problem is None, run.problem
    seen.signals += sum(signal.kind is SignalKind.THRESHOLD for signal in run.signals)
    for judged in run.judged:
        if judged.value.bucket != day.isoformat():
            continue
        if judged.standing is Standing.NOT_ENOUGH_HISTORY:
            seen.blind.add(day)
        elif judged.standing is not Standing.PASSED_OVER:
            seen.judged.add(day)
        if judged.standing is Standing.CLEARS:
            seen.cleared.add(day)
        if judged.standing is Standing.FIRES:
            usual = judged.usual
            limit = None if usual is None else usual.low if "low" in seen.definition.when else usual.high
            seen.fired[day] = (judged.value.value, usual.expected if usual else None, limit)


def days() -> list[date]:
    """Return every day of the year."""
    return [FIRST + timedelta(days=number) for number in range((LAST - FIRST).days + 1)]


def moment_after(day: date) -> datetime:
    """Return the morning after a day, UTC."""
    return (datetime(day.year, day.month, day.day) + LOOKS_AT).replace(tzinfo=NEW_YORK).astimezone(UTC)


def by_pandas() -> pd.DataFrame:
    """Return the three numbers of each day as they were known the next morning, from the records, without a metric."""
    with duckdb.connect(str(EXAMPLE / "data" / "flights.duckdb"), read_only=True) as database:
        flights = database.execute("SELECT day, actual_departure, dep_delay FROM flights").df()
    flights["day"] = pd.to_datetime(flights["day"])
    left = flights[flights["actual_departure"] <= flights["day"] + LOOKS_AT]
    grouped = flights.groupby("day")
    return pd.DataFrame(
        {
            "flights": grouped.size(),
            "cancel-rate": grouped["actual_departure"].apply(lambda each: each.isna().mean()),
            "departure-delay": left.groupby("day")["dep_delay"].mean(),
        }
    )


@dataclass(frozen=True)
class Verdict:
    """What a day is, seen from the end of the year: with the weeks after it as well as those before."""

    off: pd.Series
    """How far each day lies off the usual, in the direction that matters."""
    limit: pd.Series

    def is_odd(self, day: date) -> bool:
        """Whether the day is anomalous."""
        return bool(self.off[pd.Timestamp(day)] > self.limit[pd.Timestamp(day)])

    def is_quiet(self, day: date) -> bool:
        """Whether the day is not even half-way to being so."""
        return bool(self.off[pd.Timestamp(day)] < self.limit[pd.Timestamp(day)] / 2)

    def is_glaring(self, day: date) -> bool:
        """Whether it is twice as far off as an anomalous day has to be."""
        return bool(self.off[pd.Timestamp(day)] > 2 * self.limit[pd.Timestamp(day)])


def verdict(series: pd.Series, definition: SensorDefinition) -> Verdict:
    """Judge the days of a year by the median of the same weekday in the nine weeks around each, with hindsight."""
    usual = definition.usual
    deviates, at_least = (usual.deviates, usual.at_least) if usual is not None else (4.0, 0.0)
    sign = -1 if "low" in definition.when else 1
    medians = series.groupby(series.index.day_name()).transform(
        lambda weekday: weekday.rolling(9, center=True, min_periods=5).median()
    )
    off = (series - medians) * sign
    spread = 1.4826 * off.abs().rolling(57, center=True, min_periods=29).median()
    return Verdict(off, (deviates * spread).clip(lower=at_least))


@dataclass(frozen=True)
class Count:
    """What became of the days of one sensor."""

    judged: int
    fired: int
    odd: int
    """Of those that fired, anomalous with hindsight as well."""
    quiet: int
    """Quiet days."""
    false: tuple[date, ...]
    """Of the quiet days, those that fired."""
    missed: tuple[date, ...]
    """Glaring days that did not fire."""


def count(seen: Seen, values: pd.DataFrame) -> Count:
    """Hold what a sensor said against the computation of its own."""
    judge = verdict(values[seen.definition.metric], seen.definition)
    quiet = {day for day in seen.judged if judge.is_quiet(day)}
    return Count(
        judged=len(seen.judged),
        fired=len(seen.fired),
        odd=sum(judge.is_odd(day) for day in seen.fired),
        quiet=len(quiet),
        false=tuple(sorted(quiet & seen.fired.keys())),
        missed=tuple(sorted(day for day in seen.judged if judge.is_glaring(day) and day not in seen.fired)),
    )


def summary_table(year: Mapping[str, Seen], values: pd.DataFrame) -> str:
    """Return one line for each sensor."""
    lines = [
        "| sensor | days judged | fired | of these anomalous with hindsight | quiet days | fired on a quiet day | glaring days missed |",  # noqa: E501
        "|---|---|---|---|---|---|---|",
    ]
    for name, seen in year.items():
        told = count(seen, values)
        missed = ", ".join(day.isoformat()[5:] for day in told.missed) or "none"
        lines.append(
            f"| `{name}` | {told.judged} | {told.fired} | {told.odd} | {told.quiet} | {len(told.false)} | {missed} |"
        )
    return "\n".join(lines)


def days_table(year: Mapping[str, Seen], values: pd.DataFrame) -> str:
    """Return one line for each day on which anything fired, with the numbers and what each sensor had expected."""
    lines = ["| day | flights | cancelled | mean delay | fired |", "|---|---|---|---|---|"]
    for day in sorted({day for seen in year.values() for day in seen.fired}):
        row = values.loc[pd.Timestamp(day)]
        numbers = " | ".join(SHORT[name].format(row[name]) for name in ("flights", "cancel-rate", "departure-delay"))
        fired = "; ".join(_told(name, seen, day) for name, seen in year.items() if day in seen.fired)
        lines.append(f"| {day} | {numbers} | {fired} |")
    return "\n".join(lines)


def _told(name: str, seen: Seen, day: date) -> str:
    _, expected, limit = seen.fired[day]
    if expected is None or limit is None:
        return name
    form = SHORT[seen.definition.metric]
    side = "low" if "low" in seen.definition.when else "high"
    return f"{name} ({form.format(expected)} expected, {side} {form.format(limit)})"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        told = asyncio.run(see(Path(home)))
    known = by_pandas()
    print(summary_table(told, known))
    print()
    print(days_table(told, known))
