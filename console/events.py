"""What the ledger holds of one execution or of all, and what it gets: in order, and to the end of the execution."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from console.resources import Resources
from console.told import events_of
from contracts import Event, ExecutionId
from runtime.executor import ExecutionState, ExecutionView


async def events_in(
    resources: Resources, execution_id: ExecutionId | None, *, after: int, follow: bool
) -> AsyncGenerator[Event, None]:
    """Give events of one execution or of all; see the port `Application`."""
    if not follow or (execution_id is not None and _is_over(await _view(resources, execution_id))):
        source = _so_far(resources, execution_id, after)
    elif execution_id is None:
        source = _committed(resources, after)
    else:
        source = _to_its_end(resources, execution_id, after)
    async with aclosing(source) as events:
        async for event in events:
            yield event


async def _so_far(resources: Resources, execution_id: ExecutionId | None, after: int) -> AsyncGenerator[Event, None]:
    store = await resources.store()
    if execution_id is not None:
        async for event in events_of(store, execution_id, after=after):
            yield event
        return
    while page := await store.ledger.read_all(after=after):
        for event in page:
            yield event
        after = page[-1].position


async def _committed(resources: Resources, after: int) -> AsyncGenerator[Event, None]:
    bus = await resources.bus()
    async with aclosing(bus.subscribe("*", after=after)) as committed:
        async for event in committed:
            yield event


async def _to_its_end(resources: Resources, execution_id: ExecutionId, after: int) -> AsyncGenerator[Event, None]:
    """Give what there is and what comes; one that failed may go on, so only an end that holds is one."""
    async with aclosing(_of_one(resources, execution_id, after)) as events:
        async for event in events:
            yield event
            if event.subject == execution_id:
                view = await _view(resources, execution_id)
                if _is_over(view) and view.version == event.stream_version:
                    return


async def _of_one(resources: Resources, execution_id: ExecutionId, after: int) -> AsyncGenerator[Event, None]:
    """Give the events of one execution; the bus is asked only for what came after those that there are."""
    head = await (await resources.store()).ledger.head()
    async for event in _so_far(resources, execution_id, after):
        yield event
        after = event.position
    async with aclosing(_committed(resources, max(after, head))) as committed:
        async for event in committed:
            if event.execution_id == execution_id:
                yield event


async def _view(resources: Resources, execution_id: ExecutionId) -> ExecutionView:
    return await (await resources.executor()).view(execution_id)


def _is_over(view: ExecutionView) -> bool:
    """Whether nothing more is to come: it ended, and nobody has had it go on since, or it happened elsewhere."""
    return view.report is not None or view.state is ExecutionState.IMPORTED
