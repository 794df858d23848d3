"""Sensors: when a number is worth somebody's attention."""

from agents.cognition.sense.definition import SENSOR_VARIABLES, Raise, SensorDefinition
from agents.cognition.sense.episodes import Episode, episodes
from agents.cognition.sense.judge import Judged, Standing, judge
from agents.cognition.sense.raising import idempotency_key, request_for
from agents.cognition.sense.sensors import SensorRun, Sensors
from agents.cognition.sense.telling import Merged

__all__ = [
    "SENSOR_VARIABLES",
    "Episode",
    "Judged",
    "Merged",
    "Raise",
    "SensorDefinition",
    "SensorRun",
    "Sensors",
    "Standing",
    "episodes",
    "idempotency_key",
    "judge",
    "request_for",
]
