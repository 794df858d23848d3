"""What the faces show of an organisation's heartbeat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from contracts import ExecutionId


@dataclass(frozen=True, slots=True)
class WorkCounted:
    """Work that was begun."""

    goal: int = 0
    """Executions that advance a goal."""
    meta: int = 0
    """Executions that look after the organisation itself."""
    rounds: int = 0
    """Rounds of the heartbeat that had something to say."""
    goal_orders: int = 0
    """Orders in executions that advance a goal."""
    meta_orders: int = 0
    """Orders in the others, rounds not counted."""
    refused: int = 0
    """Meta work that was not begun, because there was enough."""


@dataclass(frozen=True, slots=True)
class HeartbeatStanding:
    """How the heartbeat of an organisation stands."""

    organisation: str
    on: bool
    """Whether servers that were started with its folder beat for it."""
    every_s: float
    watched_by: str | None
    """The process whose turn it is; None where nobody watches."""
    last_round: ExecutionId | None
    """The latest round that had something to say."""
    last_round_at: datetime | None
    waiting: int
    """Signals whose goals wait for room."""
    quiet: int
    """Looks that found nothing to say; they are counted and not recorded."""
    looked_at: datetime | None
    """When the last of them was."""
    days: int
    """Days that the work is counted over."""
    work: WorkCounted = WorkCounted()
    meta_most: int = 0
    """Meta work that may be begun in that time, beside so much that advances goals."""
    by_day: Mapping[str, WorkCounted] = field(default_factory=dict)
    """The same by day, UTC, oldest first."""
