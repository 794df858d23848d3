"""The metrics of this process for Prometheus: one registry, to which each room adds its collectors.

It is made where metrics are served, so that nothing else pays for the library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""Of what `Metrics.text` gives."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """One number, for each value of its labels."""

    name: str
    """Without the prefix `silicon_`; ends in its unit where it has one."""
    meaning: str
    labels: Sequence[str] = ()
    samples: Iterable[tuple[Sequence[str], float]] = field(default_factory=list)
    """The values of the labels, in their order, and the number."""
    only_grows: bool = False
    """Whether it counts what happened, and so never falls; then `_total` is added to its name."""


class Gauges(Collector):
    """Numbers that are worked out when somebody asks, from what `read` gives then."""

    def __init__(self, read: Callable[[], Iterable[Gauge]]) -> None:
        self._read = read

    def collect(self) -> Iterable[GaugeMetricFamily | CounterMetricFamily]:
        """Return the numbers in the form of the library."""
        for gauge in self._read():
            kind = CounterMetricFamily if gauge.only_grows else GaugeMetricFamily
            family = kind(f"silicon_{gauge.name}", gauge.meaning, labels=list(gauge.labels))
            for values, number in gauge.samples:
                family.add_metric(list(values), number)
            yield family

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """Describe nothing beforehand: what there is follows from the first read."""
        return ()


class Metrics:
    """The registry of one server. Nothing in it is global, so that two servers in one process never mix."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=False)

    def add(self, collector: Collector) -> None:
        """Let a room's numbers be served with the others."""
        self.registry.register(collector)

    def text(self) -> bytes:
        """Return all numbers in the text format of Prometheus."""
        return generate_latest(self.registry)
