from __future__ import annotations

from runtime.telemetry.guards import MOST_SERIES, Guard, GuardCounts
from runtime.telemetry.metrics import Gauge, Gauges, Metrics


def test_each_model_and_tool_is_counted_apart() -> None:
    counts = GuardCounts()
    for tool in ("look", "look", "pay"):
        counts.fired(Guard.ARGUMENTS_INVALID, model="m", tool=tool)

    assert dict(counts) == {("arguments_invalid", "m", "look"): 2, ("arguments_invalid", "m", "pay"): 1}


def test_what_grows_without_end_is_counted_together() -> None:
    counts = GuardCounts()
    for number in range(MOST_SERIES + 5):
        counts.fired(Guard.TOOL_DROPPED, model="m", tool=f"tool_{number}")

    told = dict(counts)
    assert told["tool_dropped", "", ""] == 5 and sum(told.values()) == MOST_SERIES + 5


def test_they_are_served_as_counters_under_the_name_that_prometheus_expects() -> None:
    counts, metrics = GuardCounts(), Metrics()
    metrics.add(Gauges(lambda: [Gauge("model_guards", "Why.", ["guard", "model", "tool"], list(counts), True)]))
    counts.fired(Guard.CALL_REPEATED, model="m", tool="look")

    text = metrics.text().decode()

    assert "# TYPE silicon_model_guards_total counter" in text
    assert 'silicon_model_guards_total{guard="call_repeated",model="m",tool="look"} 1.0' in text
