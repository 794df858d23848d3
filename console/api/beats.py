"""Sensors and heartbeats: what is watched, when it looks next, and what the organisation does by itself."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, Field

from console.api.desk import Asking, AtDesk, query_of
from console.api.model import ApiModel
from console.views_beats import HeartbeatStanding, WorkCounted
from console.views_sensors import SensorRow
from contracts import ExecutionId, Name, Problem, Severity

routes = APIRouter(tags=["sensors"])
Of = Annotated[Name | None, Query(description="Whose; may be left out where the token belongs to one organisation.")]


class SensorFailureShown(ApiModel):
    """When something last went wrong with a sensor."""

    at: AwareDatetime
    """When."""
    problem: Problem
    """What."""


class SensorShown(ApiModel):
    """One sensor and how it stands."""

    name: Name
    """Its name."""
    kind: str
    """`threshold`, `cron` or `event`."""
    metric: Name | None = None
    """What a threshold sensor watches."""
    grain: str | None = None
    """By which period."""
    by: tuple[str, ...] = ()
    """Dimensions whose slices are watched for themselves."""
    when: str = ""
    """Its condition."""
    watches: str = ""
    """Set times and their time zone, or types of events."""
    rules: dict[str, str] = Field(default_factory=dict)
    """Of a cron sensor: what becomes of local times that are skipped and repeated, and of missed ones."""
    severity: Severity
    """How much it matters."""
    skill: Name | None = None
    """The skill it raises."""
    next_due: AwareDatetime | None = None
    """When it looks or speaks next; absent where that is not known, or never."""
    last_run: AwareDatetime | None = None
    """When it last looked or spoke."""
    last_failure: SensorFailureShown | None = None
    """What last went wrong."""
    held_back: int = 0
    """How often an event did not wake it, because what it raises had led to it."""
    held_back_for: str = ""
    """Why, the last time."""

    @classmethod
    def of(cls, row: SensorRow) -> SensorShown:
        """Return what is shown of a sensor."""
        failed = row.last_failure
        shown = None if failed is None else SensorFailureShown(at=failed.at, problem=failed.problem)
        facts = {name: getattr(row, name) for name in cls.model_fields if name != "last_failure"}
        return cls(**facts, last_failure=shown)


class SensorList(ApiModel):
    """The sensors of an organisation, by name."""

    sensors: tuple[SensorShown, ...]
    """The sensors."""


class WorkShown(ApiModel):
    """Work that was begun."""

    goal: int
    """Executions that advance a goal."""
    meta: int
    """Executions that look after the organisation itself."""
    rounds: int
    """Rounds of the heartbeat that had something to say."""
    goal_orders: int
    """Orders in executions that advance a goal."""
    meta_orders: int
    """Orders in those that look after the organisation itself."""
    refused: int
    """Meta work that was not begun, because there was enough."""

    @classmethod
    def of(cls, work: WorkCounted) -> WorkShown:
        """Return what is shown of counts."""
        return cls(**{name: getattr(work, name) for name in cls.model_fields})


class HeartbeatShown(ApiModel):
    """How the heartbeat of an organisation stands."""

    organisation: Name
    """Whose."""
    on: bool
    """Whether servers that were started with its folder beat for it."""
    every_s: float
    """Seconds between two looks."""
    watched_by: str | None = None
    """The process whose turn it is; absent where nobody watches."""
    last_round: ExecutionId | None = None
    """The latest round that had something to say."""
    last_round_at: AwareDatetime | None = None
    """When it began."""
    waiting: int
    """Signals whose goals wait for room."""
    quiet: int
    """Looks that found nothing to say; they are counted and not recorded."""
    looked_at: AwareDatetime | None = None
    """When the last of them was."""
    days: int
    """Days that the work is counted over."""
    work: WorkShown
    """What was begun in that time."""
    meta_most: int
    """Meta work that may be begun in that time, beside so much that advances goals."""
    by_day: dict[str, WorkShown]
    """The same by day, UTC."""

    @classmethod
    def of(cls, standing: HeartbeatStanding) -> HeartbeatShown:
        """Return what is shown of a heartbeat."""
        counted = ("work", "by_day")
        facts = {name: getattr(standing, name) for name in cls.model_fields if name not in counted}
        by_day = {day: WorkShown.of(each) for day, each in standing.by_day.items()}
        return cls(**facts, work=WorkShown.of(standing.work), by_day=by_day)


@routes.get("/sensors", dependencies=[query_of("organisation")])
async def list_sensors(desk: AtDesk, asking: Asking, organisation: Of = None) -> SensorList:
    """List the sensors of an organisation: when each is due next, when it last ran, what last went wrong."""
    sight = desk.application.sight(asking)
    rows = await desk.application.sensors(await desk.home_of(organisation, asking))
    return SensorList(sensors=tuple(SensorShown.of(row) for row in rows if sight.sees_skill(row.skill)))


@routes.get("/heartbeat", dependencies=[query_of("organisation")])
async def heartbeat(desk: AtDesk, asking: Asking, organisation: Of = None) -> HeartbeatShown:
    """Show when an organisation last looked and acted by itself, and how much of its work advances its goals."""
    return HeartbeatShown.of(await desk.application.heartbeat(await desk.home_of(organisation, asking)))
