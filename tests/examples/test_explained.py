"""The reasoner on the real year: an independent computation gives the same numbers, and causes are the known ones."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from agents.cognition.explain import Point, Question, State, Verdict
from agents.cognition.explain import explain as explain_series
from agents.cognition.explain_capability import ExplainCapability
from console.pinned import Organisations
from console.texts import say_in
from runtime.capabilities.port import CallContext
from runtime.ledger.store import SqlStore
from runtime.settings.load import load
from tests.examples.conftest import needs_flights
from tests.fakes.clock import HandClock
from tests.governance.cards import order

Explain = Callable[..., Awaitable[dict[str, Any]]]
pytestmark = [pytest.mark.anyio, needs_flights]


@pytest.fixture
async def explain(example: Path, sqlite_store: SqlStore, clock: HandClock, tmp_path: Path) -> AsyncIterator[Explain]:
    organisations = Organisations(sqlite_store, load({"home": str(tmp_path)}, working=tmp_path), clock)
    capability = ExplainCapability(organisations.now(example).metrics, say_in)

    async def ask(at: str, metric: str = "cancel-rate", **arguments: Any) -> dict[str, Any]:
        known_at = datetime.fromisoformat(at).replace(tzinfo=ZoneInfo("America/New_York"))
        context = CallContext(order=order(known_at=known_at), step="why", key="k", attempt=1, now=datetime.now(UTC))
        return dict((await capability.call({"metric": metric, "grain": "day", **arguments}, context)).output)

    yield ask
    await organisations.close()


@pytest.fixture(scope="module")
def flights(facts: Path) -> pd.DataFrame:
    with duckdb.connect(str(facts), read_only=True) as db:
        found = db.execute("SELECT day, origin, carrier, actual_departure IS NULL AS hit FROM flights").df()
    return found.assign(day=found.day.dt.strftime("%Y-%m-%d"))


@pytest.fixture(scope="module")
def water(facts: Path) -> pd.Series:
    with duckdb.connect(str(facts), read_only=True) as db:
        found = db.execute("SELECT day, sum(precip) AS inches FROM weather GROUP BY day ORDER BY day").df()
    return found.assign(day=found.day.dt.strftime("%Y-%m-%d")).set_index("day").inches


def rates(flights: pd.DataFrame, day: str, before: int = 56) -> pd.Series:
    return flights.groupby("day").hit.mean().loc[:day].iloc[-before - 1 :]


@pytest.mark.parametrize(
    ("day", "confidence"),
    [
        ("2013-02-08", "high"),
        ("2013-02-09", "medium"),
        ("2013-05-23", "medium"),
        ("2013-09-12", "high"),
        ("2013-12-10", "high"),
    ],
)
async def test_the_great_storms_are_unusual_and_go_with_the_water_that_fell(
    explain: Explain, flights: pd.DataFrame, water: pd.Series, day: str, confidence: str
) -> None:
    over = f"{pd.Timestamp(day) + pd.Timedelta(days=1):%Y-%m-%d}T00:00"
    found = await explain(over, period=day, **{"with": ["precipitation"]})
    driver = found["driver"]
    year = rates(flights, day)
    rank = stats.spearmanr(year, water.reindex(year.index)).statistic

    assert (found["verdict"], driver["about"], driver["facts"]["lag"]) == ("driver", "precipitation", 0)
    assert driver["effect"] == pytest.approx(rank, abs=1e-6)
    assert found["value"] == pytest.approx(year.iloc[-1], abs=1e-9)
    assert driver["facts"]["value"] == pytest.approx(water[day], abs=1e-6)
    assert found["confidence"] == confidence


async def test_the_distance_from_the_usual_is_that_of_an_independent_computation(
    explain: Explain, flights: pd.DataFrame
) -> None:
    found = await explain("2013-02-09T00:00", period="2013-02-08", by=[])
    year = rates(flights, "2013-02-08")
    earlier, rows = year.iloc[:-1], int((flights.day == "2013-02-08").sum())
    middle = float(earlier.median())
    spread = max(
        float(np.subtract(*np.quantile(earlier, [0.9, 0.1]))) / 2.563,
        1.4826 * float((earlier - middle).abs().median()),
        (middle * (1 - middle) / rows) ** 0.5,
    )
    error = spread * (1 + 1 / len(earlier)) ** 0.5

    assert found["usual"]["n"] == len(earlier) == 38
    assert not found["usual"]["seasonal"]
    assert found["excess"] == pytest.approx(year.iloc[-1] - middle, abs=1e-8)
    assert found["excess_rows"] == pytest.approx((year.iloc[-1] - middle) * rows, abs=1e-4)
    assert found["anomaly"]["facts"]["distance"] == pytest.approx(found["excess"] / spread, rel=1e-6)
    assert found["anomaly"]["p"] == pytest.approx(2 * stats.t.sf(found["excess"] / error, 37), rel=1e-4)


async def test_the_trouble_of_one_carrier_is_told_of_a_day_that_is_usual_as_a_whole(
    explain: Explain, flights: pd.DataFrame
) -> None:
    found = await explain("2013-04-17T00:00", period="2013-04-16", by=["carrier"])
    span = flights[flights.day.between("2013-02-19", "2013-04-16")]
    now, before = span[span.day == "2013-04-16"], span[span.day < "2013-04-16"]
    share = [frame.carrier.eq("AA").mean() for frame in (before, now)]
    rate = [frame[frame.carrier == "AA"].hit.mean() for frame in (before, now)]
    whole = [frame.hit.mean() for frame in (before, now)]
    due = sum(share) / 2 * (rate[1] - rate[0]) + (share[1] - share[0]) * (sum(rate) - sum(whole)) / 2
    [split] = found["splits"]
    stands_out = {one["facts"]["value"]: one for one in split["stands_out"]}

    assert found["verdict"] == "nothing unusual"
    assert set(stands_out) == {"AA", "MQ"}, "American and its own regional carrier"
    assert stands_out["AA"]["facts"]["contribution"] == pytest.approx(due, abs=1e-8)
    assert split["change"] == pytest.approx(whole[1] - whole[0], abs=1e-8)
    assert "carrier AA (22.3 %)" in found["statement"]


async def test_a_storm_is_the_fault_of_no_carrier_though_regional_ones_head_the_list(explain: Explain) -> None:
    found = await explain("2013-09-12T23:59:59", by=["carrier", "origin"])

    assert found["causes"] == [] and found["verdict"] == "not explained" and found["confidence"] == "low"
    assert "carrier EV" in found["statement"]


async def test_nothing_of_the_afternoon_is_known_at_noon(explain: Explain) -> None:
    noon, five = await explain("2013-02-08T12:00"), await explain("2013-02-08T17:00")

    assert noon["n"] < five["n"] == 671
    assert five["excess_rows"] == pytest.approx(213 - five["usual"]["value"] * 671, abs=1e-4)
    assert noon["series"][:-1] == five["series"][:-1]


async def test_the_first_week_of_the_year_says_nothing(explain: Explain) -> None:
    found = await explain("2013-01-08T00:00", period="2013-01-07")

    assert (found["verdict"], found["confidence"], found["next"]) == ("inconclusive", "low", None)
    assert "cannot be said" in found["statement"]


@pytest.mark.xdist_group("year")
def test_over_the_year_quiet_days_are_left_alone_and_bad_ones_are_seen(flights: pd.DataFrame, water: pd.Series) -> None:
    """False alarms on quiet stretches, counted: see docs/reasoning.md."""
    counted = flights.groupby("day").hit.agg(["mean", "count"])
    days = [str(day) for day in counted.index]
    seasons = [pd.Timestamp(day).weekday() for day in days]
    whole = [
        Point(d, float(counted["mean"][d]), int(counted["count"][d]), True, s)
        for d, s in zip(days, seasons, strict=True)
    ]
    inches = [Point(d, float(water[d]) if d in water else None, 1, True, s) for d, s in zip(days, seasons, strict=True)]
    unusual = {}
    for place, day in enumerate(days):
        first = max(0, place - 56)
        question = Question(
            whole[first : place + 1], "share", {}, {"water": inches[first : place + 1]}, season_lag=7, most_lag=2
        )
        found = explain_series(question)
        if found.unusual.state is State.FOUND:
            unusual[day] = (found.verdict, found.confidence)
    quiet = [day for day in days if counted["mean"][day] < 0.03]
    bad = [day for day in days if counted["mean"][day] > 0.10]

    assert (len(unusual), len(quiet), len(bad)) == (39, 292, 17)
    assert [day for day in quiet if day in unusual] == ["2013-11-07", "2013-11-17", "2013-11-18"]
    assert [day for day in bad if day not in unusual] == ["2013-07-10"]
    assert sum(verdict is Verdict.DRIVER for verdict, _ in unusual.values()) == 26
