"""Staying with an execution, whoever works on it: this process, or a server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from console.ports import Watch
from contracts import Event, ExecutionId
from runtime.executor.holder import is_gone
from runtime.ledger.port import Store

LOOK_S = 0.2
"""How often the ledger is asked for what another process did."""


class Follower:
    """Tells the events of one execution, in order of position, none twice."""

    def __init__(self, store: Store, execution_id: ExecutionId, watch: Watch, *, after: int) -> None:
        self._store = store
        self._execution_id = execution_id
        self._watch = watch
        self._seen = after
        self._stop: Callable[[], None] | None = None

    def listen(self) -> None:
        """Tell what this process commits from now on, as it does."""
        if self._stop is None:
            self._stop = self._store.ledger.on_commit(self._see)

    def stop(self) -> None:
        """Tell no more."""
        if self._stop is not None:
            self._stop()
            self._stop = None

    async def until_free(self) -> None:
        """Tell what others commit, until nobody holds the execution any more."""
        self.stop()
        while await self._is_held():
            await self._catch_up()
            await asyncio.sleep(LOOK_S)
        await self._catch_up()

    async def _is_held(self) -> bool:
        held = await self._store.leases.live(self._execution_id)
        return any(not is_gone(lease.holder) for lease in held)

    async def _catch_up(self) -> None:
        while page := await self._store.ledger.read_execution(self._execution_id, after=self._seen):
            self._see(page)

    def _see(self, events: Sequence[Event]) -> None:
        for event in events:
            if event.execution_id == self._execution_id and event.position > self._seen:
                self._seen = event.position
                self._watch(event)


@asynccontextmanager
async def following(store: Store, execution_id: ExecutionId, watch: Watch) -> AsyncIterator[Follower]:
    """Give a follower that tells what happens to the execution from now on."""
    follower = Follower(store, execution_id, watch, after=await store.ledger.head())
    follower.listen()
    try:
        yield follower
    finally:
        follower.stop()
