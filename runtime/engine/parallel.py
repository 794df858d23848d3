"""Several things at once, in a bounded number, all of them settled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from runtime.engine.flow import Flow

T = TypeVar("T")


async def settle_all(jobs: Sequence[Callable[[], Awaitable[T]]], *, at_once: int, flow: Flow) -> list[T]:
    """Return what the jobs gave, in their order, however they finished; at most `at_once` run at the same time.

    A job that fails in a way of its business returns that as a value. One that raises (the ledger is gone, the run is
    cancelled) ends all: the others are cancelled and waited for, and the first exception goes on.
    """
    left = iter(enumerate(jobs))
    given: dict[int, T] = {}

    async def work() -> None:
        for number, job in left:
            given[number] = await job()

    places = min(at_once, len(jobs))
    if places <= 1:
        await work()
    else:
        with flow.side_by_side(places):
            workers = [asyncio.ensure_future(work()) for _ in range(places)]
            try:
                await asyncio.gather(*workers)
            finally:
                await stop_all(workers)
    return [given[number] for number in range(len(jobs))]


async def stop_all(tasks: Sequence[asyncio.Future[T]]) -> None:
    """Cancel what still runs and wait until it has ended."""
    running = [task for task in tasks if not task.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # it is told by whoever waits for the first; seen, so that nobody warns
