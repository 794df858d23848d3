"""Alerts: shown to whoever sees the department, taken on and silenced by roles; and what attention is given to."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from pydantic import Field

from console.api.asked import Acting
from console.api.desk import Asking, AtDesk, Desk, query_of
from console.api.shown_alerts import AlertList, AlertShown, AlertWithHistory, AttentionOf, SilenceShown
from console.ports_alerts import Sees
from contracts import AlertId, Name, SilenceId
from contracts.ids import ULID_PATTERN
from governance.access import Principal
from governance.alerts import Matcher

routes = APIRouter(tags=["alerts"])
Whose = Annotated[Name | None, Query(description="Whose; may be left out where the token belongs to one organisation.")]
At = Annotated[
    datetime | None, Query(description="The moment; without a zone local time of the organisation. Else now.")
]


class SeeingTo(Acting):
    """What is known of an alert, and who sees to it."""

    organisation: Name | None = None
    """Whose alert it is; may be left out where the token belongs to one organisation."""
    reason: str = Field(default="", max_length=2_000)
    """What is known of it."""


class NewSilence(Acting):
    """Alerts of which nobody is told for a time; `GET /alerts?match=…` shows which those are now."""

    organisation: Name | None = None
    """Whose alerts; may be left out where the token belongs to one organisation."""
    match: dict[str, tuple[str, ...]] = Field(min_length=1, examples=[{"sensor": ["cancellations"]}])
    """Label → what it must be: one of these, `*` for any part."""
    reason: str = Field(min_length=1, max_length=2_000)
    """Why."""
    until: datetime | None = None
    """When it ends; without a zone local time of the organisation."""
    hours: float | None = Field(default=None, gt=0, le=87_600)
    """How long it lasts; in the place of `until`."""


class Lifting(Acting):
    """Who ends a silence."""

    organisation: Name | None = None
    """Whose silence it is; may be left out where the token belongs to one organisation."""


def _alert_id(
    ulid: Annotated[
        str,
        Path(
            alias="alert", pattern=ULID_PATTERN, description="The alert: the part of its id after the slash.",
            examples=["01JB0000000000000000000ART"],
        ),
    ],
) -> AlertId:  # fmt: skip
    return AlertId(f"{AlertId.KIND}/{ulid}")


def _silence_id(
    ulid: Annotated[
        str,
        Path(
            alias="silence", pattern=ULID_PATTERN, description="The silence: the part of its id after the slash.",
            examples=["01JB0000000000000000000SLN"],
        ),
    ],
) -> SilenceId:  # fmt: skip
    return SilenceId(f"{SilenceId.KIND}/{ulid}")


OfAlert = Annotated[AlertId, Depends(_alert_id)]
OfSilence = Annotated[SilenceId, Depends(_silence_id)]


def _sees(desk: Desk, asking: Principal) -> Sees:
    return desk.application.sight(asking).sees


@routes.get("/alerts", dependencies=[query_of("organisation", "all", "match", "at")])
async def list_alerts(
    desk: AtDesk,
    asking: Asking,
    *,
    organisation: Whose = None,
    all_: Annotated[bool, Query(alias="all", description="Also those that ended lately.")] = False,
    match: Annotated[
        list[str] | None, Query(description="`LABEL=VALUE`, may be repeated: only alerts that have them all.")
    ] = None,
    at: At = None,
) -> AlertList:
    """List alerts, the most pressing first, with the reasons why nobody is told of some, and the silences that hold."""
    folder = await desk.home_of(organisation, asking)
    shown = await desk.application.alerts(
        folder, all_=all_, match=tuple(match or ()), at=at, sees=_sees(desk, asking)
    )  # fmt: skip
    return AlertList.of(shown)


@routes.get("/alerts/{alert}", dependencies=[query_of("organisation")])
async def show_alert(alert: OfAlert, desk: AtDesk, asking: Asking, organisation: Whose = None) -> AlertWithHistory:
    """Show one alert with everything that happened to it."""
    folder = await desk.home_of(organisation, asking)
    return AlertWithHistory.of(*await desk.application.alert(folder, alert, sees=_sees(desk, asking)))


@routes.post("/alerts/{alert}/acknowledge")
async def acknowledge_alert(alert: OfAlert, body: SeeingTo, desk: AtDesk, asking: Asking) -> AlertShown:
    """Take an alert on: nobody else is called for it, unless it grows more severe."""
    folder = await desk.home_of(body.organisation, asking)
    await desk.application.alert(folder, alert, sees=_sees(desk, asking))
    by = asking.acts_as(body.as_)
    return AlertShown.of(await desk.application.acknowledge_alert(folder, alert, by=by, reason=body.reason))


@routes.post("/alerts/{alert}/resolve")
async def resolve_alert(alert: OfAlert, body: SeeingTo, desk: AtDesk, asking: Asking) -> AlertShown:
    """Say that an alert is over; further signals open it again."""
    folder = await desk.home_of(body.organisation, asking)
    await desk.application.alert(folder, alert, sees=_sees(desk, asking))
    by = asking.acts_as(body.as_)
    return AlertShown.of(await desk.application.resolve_alert(folder, alert, by=by, reason=body.reason))


@routes.post("/silences", status_code=201)
async def make_silence(body: NewSilence, desk: AtDesk, asking: Asking) -> SilenceShown:
    """Let nobody be told of what matches, for a time."""
    folder = await desk.home_of(body.organisation, asking)
    lasts = None if body.hours is None else timedelta(hours=body.hours)
    made = await desk.application.silence_alerts(
        folder, Matcher(body.match), by=asking.acts_as(body.as_), reason=body.reason, until=body.until, lasts=lasts
    )  # fmt: skip
    return SilenceShown.of(made)


@routes.post("/silences/{silence}/lift")
async def lift_silence(silence: OfSilence, body: Lifting, desk: AtDesk, asking: Asking) -> SilenceShown:
    """End a silence now; people are told of what is still open."""
    folder = await desk.home_of(body.organisation, asking)
    return SilenceShown.of(await desk.application.lift_silence(folder, silence, by=asking.acts_as(body.as_)))


@routes.get("/attention", dependencies=[query_of("organisation", "at")])
async def attention(desk: AtDesk, asking: Asking, organisation: Whose = None, at: At = None) -> AttentionOf:
    """Tell which alerts come first and why, which are left out and why, and how often sensors look."""
    folder = await desk.home_of(organisation, asking)
    return AttentionOf.of(await desk.application.attention(folder, at=at, sees=_sees(desk, asking)))
