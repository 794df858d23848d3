"""An execution that ends its process again and again is given up in the end; one that gets further never is."""

from __future__ import annotations

import pytest

from contracts import ExecutionId, OrderState, StatusReport
from runtime.errors import LedgerUnavailable
from runtime.executor import ExecutionRun, ExecutionState, Executor
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.runtime.executor.bodies import FAST, Doing, Work, done, executor, report, started, types

pytestmark = pytest.mark.anyio


async def leave(run: ExecutionRun) -> StatusReport:
    """Stop in the middle, as a process does that loses its ledger."""
    raise LedgerUnavailable("The ledger is gone.")


class Crashing:
    """An execution of which each stretch leaves a claim behind that nobody gives back."""

    def __init__(self, store: SqlStore, clock: HandClock, work: Work = leave) -> None:
        self.store = store
        self._clock = clock
        self.doing = Doing(work)
        self.executor = Executor(store, clock, FAST, self.doing, "host:1")

    async def begin(self) -> ExecutionId:
        self.execution_id = await started(self.executor)
        return self.execution_id

    async def stretch(self) -> StatusReport | None:
        """What a sweep does that finds the execution; where it is worked on, its process dies."""
        view = await self.executor.view(self.execution_id)
        try:
            return await self.executor.take_up(view, "orphaned")
        except LedgerUnavailable:
            await self.store.leases.acquire(self.execution_id, "elsewhere:1", 15)
            self._clock.advance(16)
            return None

    async def crashes(self) -> int:
        return (await self.executor.view(self.execution_id)).crashes


@pytest.fixture
def crashing(store: SqlStore, clock: HandClock) -> Crashing:
    return Crashing(store, clock)


async def test_after_five_crashes_it_fails_and_says_why_and_goes_on_by_hand(
    crashing: Crashing, store: SqlStore, clock: HandClock
) -> None:
    execution_id = await crashing.begin()
    assert [await crashing.stretch() for _ in range(5)] == [None] * 5

    ended = await crashing.stretch()

    assert ended is not None and ended.error is not None
    assert (ended.state, ended.error.code, ended.error.facts) == (OrderState.FAILED, "CRASH_LOOP", {"crashes": 5})
    assert len(crashing.doing.runs) == 5
    assert (await crashing.executor.view(execution_id)).state is ExecutionState.STOPPED
    assert await types(store, execution_id) == ["requested", "started", *["resumed"] * 4, "finished"]
    assert await store.leases.live() == []
    by_hand = await executor(store, clock, done).run(execution_id, "mended", reopen=True)
    assert by_hand.state is OrderState.DONE


async def test_once_it_goes_on_by_hand_it_is_counted_from_the_beginning(crashing: Crashing) -> None:
    await crashing.begin()
    for _ in range(6):
        await crashing.stretch()

    await crashing.executor.request_reopening(crashing.execution_id, "ana")

    assert [await crashing.stretch() for _ in range(5)] == [None] * 5
    assert await crashing.stretch() is not None


async def test_whoever_asks_for_it_by_hand_gets_another_try_before_it_is_given_up(crashing: Crashing) -> None:
    execution_id = await crashing.begin()
    for _ in range(5):
        await crashing.stretch()

    with pytest.raises(LedgerUnavailable):
        await crashing.executor.run(execution_id)

    assert len(crashing.doing.runs) == 6


@pytest.mark.parametrize(("event", "counts"), [("step.finished", False), ("effect.intended", True)])
async def test_only_what_gets_no_further_is_given_up(
    sqlite_store: SqlStore, clock: HandClock, event: str, *, counts: bool
) -> None:
    async def write_and_leave(run: ExecutionRun) -> StatusReport:
        version = len(await sqlite_store.ledger.read(run.root_order_id))
        await sqlite_store.ledger.append(
            Append(
                run.root_order_id, [NewEvent(event)], version, "acme", "/organisation/acme", run.execution_id,
                leases=run.leases,
            )
        )  # fmt: skip
        return await leave(run)

    crashing = Crashing(sqlite_store, clock, write_and_leave)
    await crashing.begin()
    for _ in range(8):
        await crashing.stretch()

    assert len(crashing.doing.runs) == (5 if counts else 8)


async def test_what_was_given_back_did_not_crash(sqlite_store: SqlStore, clock: HandClock) -> None:
    one = executor(sqlite_store, clock, leave)
    execution_id = await started(one)
    for _ in range(8):
        with pytest.raises(LedgerUnavailable):
            await one.take_up(await one.view(execution_id), "orphaned")

    assert (await one.view(execution_id)).crashes == 0


async def test_a_wait_for_people_ends_the_count(sqlite_store: SqlStore, clock: HandClock) -> None:
    async def leave_twice_then_wait(run: ExecutionRun) -> StatusReport:
        return await leave(run) if len(crashing.doing.runs) < 4 else report(run, OrderState.WAITING)

    crashing = Crashing(sqlite_store, clock, leave_twice_then_wait)
    await crashing.begin()
    counted = []
    for _ in range(4):
        await crashing.stretch()
        counted.append(await crashing.crashes())

    assert counted == [0, 1, 2, 0]
