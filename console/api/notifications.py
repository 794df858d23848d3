"""What people were told and need not answer."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from console.api.desk import Asking, AtDesk, query_of
from console.api.shown import NotificationList
from console.seeing import sees_message
from contracts import Name, Notification

routes = APIRouter(prefix="/notifications", tags=["notifications"])
To = Annotated[Name | None, Query(description="Only those to this person.")]
Limit = Annotated[int, Query(ge=1, le=200, description="How many at most.")]


@routes.get("", dependencies=[query_of("to", "limit")])
async def list_notifications(desk: AtDesk, asking: Asking, to: To = None, limit: Limit = 50) -> NotificationList:
    """List what people were told, newest first."""
    sight = desk.application.sight(asking)

    async def sees(message: Notification) -> bool:
        known = None if sight.whole else await desk.skill_of(message.execution_id)
        return sight.whole or (known is not None and sees_message(sight, message, known[1]))

    told = await desk.application.notifications(organisation=asking.organisation, person=to, limit=limit, sees=sees)
    return NotificationList(notifications=tuple(told))
