"""Executions as they stand: listed page by page, and one of them looked at."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from console.errors import pruned
from console.queued import rows_with_queued
from console.resources import Resources
from console.standing import outcome_of
from console.told import Tellings, Told
from console.views import ExecutionOutcome, ExecutionRow
from contracts import ExecutionId, OrderState
from runtime import keeping
from runtime.errors import NotFound
from runtime.executor import ExecutionState, ExecutionView

_STATES = {
    ExecutionState.WAITING: OrderState.WAITING,
    ExecutionState.REQUESTED: OrderState.RUNNING,
    ExecutionState.RUNNING: OrderState.RUNNING,
}


Sees = Callable[[ExecutionView], Awaitable[bool]]
"""Whether an execution may be seen by whoever looks."""


class Listing:
    """What a person reads about executions."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._tellings = Tellings()

    async def executions(
        self,
        *,
        organisation: str | None,
        limit: int,
        before: ExecutionId | None = None,
        sees: Sees | None = None,
    ) -> Sequence[ExecutionRow]:
        """Return executions, newest first; only those that are shown are read, and those that are not to be seen."""
        executor, store = await self._resources.executor(), await self._resources.store()
        found: list[ExecutionView] = []
        newest = store.ledger.newest_streams
        while len(found) < limit and (
            listed := await newest("execution", organisation=organisation, before=before, limit=limit - len(found))
        ):
            views = await executor.views([ExecutionId(each) for each in listed])  # fewer where some were pruned since
            found += [view for view in views if sees is None or await sees(view)]
            before = ExecutionId(listed[-1])
        held = {lease.name for lease in await store.leases.live("execution/")}
        rows = [_row(view, held=str(view.execution_id) in held) for view in found]
        return await rows_with_queued(self._resources, rows)

    async def row(self, execution_id: ExecutionId) -> ExecutionRow:
        """Return one execution as the list shows it; raise NotFound when there is none, Pruned when it is gone."""
        executor, store = await self._resources.executor(), await self._resources.store()
        try:
            view = await executor.view(execution_id)
        except NotFound:
            gone = await keeping.gone(store, execution_id)
            if gone is None:
                raise
            raise pruned(execution_id, gone) from None
        held = any(lease.name == execution_id for lease in await store.leases.live(execution_id))
        (row,) = await rows_with_queued(self._resources, [_row(view, held=held)])
        return row

    async def outcome(self, execution_id: ExecutionId) -> ExecutionOutcome:
        """Return how an execution stands, with what it found and waits for."""
        view = await (await self._resources.executor()).view(execution_id)
        told = await self._tellings.of(await self._resources.store(), view)
        return await outcome_in(self._resources, view, told=told)


async def outcome_in(
    resources: Resources, view: ExecutionView, *, repeated: bool = False, told: Told | None = None
) -> ExecutionOutcome:
    """Return how an execution stands, with its cards, questions and products."""
    return await outcome_of(
        await resources.store(),
        view,
        await resources.questions(),
        home=resources.settings.home,
        people=resources.people_to_show,
        repeated=repeated,
        told=told,
    )


def _row(view: ExecutionView, *, held: bool) -> ExecutionRow:
    report = view.report
    return ExecutionRow(
        execution_id=view.execution_id,
        organisation=view.request.organisation,
        goal=view.request.goal,
        skill=view.request.skill,
        state=report.state if report else _STATES.get(view.stood or view.state, OrderState.RUNNING),
        requested_by=view.request.requested_by,
        requested_at=view.requested_at,
        seconds=report.usage.seconds if report else None,
        waiting_for=tuple(map(str, view.waiting_for)),
        held=held,
        imported=view.imported_at is not None,
    )
