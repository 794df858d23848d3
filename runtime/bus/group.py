"""The members of one group in this process, and what they share."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from contracts import Event
from runtime.bus.dead import RETRIED, is_for_groups
from runtime.bus.deliveries import Deliveries
from runtime.bus.handling import Handling
from runtime.bus.pattern import compile_pattern
from runtime.bus.port import Handler
from runtime.bus.progress import ProgressKeeper
from runtime.bus.sharing import GroupState, Sharing
from runtime.bus.steward import Steward
from runtime.bus.tail import Tail
from runtime.ledger.port import Store
from runtime.settings.groups import BusSettings

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_log = logging.getLogger(__name__)


class Group:
    """A consumer group as one process takes part in it."""

    def __init__(
        self,
        name: str,
        pattern: str,
        *,
        store: Store,
        tail: Tail,
        share: Callable[[GroupState], Sharing],
        settings: BusSettings,
        holder: str,
        after: int,
    ) -> None:
        self.pattern = pattern
        self.members = 0
        self._name = check_group(name)
        self._fits_type = compile_pattern(pattern)
        self._tail = tail
        self._state = GroupState(name, self.fits, ProgressKeeper(store.ledger, name, after=after), Deliveries())
        self._sharing = share(self._state)
        self._handling = Handling(store.ledger, self._state, settings, settled=self._settled)
        self._steward = Steward(
            self._state, ledger=store.ledger, leases=store.leases, tail=tail, sharing=self._sharing, holder=holder,
            stale_s=settings.stale_s, members=lambda: self.members,
        )  # fmt: skip
        self._task: asyncio.Task[None] | None = None

    def fits(self, event: Event) -> bool:
        """Whether the event is for this group."""
        return is_for_groups(event, self._name) and (event.type == RETRIED or self._fits_type(event.type))

    async def work(self, handler: Handler) -> None:
        """Be a member until cancelled."""
        async with self._joined():
            while True:
                await self._handling.handle(await self._state.hand.take(), handler)

    @asynccontextmanager
    async def _joined(self) -> AsyncGenerator[None, None]:
        self.members += 1
        if self.members == 1:
            self._task = asyncio.create_task(self._run(), name=f"bus-group-{self._name}")
        try:
            yield
        finally:
            self.members -= 1
            if self.members == 0 and self._task is not None:
                task, self._task = self._task, None
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _run(self) -> None:
        """Bring deliveries in, whatever fails on the way."""
        try:
            async with self._tail.following(), self._sharing.joined():
                while True:
                    try:
                        await self._steward.serve()
                    except Exception:
                        _log.exception("reading the ledger for the group %s failed; it goes on", self._name)
                        await asyncio.sleep(1)
        finally:
            self._state.hand.clear()

    def _settled(self, position: int) -> None:
        self._sharing.settled(position)
        self._steward.settled(position)


def check_group(name: str) -> str:
    """Return the name of a group; raise ValueError for what is none."""
    if len(name) > 64 or not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not the name of a group: a-z, digits and `-`, at most 64 characters.")
    return name
