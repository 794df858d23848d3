"""Metrics of an organisation: their definitions, values and versions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi import Path as InPath
from pydantic import AwareDatetime, Field

from console.api.desk import Asking, AtDesk, Desk, query_of
from console.api.model import ApiModel
from console.views import MetricReading
from console.views_metrics import MetricShown, MetricVersionRow
from contracts import Grain, Json, MetricDefinition, Name
from governance.access import Principal
from runtime.errors import InvalidArguments, NotFound

routes = APIRouter(prefix="/metrics", tags=["metrics"])

Whose = Annotated[Name | None, Query(description="The organisation; absent, that of the token.")]
Metric = Annotated[Name, InPath(description="The metric's name.", examples=["cancel-rate"])]


class MetricList(ApiModel):
    """Metrics of an organisation."""

    metrics: tuple[MetricDefinition, ...]
    """By name."""


class MetricStanding(ApiModel):
    """The definition of a metric with where it stands."""

    definition: MetricDefinition
    """As it is in force."""
    version: str
    """Hash of the definition with those it is made of."""
    in_force_since: datetime
    """UTC; when it was first read."""
    read_by: str
    """Whose command, or which server, read it."""
    versions: int
    """How many there were, this one included."""
    sensors: tuple[str, ...]
    """Sensors that watch it."""

    @classmethod
    def of(cls, shown: MetricShown) -> MetricStanding:
        """Return what is shown of a metric."""
        return cls(**{name: getattr(shown, name) for name in cls.model_fields})


class MetricReadingShown(ApiModel):
    """One value."""

    bucket: str
    """The period, as local time of the organisation."""
    state: str
    """`value`, `missing` or `not_yet_arrived`: three different things, and zero is a value."""
    value: float | None = None
    """Absent unless the state is `value`."""
    n: int | None = None
    """How many rows it rests on."""
    dimensions: Mapping[str, Json] = Field(default_factory=dict)
    """The slice."""

    @classmethod
    def of(cls, reading: MetricReading) -> MetricReadingShown:
        """Return what is shown of a value."""
        return cls(
            bucket=reading.bucket,
            state=reading.state,
            value=reading.value,
            n=reading.n,
            dimensions=dict(reading.dimensions),
        )


class MetricValueList(ApiModel):
    """Values of a metric."""

    metric: str
    """Its name."""
    values: tuple[MetricReadingShown, ...]
    """Oldest period first."""


class MetricFieldChange(ApiModel):
    """One field that is not as it was."""

    field: str
    """Of the definition; `parts` where a metric that it is made of changed."""
    before: Json = None
    """What stood there; null for nothing."""
    after: Json = None
    """What stands there."""


class MetricVersionShown(ApiModel):
    """One version of a metric."""

    entry: str
    """`defined`, `changed` or `removed`."""
    version: str | None = None
    """Hash of the definition; null once it is removed."""
    in_force_since: datetime
    """UTC."""
    read_by: str
    """Whose command, or which server, read it first."""
    changed: tuple[MetricFieldChange, ...]
    """What is not as before."""
    recalibrates: bool
    """Whether its values are other ones, so that sensors that watch it began anew."""
    sensors: tuple[str, ...]
    """Those sensors, as they were then."""

    @classmethod
    def of(cls, row: MetricVersionRow) -> MetricVersionShown:
        """Return what is shown of a version."""
        return cls(
            entry=row.entry,
            version=row.version,
            in_force_since=row.in_force_since,
            read_by=row.read_by,
            changed=tuple(
                MetricFieldChange(field=each.field, before=each.before, after=each.after) for each in row.changed
            ),
            recalibrates=row.recalibrates,
            sensors=tuple(row.sensors),
        )


class MetricVersionList(ApiModel):
    """The versions of a metric."""

    metric: str
    """Its name."""
    versions: tuple[MetricVersionShown, ...]
    """Oldest first."""


@routes.get("", dependencies=[query_of("organisation")])
async def list_metrics(desk: AtDesk, asking: Asking, organisation: Whose = None) -> MetricList:
    """List the metrics of an organisation that the asker may see."""
    home = await desk.home_of(organisation, asking)
    sight = desk.application.sight(asking)
    there = await desk.application.metrics(home)
    return MetricList(metrics=tuple(metric for metric in there if sight.sees(metric.owner)))


@routes.get("/{metric}", dependencies=[query_of("organisation")])
async def get_metric(metric: Metric, desk: AtDesk, asking: Asking, organisation: Whose = None) -> MetricStanding:
    """Show the definition of a metric, since when it is in force, and which sensors watch it."""
    return MetricStanding.of(await _seen(desk, asking, organisation, metric))


@routes.get("/{metric}/values", dependencies=[query_of("organisation", "grain", "at", "bucket", "where", "by", "last")])
async def values(
    metric: Metric,
    desk: AtDesk,
    asking: Asking,
    *,
    organisation: Whose = None,
    grain: Annotated[Grain | None, Query(description="The period.")] = None,
    at: Annotated[AwareDatetime | None, Query(description="As known at this moment; absent, now.")] = None,
    bucket: Annotated[str | None, Query(description="One period.", examples=["2013-02-08"])] = None,
    where: Annotated[list[str] | None, Query(description="One slice, `DIMENSION=VALUE`; repeatable.")] = None,
    by: Annotated[list[str] | None, Query(description="A value for each slice; repeatable.")] = None,
    last: Annotated[int, Query(ge=1, le=10_000, description="How many periods, without `bucket`.")] = 7,
) -> MetricValueList:
    """Read values of a metric as known at a moment."""
    await _seen(desk, asking, organisation, metric)
    asked: dict[str, Any] = {"grain": grain.value if grain else None, "at": at, "bucket": bucket, "last": last}
    read = await desk.application.metric_values(
        await desk.home_of(organisation, asking), metric, where=_slices(where or []), by=by or (), **asked
    )
    return MetricValueList(metric=metric, values=tuple(map(MetricReadingShown.of, read)))


@routes.get("/{metric}/versions", dependencies=[query_of("organisation")])
async def versions(metric: Metric, desk: AtDesk, asking: Asking, organisation: Whose = None) -> MetricVersionList:
    """Tell how the definition of a metric changed, who read each version first, and which sensors began anew."""
    home = await desk.home_of(organisation, asking)
    if not desk.application.sight(asking).whole:
        await _seen(desk, asking, organisation, metric)
    found = await desk.application.metric_versions(home, metric)
    return MetricVersionList(metric=metric, versions=tuple(map(MetricVersionShown.of, found)))


async def _seen(desk: Desk, asking: Principal, organisation: Name | None, name: Name) -> MetricShown:
    """Return a metric that the asker may see; for others it is not there."""
    home = await desk.home_of(organisation, asking)
    found = await desk.application.metric(home, name)
    if not desk.application.sight(asking).sees(found.definition.owner):
        raise NotFound(f"There is no metric {name} here.", name=name)
    return found


def _slices(given: list[str]) -> dict[str, str]:
    found = {}
    for each in given:
        dimension, equals, value = each.partition("=")
        if not equals:
            raise InvalidArguments(f"`where` is DIMENSION=VALUE, not {each!r}.", where=each)
        found[dimension] = value
    return found
