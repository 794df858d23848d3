"""The workforce on Ray: the same employees, in hosts."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress

from agents.workforce.inline import InlineWorkforce
from agents.workforce.ray.environment import told_to_hosts
from agents.workforce.ray.hosts import Hosts
from agents.workforce.ray.messages import Stretch
from agents.workforce.ray.post import Post
from agents.workforce.ray.seating import Seating
from contracts import StatusReport
from runtime.errors import LedgerError
from runtime.executor.port import ExecutionRun

_LOOK_S = 0.1
"""How often it is looked whether hosts that drain have a step in progress."""


class RayWorkforce:
    """Runs executions of one organisation: the first order goes to the host of the head, and so on from there."""

    def __init__(
        self, here: InlineWorkforce, hosts: Hosts, *, names: Callable[[], Awaitable[frozenset[str]]] | None = None
    ) -> None:  # fmt: skip
        """Take the employees and their hosts over; `names` tells which variables the organisation's files may name."""
        self._here = here
        self._hosts = hosts
        self._names = names
        self._seating = Seating(here.staff)

    async def run(self, run: ExecutionRun) -> StatusReport:
        """Carry the execution out from its root order, or go on where it stood; raises as the inline one does."""
        post = Post(
            await self._stretch(run), self._seating, self._hosts.line, self._hosts.vigil, self._hosts.apart,
            known=run.known, refill=lambda: self._stretch(run),
        )  # fmt: skip
        parking = asyncio.create_task(self._park(run), name=f"parks {run.execution_id}")
        try:
            return await self._here.run(run, send=post.send)
        finally:
            parking.cancel()
            with suppress(LedgerError):
                await asyncio.shield(self._hosts.leave(run.execution_id))

    async def _stretch(self, run: ExecutionRun) -> Stretch:
        (lease,) = run.leases
        hosts = await self._hosts.ready()
        names = await self._names() if self._names is not None and self._hosts.of_this_process else frozenset()
        told = told_to_hosts(os.environ, names)
        return Stretch(run.execution_id, lease, run.resumed, run.reopened, hosts, told)

    async def _park(self, run: ExecutionRun) -> None:
        """Count the execution as in progress, and once this process drains only until nothing is on any host."""
        async with run.steps:
            await run.steps.until_draining()
            while run.execution_id in await self._hosts.drain():  # noqa: ASYNC110 - the event is on another machine
                await asyncio.sleep(_LOOK_S)
            await run.steps.rest()
