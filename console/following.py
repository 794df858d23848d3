"""Staying with an execution, whoever works on it: this process, or a server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from console.ports_executions import Watch
from console.signs import is_held
from contracts import Event, ExecutionId
from runtime.errors import LedgerUnavailable
from runtime.ledger.port import Store

LOOK_S = 0.2
"""How often the ledger is asked for what another process did."""


class Follower:
    """Tells the events of one execution, in order of position, none twice."""

    def __init__(
        self, store: Store, execution_id: ExecutionId, watch: Watch, *, after: int, by_others: bool = False
    ) -> None:
        """Take over what to follow, from the position `after` on; `by_others`: other processes work for this one."""
        self._store = store
        self._execution_id = execution_id
        self._watch = watch
        self._seen = after
        self._by_others = by_others
        self._stop: Callable[[], object] | None = None

    def listen(self) -> None:
        """Tell what is committed from now on: what this process does at once, what others do for it soon after."""
        if self._stop is not None:
            return
        if self._by_others:  # and in the order of all: what this process does is not told ahead of the others
            self._stop = asyncio.create_task(self._look(), name=f"follows {self._execution_id}").cancel
        else:
            self._stop = self._store.ledger.on_commit(self._see)

    def stop(self) -> None:
        """Tell no more."""
        if self._stop is not None:
            self._stop()
            self._stop = None

    async def until_free(self) -> None:
        """Tell what others commit, until nobody holds the execution any more."""
        self.stop()
        while await is_held(self._store, self._execution_id):
            await self.catch_up()
            await asyncio.sleep(LOOK_S)
        await self.catch_up()

    async def _look(self) -> None:
        while True:
            with suppress(LedgerUnavailable):  # whoever works on the execution tells that; the next look tells the rest
                await self.catch_up()
            await asyncio.sleep(LOOK_S)

    async def catch_up(self) -> None:
        """Tell what was committed and not told yet."""
        while page := await self._store.ledger.read_execution(self._execution_id, after=self._seen):
            self._see(page)

    def _see(self, events: Sequence[Event]) -> None:
        for event in events:
            if event.execution_id == self._execution_id and event.position > self._seen:
                self._seen = event.position
                self._watch(event)


@asynccontextmanager
async def following(
    store: Store, execution_id: ExecutionId, watch: Watch, *, by_others: bool = False
) -> AsyncIterator[Follower]:
    """Give a follower that tells what happens to the execution from now on.

    Args:
        by_others: whether other processes carry steps out while this one works on it, as hosts of Ray do.
    """
    follower = Follower(store, execution_id, watch, after=await store.ledger.head(), by_others=by_others)
    follower.listen()
    try:
        yield follower
        if by_others:
            await follower.catch_up()
    finally:
        follower.stop()
