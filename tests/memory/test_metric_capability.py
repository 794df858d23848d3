from datetime import UTC, datetime

import pytest

from contracts import Tier
from memory.metric_capability import MetricCapability
from memory.metrics import MetricRegistry
from runtime.capabilities.port import CallContext
from runtime.errors import InvalidArguments
from tests.governance.cards import order
from tests.memory.duck import Duck, cancel_rate

pytestmark = pytest.mark.anyio

FIVE = datetime(2013, 2, 8, 22, tzinfo=UTC)


@pytest.fixture
def metric(duck: Duck) -> MetricCapability:
    duck.fly("2013-02-07 10:00", carrier="AA", flown=1)
    duck.fly("2013-02-08 10:00", carrier="MQ", flown=1, cancelled=1)
    return MetricCapability(MetricRegistry([cancel_rate()], duck.query, time_zone="America/New_York"))


def context() -> CallContext:
    return CallContext(order=order(known_at=FIVE), step="measure", key="k", attempt=1, now=datetime.now(UTC))


async def test_it_gives_the_value_as_known_at_the_moment_of_the_order(metric: MetricCapability, duck: Duck) -> None:
    result = await metric.call({"name": "cancel-rate", "grain": "day"}, context())
    assert {
        "value": 0.5,
        "n": 2,
        "state": "value",
        "bucket": "2013-02-08",
        "unit": "share",
    }.items() <= result.output.items()
    assert duck.asked[0][3] == FIVE
    assert result.query_sha256


async def test_it_gives_several_buckets_and_slices(metric: MetricCapability) -> None:
    asked = {"name": "cancel-rate", "grain": "day", "last": 2, "by": ["carrier"]}
    result = await metric.call(asked, context())
    assert len(result.output["values"]) == 4
    assert result.output["value"] is None


async def test_a_bucket_without_rows_is_missing_not_zero(metric: MetricCapability) -> None:
    result = await metric.call({"name": "cancel-rate", "grain": "day", "bucket": "2013-02-01"}, context())
    assert (result.output["value"], result.output["n"], result.output["state"]) == (None, 0, "missing")


async def test_a_span_of_nothing_is_refused(metric: MetricCapability) -> None:
    with pytest.raises(InvalidArguments, match="1 or more"):
        await metric.call({"name": "cancel-rate", "grain": "day", "last": 0}, context())


def test_it_reads_data_and_so_works_in_a_slot() -> None:
    assert MetricCapability.spec.tier is Tier.EXECUTION
