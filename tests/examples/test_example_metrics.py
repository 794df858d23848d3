"""The example's metrics made by Python and of other metrics are what pandas makes of the records."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from console.pinned import Organisations
from memory.metrics import MetricRegistry
from runtime.ledger.store import SqlStore
from runtime.settings.load import load
from tests.examples.year import by_pandas
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio
NEW_YEAR = datetime(2014, 1, 2, 12, tzinfo=UTC)


@pytest.fixture
async def metrics(
    example: Path, sqlite_store: SqlStore, clock: HandClock, tmp_path: Path
) -> AsyncIterator[MetricRegistry]:
    organisations = Organisations(sqlite_store, load({"home": str(tmp_path)}, working=tmp_path), clock)
    yield organisations.now(example).metrics
    await organisations.close()


async def test_the_tail_of_the_delays_is_that_of_pandas(metrics: MetricRegistry, example: Path) -> None:
    read = await metrics.read(
        "delay-tail", "day", at=NEW_YEAR, start=datetime(2013, 2, 1), end=datetime(2013, 2, 15), by=["origin"]
    )
    with duckdb.connect(str(example / "data" / "flights.duckdb"), read_only=True) as database:
        flights = database.execute("SELECT day, origin, dep_delay FROM flights WHERE dep_delay IS NOT NULL").df()
    delays = flights.assign(day=pd.to_datetime(flights["day"])).groupby(["day", "origin"])["dep_delay"]
    tails = (delays.quantile(0.9) - delays.median()).where(delays.size() >= 20)
    assert len(read.values) == 14 * 3
    for value in read.values:
        tail = tails[pd.Timestamp(value.bucket), value.dimensions["origin"]]
        assert value.value == (None if pd.isna(tail) else pytest.approx(tail)), value


async def test_the_rate_of_seven_days_is_their_mean(metrics: MetricRegistry) -> None:
    read = await metrics.read(
        "week-of-cancellations", "day", at=NEW_YEAR, start=datetime(2013, 1, 1), end=datetime(2013, 3, 1)
    )
    week = by_pandas()["cancel-rate"].rolling(7).mean()
    assert [value.value is None for value in read.values] == [True] * 6 + [False] * 53
    for value in read.values[6:]:
        assert value.value == pytest.approx(week[pd.Timestamp(value.bucket)])
