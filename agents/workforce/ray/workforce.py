"""The workforce on Ray: the same employees, in hosts."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from agents.workforce.inline import InlineWorkforce
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

    def __init__(self, here: InlineWorkforce, hosts: Hosts) -> None:
        self._here = here
        self._hosts = hosts
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
        return Stretch(run.execution_id, lease, run.resumed, run.reopened, await self._hosts.ready())

    async def _park(self, run: ExecutionRun) -> None:
        """Count the execution as in progress, and once this process drains only until nothing is on any host."""
        async with run.steps:
            await run.steps.until_draining()
            while run.execution_id in await self._hosts.drain():  # noqa: ASYNC110 - the event is on another machine
                await asyncio.sleep(_LOOK_S)
            await run.steps.rest()
