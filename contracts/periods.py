"""The periods that numbers stand for."""

from __future__ import annotations

from enum import StrEnum


class Grain(StrEnum):
    """The period a metric's value stands for."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
