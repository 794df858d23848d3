from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from contracts import Grain
from memory.metrics import MetricRegistry, MetricValue, ValueState
from runtime.errors import CapabilityFailed, InvalidArguments, NotFound
from tests.memory.duck import Duck, cancel_rate

pytestmark = pytest.mark.anyio

NEW_YORK = "America/New_York"
FIVE = datetime(2013, 2, 8, 17, tzinfo=ZoneInfo(NEW_YORK)).astimezone(UTC)


@pytest.fixture
def registry(duck: Duck) -> MetricRegistry:
    return MetricRegistry([cancel_rate()], duck.query, time_zone=NEW_YORK)


def told(values: list[MetricValue]) -> list[tuple[str, float | None, int, str]]:
    return [(value.bucket, value.value, value.n, value.state.value) for value in values]


async def test_a_value_is_that_of_the_local_bucket_in_which_the_moment_lies(
    duck: Duck, registry: MetricRegistry
) -> None:
    duck.fly("2013-02-08 16:00", flown=3, cancelled=1)
    duck.fly("2013-02-09 00:30", cancelled=9)  # already the 9th in UTC terms, not known by the table's own filter
    [value] = await registry.value("cancel-rate", "day", at=FIVE)
    assert (value.bucket, value.value, value.n, value.complete) == ("2013-02-08", 0.25, 4, False)


async def test_zero_missing_and_not_yet_arrived_are_three_things(duck: Duck, registry: MetricRegistry) -> None:
    duck.fly("2013-02-06 10:00", flown=5)
    duck.fly("2013-02-08 10:00", flown=1, cancelled=1)
    duck.fly("2013-02-09 10:00", cancelled=1)
    read = await registry.read("cancel-rate", Grain.DAY, at=FIVE, start=datetime(2013, 2, 6), end=datetime(2013, 2, 10))
    assert told(read.values) == [
        ("2013-02-06", 0.0, 5, "value"),
        ("2013-02-07", None, 0, "missing"),
        ("2013-02-08", 0.5, 2, "value"),
        ("2013-02-09", None, 0, "not_yet_arrived"),
    ]


async def test_an_aggregate_that_divides_by_nothing_is_missing_though_there_are_rows(duck: Duck) -> None:
    ratio = cancel_rate(value="sum(0) / nullif(count(*) FILTER (carrier = 'ZZ'), 0)")
    duck.fly("2013-02-07 10:00", flown=4)
    registry = MetricRegistry([ratio], duck.query, time_zone=NEW_YORK)
    [value] = await registry.value("cancel-rate", "day", at=FIVE, bucket="2013-02-07")
    assert (value.value, value.n, value.state) == (None, 4, ValueState.MISSING)


async def test_not_a_number_is_missing(duck: Duck) -> None:
    odd = cancel_rate(value="CAST('nan' AS DOUBLE)")
    duck.fly("2013-02-07 10:00", flown=4)
    registry = MetricRegistry([odd], duck.query, time_zone=NEW_YORK)
    [value] = await registry.value("cancel-rate", "day", at=FIVE, bucket="2013-02-07")
    assert value.state is ValueState.MISSING


async def test_a_value_that_is_no_number_is_an_error_that_names_the_metric(duck: Duck) -> None:
    odd = cancel_rate(value="min(carrier)")
    duck.fly("2013-02-08 10:00", flown=1)
    with pytest.raises(CapabilityFailed, match="cancel-rate gives 'AA', which is no number"):
        await MetricRegistry([odd], duck.query, time_zone=NEW_YORK).value("cancel-rate", "day", at=FIVE)


async def test_history_shows_its_gaps(duck: Duck, registry: MetricRegistry) -> None:
    duck.fly("2013-02-08 15:10", flown=1)
    duck.fly("2013-02-08 17:00", cancelled=1)
    values = await registry.history("cancel-rate", "hour", at=FIVE, last=3)
    assert told(values) == [
        ("2013-02-08T15:00", 0.0, 1, "value"),
        ("2013-02-08T16:00", None, 0, "missing"),
        ("2013-02-08T17:00", 1.0, 1, "value"),
    ]
    assert [value.complete for value in values] == [True, True, False]


async def test_slices_have_a_value_for_every_bucket_of_the_span(duck: Duck, registry: MetricRegistry) -> None:
    duck.fly("2013-02-07 10:00", carrier="AA", flown=1)
    duck.fly("2013-02-08 10:00", carrier="MQ", cancelled=1)
    values = await registry.history("cancel-rate", "day", at=FIVE, last=2, by=["carrier"])
    assert [(v.bucket[-2:], v.dimensions["carrier"], v.value) for v in values] == [
        ("07", "AA", 0.0), ("07", "MQ", None), ("08", "AA", None), ("08", "MQ", 1.0),
    ]  # fmt: skip


