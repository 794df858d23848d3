"""A service over a store, for tests: with people who answer when they are told to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from contracts import CardId, ExecutionId, QuestionId
from runtime.bus import InProcessBus
from runtime.draining import Draining
from runtime.executor import ExecutionState, ExecutionView, Executor, ExecutorService
from runtime.executor.port import Body
from runtime.ledger.store import SqlStore
from runtime.settings import ExecutorSettings
from tests.fakes.clock import HandClock
from tests.runtime.executor.bodies import types

OFTEN = ExecutorSettings(sweep_s=0.05, renew_s=1, cancel_grace_s=0.05, cancel_most_s=0.05, drain_s=5)
SELDOM = OFTEN.model_copy(update={"sweep_s": 60.0})
"""No second sweep within a test: only what is told is found."""


class Answers:
    """What people said: `said` is settled from the position of `at` on."""

    def __init__(self) -> None:
        self.said: dict[str, int] = {}
        self.judged = asyncio.Event()

    async def judge_deadlines(self) -> None:
        self.judged.set()

    async def settled(self, asked: Sequence[CardId | QuestionId], *, after: int) -> bool:
        return any(self.said.get(each, 0) > after for each in asked)


class Server:
    """One service over a store."""

    def __init__(
        self,
        store: SqlStore,
        clock: HandClock,
        body: Body,
        settings: ExecutorSettings = OFTEN,
        *,
        holder: str = "host:1",
        mine: Callable[[ExecutionView], bool] = lambda view: True,
    ) -> None:
        self.answers = Answers()
        draining = Draining()
        self.executor = Executor(store, clock, settings, body, holder, draining=draining)
        self.service = ExecutorService(
            self.executor,
            store,
            settings,
            draining=draining,
            asked=self.answers,
            bus=InProcessBus(store, poll_s=0.05),
            mine=mine,
        )

    @asynccontextmanager
    async def up(self) -> AsyncIterator[Server]:
        running = asyncio.create_task(self.service.run_forever())
        try:
            yield self
        finally:
            self.service.drain()
            async with asyncio.timeout(60):
                await running


async def ended(server: Server, *executions: ExecutionId, states: set[ExecutionState] | None = None) -> None:
    wanted = states or {ExecutionState.FINISHED}
    async with asyncio.timeout(60):
        while {(await server.executor.view(each)).state for each in executions} - wanted:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def until_news_of(server: Server, *, sweeps: int) -> None:
    for _ in range(sweeps):
        server.answers.judged.clear()
        await server.answers.judged.wait()


async def until_begun(store: SqlStore, execution_id: ExecutionId) -> None:
    async with asyncio.timeout(60):
        while "started" not in await types(store, execution_id):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
