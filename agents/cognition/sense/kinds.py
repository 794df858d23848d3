"""Every kind of sensor there is."""

from __future__ import annotations

from typing import TypeAlias

from agents.cognition.sense.cron import CronDefinition
from agents.cognition.sense.definition import SensorDefinition
from agents.cognition.sense.event import EventDefinition

AnySensor: TypeAlias = SensorDefinition | CronDefinition | EventDefinition
"""A definition of any kind. `SensorDefinition` is the threshold sensor, which watches a metric; another kind joins the
union here. Every kind has `name`, `title`, `severity` and `raises`."""
