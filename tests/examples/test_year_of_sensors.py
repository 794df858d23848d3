"""The daily sensors over all of 2013: they fire on days that are really anomalous, as a computation in pandas says."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pandas as pd
import pytest

from tests.examples.year import SENSORS, Seen, by_pandas, count, days_table, see, summary_table

pytestmark = pytest.mark.anyio
PAGE = Path(__file__).parents[2] / "docs" / "sensors-and-metrics.md"
SEASONAL = ("unusual-cancellations", "unusual-delays", "missing-flights")
LIMITS = {"cancellations-of-the-day": 0.10, "delays-of-the-day": 40.0}


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def year(example: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seen]:
    return await see(tmp_path_factory.mktemp("year"))


@pytest.fixture(scope="module")
def values(example: Path) -> pd.DataFrame:
    return by_pandas()


@pytest.mark.xdist_group("year_of_sensors")
class TestTheYear:
    async def test_every_value_is_the_one_that_pandas_finds(self, year: dict[str, Seen], values: pd.DataFrame) -> None:
        for name, seen in year.items():
            for day, (value, *_) in seen.fired.items():
                found = values.loc[pd.Timestamp(day), seen.definition.metric]
                assert value == pytest.approx(found, rel=1e-9), (name, day)

    async def test_a_fixed_limit_fires_on_exactly_the_days_beyond_it(
        self, year: dict[str, Seen], values: pd.DataFrame
    ) -> None:
        for name, limit in LIMITS.items():
            series = values[year[name].definition.metric]
            assert set(year[name].fired) == {day.date() for day in series[series > limit].index}

    async def test_no_day_that_is_glaring_with_hindsight_is_missed(
        self, year: dict[str, Seen], values: pd.DataFrame
    ) -> None:
        assert [count(year[name], values).missed for name in SEASONAL] == [(), (), ()]

    async def test_most_of_what_fires_is_anomalous_with_hindsight_and_hardly_a_quiet_day_fires(
        self, year: dict[str, Seen], values: pd.DataFrame
    ) -> None:
        for name in SEASONAL:
            told = count(year[name], values)
            assert told.odd >= 0.75 * told.fired, name
            assert told.quiet > 250, name
        assert [count(year[name], values).false for name in SEASONAL] == [
            (date(2013, 5, 8),), (), (date(2013, 8, 31),),
        ]  # fmt: skip

    async def test_holidays_are_found_by_the_flights_that_are_missing(self, year: dict[str, Seen]) -> None:
        fired = set(year["missing-flights"].fired)
        assert {date(2013, 7, 4), date(2013, 11, 28), date(2013, 11, 29), date(2013, 12, 25)} <= fired

    async def test_the_storm_of_february_is_one_episode(self, year: dict[str, Seen]) -> None:
        seen = year["unusual-cancellations"]
        assert {date(2013, 2, 8), date(2013, 2, 9)} <= set(seen.fired)
        assert date(2013, 2, 9) not in seen.cleared and date(2013, 2, 10) in seen.cleared
        assert seen.signals < len(seen.fired)

    async def test_the_first_weeks_are_too_little_history_and_said_to_be(self, year: dict[str, Seen]) -> None:
        for name in SEASONAL:
            assert year[name].blind == {date(2013, 1, day) for day in range(1, 22)} - _late(year[name])
        assert all(not year[name].blind for name in LIMITS)

    async def test_the_tables_of_the_documentation_are_these(self, year: dict[str, Seen], values: pd.DataFrame) -> None:
        page = PAGE.read_text(encoding="utf-8")
        how = "print them with: python -m tests.examples.year"
        assert list(year) == list(SENSORS)
        assert summary_table(year, values) in page, how
        assert days_table(year, values) in page, how


def _late(seen: Seen) -> set[date]:
    """Days of January whose value was not there."""
    return {day for day in (date(2013, 1, number) for number in range(1, 22)) if day in seen.judged}
