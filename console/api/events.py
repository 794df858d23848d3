"""What happens, as server-sent events: of everything, and of one execution."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query, Response

from console.api.desk import Asking, AtDesk, Desk, OfExecution, query_of
from console.api.errors import CursorAhead, TooManyReaders
from console.api.readers import ReaderOfAll, ReaderOfExecution
from console.api.stream import EventStream
from runtime.bus.pattern import compile_pattern

routes = APIRouter(tags=["events"])
Cursor = Annotated[int | None, Query(ge=0, le=2**63 - 1, description="Only events with a greater position.")]
LastEventId = Annotated[
    int | None,
    Header(alias="Last-Event-ID", ge=0, le=2**63 - 1, description="Where an earlier stream stood; wins over `after`."),
]
Pattern = Annotated[
    str,
    Query(
        alias="type",
        pattern=r"^[a-z0-9_.*]+$",
        max_length=100,
        description="Only events of these types; `*` stands for any characters.",
        examples=["execution.*"],
    ),
]


@routes.get("/events", status_code=200, response_class=EventStream, dependencies=[query_of("after", "type")])
async def follow_all(
    desk: AtDesk, asking: Asking, after: Cursor = None, last_event_id: LastEventId = None, types: Pattern = "*"
) -> Response:
    """Follow everything that is committed, by any process.

    Each event is a message whose `id` is its position. Without a cursor the stream begins now. Where events after the
    cursor were pruned it says so: an event `gap` comes first, then an event `snapshot` with the executions as they
    stand, then what is committed after that.
    """
    cursor = after if last_event_id is None else last_event_id
    head = await _head(desk, cursor)
    reader = ReaderOfAll(desk, asking, compile_pattern(types), head if cursor is None else cursor)
    return EventStream(reader.chunks(), desk.feed)


@routes.get(
    "/executions/{execution}/events",
    status_code=200,
    response_class=EventStream,
    dependencies=[query_of("after", "type")],
    responses={204: {"description": "It has ended, and nothing comes after the cursor: an EventSource stays away."}},
)
async def follow_execution(
    execution_id: OfExecution,
    desk: AtDesk,
    asking: Asking,
    *,
    after: Cursor = None,
    last_event_id: LastEventId = None,
    types: Pattern = "*",
) -> Response:
    """Follow one execution from the cursor, or its start, to its end; then comes an event `end`, and nothing more."""
    row = await desk.seen(execution_id, asking)
    cursor = (after if last_event_id is None else last_event_id) or 0
    await _head(desk, cursor)
    over = cursor and (row.state.final or row.imported)
    if over and not await desk.application.events_after(cursor, execution_id=execution_id, limit=1):
        return Response(status_code=204)
    reader = ReaderOfExecution(desk, asking, compile_pattern(types), cursor, execution_id)
    return EventStream(reader.chunks(), desk.feed)


async def _head(desk: Desk, cursor: int | None) -> int:
    """Return the head of the ledger; raise when a stream cannot begin."""
    if desk.feed.is_full:
        raise TooManyReaders(
            "This server has as many readers of events as it serves (server.readers). Try again later."
        )
    head = await desk.application.head()
    if cursor is not None and cursor > head:
        raise CursorAhead(
            f"The cursor {cursor} lies behind the last event of this ledger, which is {head}: it is of another ledger, "
            "or this one was restored from a backup. Begin without a cursor.",
            cursor=cursor,
            head=head,
        )
    return head
