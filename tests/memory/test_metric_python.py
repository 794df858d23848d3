"""Metrics whose value a Python function of the folder gives."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from contracts import Json, PythonFunction
from memory.metric_python import faults_of
from memory.metrics import MetricRegistry, ValueState
from runtime.errors import CapabilityFailed
from tests.memory.duck import Duck, cancel_rate

pytestmark = pytest.mark.anyio

NOON = datetime(2013, 2, 8, 12, tzinfo=UTC)
SPREAD = "def value(hours):\n    return max(hours) - min(hours) if len(hours) > 1 else None\n"


async def run(script: str, name: str, inputs: Mapping[str, Json]) -> Json:
    names: dict[str, Json] = {"inputs": dict(inputs)}
    exec(script, names)  # what the sandbox does, without one
    return names["result"]


def spread(duck: Duck, text: str = SPREAD) -> MetricRegistry:
    function = PythonFunction(file="metrics/spread.py", text=text)
    metric = cancel_rate(name="spread", value="", python=function, takes={"hours": "hour(due)"})
    return MetricRegistry([metric], duck.query, run=run)


async def test_the_function_gets_the_values_of_each_bucket_and_none_is_missing(duck: Duck) -> None:
    duck.fly("2013-02-05 17:00", flown=1)
    duck.fly("2013-02-05 06:00", flown=1)
    duck.fly("2013-02-06 10:00", flown=1)
    read = await spread(duck).read("spread", "day", at=NOON, start=datetime(2013, 2, 5), end=datetime(2013, 2, 8))
    assert [(value.value, value.n, value.state) for value in read.values] == [
        (11.0, 2, ValueState.VALUE),
        (None, 1, ValueState.MISSING),
        (None, 0, ValueState.MISSING),
    ]


async def test_slices_are_called_for_one_by_one(duck: Duck) -> None:
    for origin, hour in (("EWR", "06"), ("EWR", "08"), ("JFK", "06"), ("JFK", "16")):
        duck.fly(f"2013-02-05 {hour}:00", origin=origin, flown=1)
    values = await spread(duck).value("spread", "day", at=NOON, bucket="2013-02-05", by=["origin"])
    assert [(value.dimensions["origin"], value.value) for value in values] == [("EWR", 2.0), ("JFK", 10.0)]


async def test_without_anything_that_runs_python_it_cannot_be_read(duck: Duck) -> None:
    duck.fly("2013-02-08 10:00", flown=1)
    metric = spread(duck).get("spread")
    with pytest.raises(CapabilityFailed, match=r"metrics/spread\.py cannot run here"):
        await MetricRegistry([metric], duck.query).value("spread", "day", at=NOON)


def test_another_text_of_the_file_is_another_version(duck: Duck) -> None:
    assert spread(duck).formula_version("spread") != spread(duck, SPREAD + "\n").formula_version("spread")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("def value(hours:\n", 1, "no Python"),
        ("x = 1\n", 1, "no function `value`"),
        ("\n\ndef value(hours, days):\n    pass\n", 3, "Nothing in `takes` is called `days`"),
        ("def value():\n    pass\n", 1, "has no argument `hours`"),
        ("def value(hours, /):\n    pass\n", 1, "take the `/` out"),
    ],
)
def test_a_file_that_does_not_fit_is_told_with_its_line(text: str, line: int, words: str) -> None:
    [(at, what)] = faults_of(PythonFunction(file="f.py", text=text), ["hours"])
    assert at == line
    assert words in what


def test_a_default_and_any_keyword_fit() -> None:
    assert not list(faults_of(PythonFunction(file="f.py", text="def value(hours, floor=0): return 1"), ["hours"]))
    assert not list(faults_of(PythonFunction(file="f.py", text="def value(**all): return 1"), ["hours"]))


async def test_a_whole_number_beyond_every_float_is_missing(duck: Duck) -> None:
    duck.fly("2013-02-05 17:00", flown=1)
    [value] = await spread(duck, "def value(hours):\n    return 10**400\n").value(
        "spread", "day", at=NOON, bucket="2013-02-05"
    )
    assert (value.value, value.state) == (None, ValueState.MISSING)
