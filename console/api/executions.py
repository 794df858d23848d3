"""Executions: asked for, listed, looked at, cancelled, taken up again. No request ever runs one."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Header, Query, Response

from console.api.asked import Cancelling, NewExecution, Paging, Resuming
from console.api.desk import Asking, AtDesk, OfExecution, query_of
from console.api.shown import Execution, ExecutionList, ExecutionSummary
from console.api.shown_tree import Tree
from console.budgets import budget_as_text
from console.views import RunOptions
from contracts import ExecutionId

routes = APIRouter(prefix="/executions", tags=["executions"])

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="The same key is the same execution, never two; the same request may be sent again with it.",
        examples=["night-report-2013-02-08"],
    ),
]


@routes.post("", status_code=202, responses={200: {"description": "The key was known: this is its execution."}})
async def submit(
    body: NewExecution, response: Response, desk: AtDesk, asking: Asking, idempotency_key: Key = None
) -> ExecutionSummary:
    """Hand a goal to an organisation; it is recorded when this answers, and the executor takes it up."""
    options = RunOptions(
        goal=body.goal,
        skill=body.skill,
        values=body.parameters,
        at=body.at,
        by=asking.acts_as(body.as_),
        key=idempotency_key,
        language=body.language,
        budget=budget_as_text(body.budget),
        priority=body.priority,
        mode=body.mode,
        strict=body.strict,
    )
    home = await desk.home_of(body.organisation, asking)
    await desk.application.require_room()
    submitted = await desk.application.submit(home, options)
    desk.wake(submitted.execution_id)
    summary = ExecutionSummary.of(await desk.application.row(submitted.execution_id))
    response.headers["Location"] = summary.links.self_
    if submitted.repeated:
        response.status_code = 200
    return summary


@routes.get("")
async def list_executions(desk: AtDesk, asking: Asking, paging: Annotated[Paging, Query()]) -> ExecutionList:
    """List executions, newest first, page by page."""
    organisation = paging.organisation or asking.organisation
    if organisation is not None and not asking.may_see(organisation):
        return ExecutionList(executions=())
    before = ExecutionId(f"{ExecutionId.KIND}/{paging.cursor}") if paging.cursor else None
    shown, last = await desk.page(organisation, asking, before=before, limit=paging.limit)
    return ExecutionList(executions=tuple(map(ExecutionSummary.of, shown)), next=None if last is None else last.ulid)


@routes.get("/{execution}", dependencies=[query_of()])
async def get(execution_id: OfExecution, desk: AtDesk, asking: Asking) -> Execution:
    """Show how an execution stands: what it found and delivered, what it waits for, what went wrong."""
    row = await desk.seen(execution_id, asking)
    return Execution.with_outcome(row, await desk.application.outcome(execution_id))


@routes.get("/{execution}/tree", response_model=Tree, dependencies=[query_of()])
async def tree(execution_id: OfExecution, desk: AtDesk, asking: Asking) -> Response:
    """Show every order and step of an execution, each with its output and where that came from."""
    await desk.seen(execution_id, asking)
    async with desk.reading_much:
        found = await desk.application.show(execution_id)
        body = await asyncio.to_thread(lambda: Tree.of(found).model_dump_json(by_alias=True))
    return Response(body, media_type="application/json")


@routes.post("/{execution}/cancel", status_code=202)
async def cancel(
    execution_id: OfExecution, desk: AtDesk, asking: Asking, body: Cancelling | None = None
) -> ExecutionSummary:
    """Ask an execution, or one branch of it, and everything below to stop; one that has ended stays as it is."""
    await desk.seen(execution_id, asking)
    by, branch = asking.acts_as(body.as_ if body else None), body.branch if body else None
    await desk.application.request_cancel(execution_id, by=by, branch=branch)
    desk.wake(execution_id)
    return ExecutionSummary.of(await desk.application.row(execution_id))


@routes.post("/{execution}/resume", status_code=202)
async def resume(
    execution_id: OfExecution, desk: AtDesk, asking: Asking, body: Resuming | None = None
) -> ExecutionSummary:
    """Ask for an execution that failed, reached a limit or was left behind to go on where it stood."""
    await desk.seen(execution_id, asking)
    by, budget = asking.acts_as(body.as_ if body else None), budget_as_text(body.budget) if body else {}
    await desk.application.request_resume(execution_id, by=by, budget=budget)
    desk.wake(execution_id)
    return ExecutionSummary.of(await desk.application.row(execution_id))
