"""What is read of the metric registry for an explanation."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agents.cognition.explain import explain
from agents.cognition.explain.reading import Asked, MetricReader
from contracts import Grain
from memory.metrics import MetricRegistry
from tests.memory.duck import Duck, cancel_rate, duck

__all__ = ["duck"]
pytestmark = pytest.mark.anyio


async def test_rows_without_a_value_of_a_dimension_are_a_slice_beside_one_that_reads_so(duck: Duck) -> None:
    duck.connection.execute(
        "INSERT INTO flights SELECT day, origin, 'AA', number < 2 FROM range(TIMESTAMP '2013-01-01 10:00',"
        " TIMESTAMP '2013-02-08 11:00', INTERVAL 1 DAY) days(day), range(30) numbers(number),"
        " (VALUES (NULL), ('None'), ('上海')) origins(origin)"
    )
    reader = MetricReader(MetricRegistry([cancel_rate()], duck.query))
    read = await reader.read(
        Asked("cancel-rate", Grain.DAY, "2013-02-08", by=("origin",)), datetime(2013, 2, 9, 1, tzinfo=UTC)
    )
    slices = read.question.slices["origin"]
    assert set(slices) == {"None", "(None)", "上海"}
    assert {len(points) for points in slices.values()} == {len(read.question.whole)}
    assert {part.value for part in explain(read.question).splits[0].parts} == set(slices)
