"""Metrics and sensors: what they name exists, and their conditions can be read."""

from __future__ import annotations

from collections.abc import Iterator

from agents.organisation.check_metrics import metric_faults
from agents.organisation.draft import Draft
from agents.organisation.fault import Fault
from agents.organisation.sensor_kinds import sensor_faults


def signal_faults(draft: Draft) -> Iterator[Fault]:
    """Yield what is wrong with metrics and sensors."""
    yield from metric_faults(draft)
    yield from sensor_faults(draft)
