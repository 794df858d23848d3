"""How a memory fades: pure functions of its record and the moment.

What counts is `importance × rate ^ days`, days since it was last read or written. They are counted as dates in UTC, so
that nothing fades on a day on which it was read, whatever the hour.
"""

from __future__ import annotations

from datetime import UTC, datetime

from contracts import MemoryClass, MemoryRecord
from runtime.settings import MemorySettings

LASTING = frozenset(
    {MemoryClass.RULE, MemoryClass.FACT, MemoryClass.DECISION, MemoryClass.SESSION},
)
"""Classes that do not fade by age: a session ends as a whole, when its conversation does."""


def rate_of(memory_class: MemoryClass, settings: MemorySettings) -> float:
    """Return what is left of the importance after one day."""
    if memory_class in LASTING:
        return 1.0
    if memory_class is MemoryClass.PREFERENCE:
        return float(0.5 ** (1 / settings.preference_half_life_days))
    if memory_class is MemoryClass.TASK:
        return float(0.5 ** (1 / settings.task_half_life_days))
    return settings.decay_a_day


def days_between(accessed_at: datetime, now: datetime) -> int:
    """Return the days from one date to the other, in UTC; 0 for a clock that went back."""
    return max((now.astimezone(UTC).date() - accessed_at.astimezone(UTC).date()).days, 0)


def left_of(record: MemoryRecord, now: datetime, settings: MemorySettings) -> float:
    """Return which part of its importance a memory still has: 1 on the day it was read, and less each day."""
    return float(rate_of(record.memory_class, settings) ** days_between(record.accessed_at, now))


def importance_now(record: MemoryRecord, now: datetime, settings: MemorySettings) -> float:
    """Return how important a memory is by now, 0 to 1."""
    return record.importance * left_of(record, now, settings)


def may_be_injected(record: MemoryRecord, now: datetime, settings: MemorySettings) -> bool:
    """Whether a memory may be put into a prompt that nobody asked to search: not when it is too faint by now."""
    return record.memory_class is MemoryClass.RULE or importance_now(record, now, settings) >= settings.inject_from


def is_fading_out(record: MemoryRecord, now: datetime, settings: MemorySettings) -> bool:
    """Whether a daily cycle counts a memory as nearly forgotten; a rule never is, nor what lasts."""
    if record.memory_class in LASTING:
        return False
    return importance_now(record, now, settings) < settings.archive_below


def read_again(importance: float, settings: MemorySettings) -> float:
    """Return the importance after a read."""
    return min(importance * settings.read_factor, 1.0)


def surer(confidence: float, settings: MemorySettings) -> float:
    """Return the confidence of what was said or cited once more: a part of what is missing to 1 is gained."""
    return confidence + (1 - confidence) * settings.cited_gain
