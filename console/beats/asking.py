"""Goals that nobody typed: checked like any other, and recorded with what led to them in one commit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from agents.cognition.heartbeat.work import WorkBook
from agents.employee.root import root_order
from agents.organisation import Organisation, route
from contracts import ExecutionId, ExecutionRequest, OrderId
from runtime.canonical import sha256
from runtime.clock import Clock
from runtime.errors import InvalidArguments
from runtime.executor import Submitted
from runtime.executor.register import Register
from runtime.ledger.port import Append
from runtime.model.naming import names_in
from runtime.settings.load import Settings


class Asking:
    """Records what an organisation asks of itself, as its folder stands now."""

    def __init__(
        self, register: Register, book: WorkBook, organisation: Organisation, pinned: bytes, *, home: Path,
        settings: Settings, clock: Clock,
    ) -> None:  # fmt: skip
        self._register = register
        self._book = book
        self._organisation = organisation
        self._pinned = pinned
        self._home = home
        self._settings = settings
        self._clock = clock
        self._meta = asyncio.Lock()
        """Of sensors that are due together each is counted before the next is asked whether there is room."""

    async def submit(self, request: ExecutionRequest, beside: Sequence[Append]) -> Submitted:
        """Record a request of a sensor with what stands beside it; see `agents.cognition.sense.timekeeping.Submit`.

        Raises:
            MetaRefused: it advances no goal, and there was meta work enough.
            InvalidArguments, NotFound, PermissionRefused: the goal cannot be carried out as it is.
        """
        whole = self.whole(request)
        if whole.advances is not None:
            return await self._record(whole, beside)
        async with self._meta:
            await self._book.require_room(whole, self._clock.now())
            return await self._record(whole, beside)

    async def submit_round(self, request: ExecutionRequest, beside: Sequence[Append]) -> Submitted:
        """Record a round of the heartbeat; it is no work that is counted against anything."""
        return await self._record(request, beside)

    async def _record(self, request: ExecutionRequest, beside: Sequence[Append]) -> Submitted:
        models = names_in(self._settings.model, self._organisation.models)
        return await self._register.submit(
            request, sha256(self._pinned), self._home, [self._pinned], models=models, beside=beside
        )

    def whole(self, request: ExecutionRequest) -> ExecutionRequest:
        """Return the request with its skill, tried once for nothing, so that whatever is missing is told now."""
        if request.skill is None and request.plan is None:
            found = route(request.goal, self._organisation.skills.values()).skill
            if found is None:
                raise InvalidArguments(
                    f"No skill of {self._organisation.name} fits “{request.goal[:200]}”, or several do. "
                    "Name one with `raises.skill` in the file of the sensor."
                )
            request = request.model_copy(update={"skill": found})
        root_order(
            request,
            self._organisation,
            skill=request.skill,
            order_id=OrderId.new(),
            execution_id=ExecutionId.new(),
            trace_id="trial",
            now=self._clock.now(),
        )
        return request