async def test_where_keeps_one_slice_and_its_value_travels_as_a_parameter(duck: Duck, registry: MetricRegistry) -> None:
    duck.fly("2013-02-08 10:00", origin="JFK", flown=2)
    injected = "x' OR '1'='1"
    [value] = await registry.value("cancel-rate", "day", at=FIVE, where={"origin": injected})
    assert value.value is None
    connection, sql, parameters, known_at = duck.asked[0]
    assert injected not in sql
    assert (connection, parameters["w0"], known_at) == ("flights", injected, FIVE)


async def test_a_bucket_can_be_named(duck: Duck, registry: MetricRegistry) -> None:
    duck.fly("2013-02-05 10:00", cancelled=1)
    [week] = await registry.value("cancel-rate", "week", at=FIVE, bucket="2013-02-07")
    assert (week.bucket, week.value) == ("2013-02-04", 1.0)
    [month] = await registry.value("cancel-rate", "month", at=FIVE)
    assert (month.bucket, month.n) == ("2013-02-01", 1)


async def test_what_a_metric_does_not_have_is_answered_with_what_it_has(registry: MetricRegistry) -> None:
    with pytest.raises(NotFound, match=r"Did you mean cancel-rate\?"):
        await registry.value("cancel-rates", "day", at=FIVE)
    with pytest.raises(InvalidArguments, match="it has: hour, day, week, month"):
        await registry.value("cancel-rate", "minute", at=FIVE)
    with pytest.raises(InvalidArguments, match="no dimension dest; it has: origin, carrier"):
        await registry.value("cancel-rate", "day", at=FIVE, by=["dest"])


async def test_a_table_that_is_no_name_is_refused(duck: Duck) -> None:
    bad = MetricRegistry([cancel_rate(over="flights; DROP TABLE flights")], duck.query)
    with pytest.raises(InvalidArguments, match="no table name"):
        await bad.value("cancel-rate", "day", at=FIVE)
    assert duck.asked == []


def test_another_formula_is_another_version(duck: Duck) -> None:
    one, two = (MetricRegistry([cancel_rate(**fields)], duck.query) for fields in ({}, {"where": "origin = 'EWR'"}))
    assert one.version("cancel-rate") != two.version("cancel-rate")
    assert one.version("cancel-rate") == MetricRegistry([cancel_rate()], duck.query).version("cancel-rate")


@pytest.mark.parametrize(
    "n", ["sum(CAST(1.25 AS DECIMAL(10, 2)))", "CAST(5 AS HUGEINT)", "sum(1.25)", "CAST(5.0 AS DOUBLE)"]
)
async def test_rows_are_counted_whatever_kind_of_number_the_database_gives(duck: Duck, n: str) -> None:
    duck.fly("2013-02-07 10:00", flown=4)
    registry = MetricRegistry([cancel_rate(n=n)], duck.query, time_zone=NEW_YORK)
    [value] = await registry.value("cancel-rate", "day", at=FIVE, bucket="2013-02-07")
    assert value.n == 5


@pytest.mark.parametrize("n", ["CAST('nan' AS DOUBLE)", "CAST('inf' AS DOUBLE)", "'5'", "max(due)"])
async def test_a_count_that_is_no_number_is_told_and_never_taken_for_no_rows(duck: Duck, n: str) -> None:
    duck.fly("2013-02-07 10:00", flown=4)
    registry = MetricRegistry([cancel_rate(n=n)], duck.query, time_zone=NEW_YORK)
    with pytest.raises(CapabilityFailed, match="`n` must give a whole number"):
        await registry.value("cancel-rate", "day", at=FIVE, bucket="2013-02-07")


async def test_a_dimension_may_be_of_any_type_and_each_of_its_values_is_a_slice(duck: Duck) -> None:
    odd = {"list": "[origin]", "number": "CASE carrier WHEN 'AA' THEN CAST('nan' AS DOUBLE) END"}
    duck.fly("2013-02-07 10:00", flown=4)
    duck.fly("2013-02-07 10:00", carrier="DL", cancelled=4)
    registry = MetricRegistry([cancel_rate(dimensions=odd)], duck.query, time_zone=NEW_YORK)
    [lists] = await registry.value("cancel-rate", "day", at=FIVE, bucket="2013-02-07", by=["list"])
    numbers = await registry.value("cancel-rate", "day", at=FIVE, bucket="2013-02-07", by=["number"])
    assert (lists.dimensions, lists.value) == ({"list": '["EWR"]'}, 0.5)
    assert {value.dimensions["number"]: value.value for value in numbers} == {"nan": 0.0, None: 1.0}
