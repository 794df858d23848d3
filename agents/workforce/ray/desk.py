"""What a host has on its desks: the stretches of executions that its employees take part in."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TypeAlias

from agents.workforce.ray.environment import take
from agents.workforce.ray.messages import Address, Stretch, unpack_stretch
from agents.workforce.ray.ports import Line, Office
from agents.workforce.ray.post import Apart, Post
from agents.workforce.ray.seating import Seating
from agents.workforce.ray.vigil import Vigil
from agents.workforce.shift import Shift
from contracts import ExecutionId, Name, StatusReport, TaskOrder
from runtime.draining import Draining, Steps
from runtime.executor import ExecutionRun
from runtime.executor.lookout import Lookout
from runtime.executor.register import Register
from runtime.executor.requests import Requests
from runtime.ledger.grip import Grip

CarryOut: TypeAlias = "Callable[[Desk, TaskOrder], Awaitable[StatusReport]]"


class Desk:
    """One stretch of an execution, as far as this host takes part in it."""

    def __init__(self, stretch: Stretch, run: ExecutionRun, shift: Shift, used: AsyncExitStack) -> None:
        self.execution_id: ExecutionId = run.execution_id
        self.fence = stretch.lease.fence
        self.run = run
        self.shift = shift
        self._used = used

    async def close(self) -> None:
        """Give back what was used."""
        await self._used.aclose()


class Desks:
    """The stretches of one host, each opened with its first order and kept until whoever began it says that it ended.

    What a stretch is about is read from the ledger; so are requests to stop, which reach every host by themselves.
    """

    def __init__(
        self, office: Office, line: Line, address: Address, grip: Grip, *, alone: Name | None, draining: Draining,
        carry_out: CarryOut,
    ) -> None:  # fmt: skip
        self._office = office
        self._line = line
        self._address = address
        self._grip = grip
        self._alone = alone
        self._draining = draining
        self._carry_out = carry_out
        self._vigil = Vigil(office.store.leases, look_s=office.settings.renew_s)
        self._apart = Apart(line)
        self._lookout = Lookout(office.store.ledger)
        self._register = Register(office.store)
        self._open: dict[bytes, Desk] = {}
        self._opening = asyncio.Lock()

    def ready(self, packed: bytes) -> Desk | None:
        """Return the desk of a stretch that is open."""
        return self._open.get(packed)

    async def at(self, packed: bytes) -> Desk:
        """Return the desk of a stretch, opened when it is not."""
        async with self._opening:
            if packed not in self._open:
                self._open[packed] = await self._opened(unpack_stretch(packed))
            return self._open[packed]

    def busy(self) -> frozenset[ExecutionId]:
        """Return the executions with a step in progress here."""
        return frozenset(desk.execution_id for desk in self._open.values() if desk.run.steps.busy)

    async def close(self, execution_id: str | None = None) -> None:
        """Close the desks of one execution, or all."""
        for packed, desk in tuple(self._open.items()):
            if execution_id in (None, desk.execution_id):
                del self._open[packed]
                await desk.close()
        if execution_id is None:
            self._vigil.close()

    async def _opened(self, stretch: Stretch) -> Desk:
        take(stretch.environment)
        view = await self._register.view(stretch.execution_id)
        requests = Requests(self._office.store.ledger, self._lookout, view)
        run = ExecutionRun.of(
            view,
            resumed=stretch.resumed,
            reopened=stretch.reopened,
            leases=(stretch.lease, self._address.lease),
            cancelled=lambda: requests.cancelled,
            cancelled_branches=lambda: requests.cancelled_branches,
            still_held=self._grip.still_held,
            steps=Steps(self._draining),
        )
        async with AsyncExitStack() as used:
            workforce = await used.enter_async_context(self._office.workforce(run.organisation_sha256, run.home))
            following = asyncio.create_task(requests.heed(), name=f"cancel of {run.execution_id}")
            used.push_async_callback(_ended, following)
            post = Post(
                stretch, Seating(workforce.staff), self._line, self._vigil, self._apart, known=run.known,
                me=self._address.actor, alone=self._alone, here=lambda order: self._carry_out(desk, order),
            )  # fmt: skip
            desk = Desk(stretch, run, workforce.shift(run, send=post.send), used.pop_all())
        return desk


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
