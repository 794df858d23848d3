"""The service: what can go on is found and worked on, once; what cannot is left alone; the end is in good order."""

from __future__ import annotations

import asyncio
import logging

import pytest

from contracts import CardId, ExecutionId, OrderState, StatusReport
from runtime.errors import LedgerUnavailable
from runtime.executor import ExecutionRun, ExecutionState, Executor
from runtime.ledger.port import Append, Lease, NewEvent
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.runtime.executor.bodies import Doing, done, for_ever, report, started, types
from tests.runtime.executor.serving import OFTEN, SELDOM, Server, ended, until_begun, until_news_of

pytestmark = pytest.mark.anyio


async def test_what_was_asked_before_and_during_its_life_is_done(store: SqlStore, clock: HandClock) -> None:
    doing = Doing(done)
    server = Server(store, clock, doing)
    before = await started(server.executor)
    async with server.up():
        meanwhile = await started(server.executor)
        await ended(server, before, meanwhile)

    assert len(doing.runs) == 2
    assert await store.leases.live() == []


async def test_it_is_told_of_a_request_and_does_not_wait_for_the_next_sweep(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    server = Server(sqlite_store, clock, Doing(done), SELDOM)
    async with server.up():
        await server.answers.judged.wait()
        by_bus = await started(server.executor)
        await ended(server, by_bus)


async def test_two_services_share_the_work_and_nothing_is_done_twice(store: SqlStore, clock: HandClock) -> None:
    doing = Doing(done)
    one, two = (Server(store, clock, doing, holder=f"host:{number}") for number in range(2))
    async with one.up(), two.up():
        executions = [await started(one.executor) for _ in range(20)]
        await ended(one, *executions)

    assert sorted(run.execution_id for run in doing.runs) == sorted(executions)
    for execution_id in executions:
        assert await types(store, execution_id) == ["requested", "started", "finished"]


async def test_what_a_process_left_behind_is_taken_up_once_its_lease_ran_out(store: SqlStore, clock: HandClock) -> None:
    doing = Doing(done)
    server = Server(store, clock, doing)
    execution_id = await started(server.executor)
    dead = Executor(store, clock, OFTEN.model_copy(update={"renew_s": 600.0}), Doing(for_ever), "elsewhere:1")
    lost = asyncio.create_task(dead.run(execution_id))
    await until_begun(store, execution_id)
    async with server.up():
        await server.answers.judged.wait()
        assert doing.runs == []
        clock.advance(16)
        await ended(server, execution_id)
    lost.cancel()
    await asyncio.wait([lost])

    assert (await types(store, execution_id))[-2:] == ["resumed", "finished"]


async def test_a_waiting_execution_goes_on_when_one_of_its_people_answered_and_only_then(
    store: SqlStore, clock: HandClock
) -> None:
    cards = CardId.new(), CardId.new()

    async def ask(run: ExecutionRun) -> StatusReport:
        return report(run) if len(doing.runs) == 3 else report(run, OrderState.WAITING, waiting_for=cards)

    doing = Doing(ask)
    server = Server(store, clock, doing)
    execution_id = await started(server.executor)
    async with server.up():
        await ended(server, execution_id, states={ExecutionState.WAITING})
        await several_sweeps(server)
        assert len(doing.runs) == 1

        server.answers.said[cards[0]] = await store.ledger.head() + 1
        server.service.wake(execution_id)
        await resumed(server, execution_id, times=1)
        await several_sweeps(server)
        assert len(doing.runs) == 2

        server.answers.said[cards[1]] = await store.ledger.head() + 1
        server.service.wake(execution_id)
        await ended(server, execution_id)

    assert len(doing.runs) == 3


async def test_an_answer_that_came_before_the_wait_was_recorded_is_not_missed(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    card = CardId.new()

    async def ask(run: ExecutionRun) -> StatusReport:
        if run.resumed:
            return report(run)
        server.answers.said[card] = await sqlite_store.ledger.head() + 1
        return report(run, OrderState.WAITING, waiting_for=(card,))

    server = Server(sqlite_store, clock, Doing(ask), SELDOM)
    async with server.up():
        await ended(server, await started(server.executor))


async def test_what_is_told_while_the_leases_are_read_is_not_missed(
    sqlite_store: SqlStore, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody holds it when the leases are read, and has given it back before that is looked at."""
    server, live = Server(sqlite_store, clock, Doing(done), SELDOM), sqlite_store.leases.live

    async def given_back_meanwhile(prefix: str = "") -> list[Lease]:
        monkeypatch.setattr(sqlite_store.leases, "live", live)
        server.service.wake(ExecutionId(prefix))
        return [Lease(prefix, "elsewhere:1", 1, clock.now())]

    async with server.up():
        await ended(server, await started(server.executor))  # from now on only what is told is found
        monkeypatch.setattr(sqlite_store.leases, "live", given_back_meanwhile)
        await ended(server, await started(server.executor))


async def test_a_cancel_of_what_nobody_works_on_is_carried_out(store: SqlStore, clock: HandClock) -> None:
    async def wait_or_take_back(run: ExecutionRun) -> StatusReport:
        return report(run, OrderState.CANCELLED if run.cancelled() else OrderState.WAITING, waiting_for=(CardId.new(),))

    doing = Doing(wait_or_take_back)
    server = Server(store, clock, doing, SELDOM)
    execution_id = await started(server.executor)
    async with server.up():
        await ended(server, execution_id, states={ExecutionState.WAITING})
        await server.executor.request_cancel(execution_id, "ana")
        await ended(server, execution_id)

    assert [run.cancelled() for run in doing.runs] == [False, True]


async def test_a_cancelled_execution_that_waits_for_people_is_left_alone_until_they_answer(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    card = CardId.new()
    answered = False

    async def ask_what_happened(run: ExecutionRun) -> StatusReport:
        state = OrderState.CANCELLED if answered and run.cancelled() else OrderState.WAITING
        return report(run, state, waiting_for=(card,))

    doing = Doing(ask_what_happened)
    server = Server(sqlite_store, clock, doing, OFTEN.model_copy(update={"cancel_most_s": 60.0}))
    execution_id = await started(server.executor)
    async with server.up():
        await ended(server, execution_id, states={ExecutionState.WAITING})
        await server.executor.cancel(execution_id, "ana")
        await ended(server, execution_id, states={ExecutionState.WAITING})
        again = await server.executor.cancel(execution_id, "ben")
        server.answers.judged.clear()
        await server.answers.judged.wait()  # a sweep passed over it
        runs = len(doing.runs)
        answered = True
        server.answers.said[card] = await sqlite_store.ledger.head() + 1
        server.service.wake(execution_id)
        await ended(server, execution_id)

    assert (runs, len(doing.runs)) == (2, 3)
    assert (again.state, again.cancel_requested_by) == (ExecutionState.WAITING, "ana")


async def test_a_failed_execution_goes_on_when_somebody_asks_for_it(store: SqlStore, clock: HandClock) -> None:
    states = iter([OrderState.FAILED, OrderState.DONE])

    async def fail_first(run: ExecutionRun) -> StatusReport:
        return report(run, next(states))

    doing = Doing(fail_first)
    server = Server(store, clock, doing, SELDOM)
    execution_id = await started(server.executor)
    async with server.up():
        await ended(server, execution_id, states={ExecutionState.STOPPED})
        await server.executor.request_reopening(execution_id, "ana")
        await ended(server, execution_id)

    assert [run.reopened for run in doing.runs] == [False, True]


async def test_no_more_than_the_limit_run_at_once_and_all_come_to_their_turn(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    at_once = most = 0
    full = asyncio.Event()

    async def count(run: ExecutionRun) -> StatusReport:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        if at_once == 3:
            full.set()
        await full.wait()
        at_once -= 1
        return report(run)

    server = Server(sqlite_store, clock, Doing(count), SELDOM.model_copy(update={"at_once": 3}))
    executions = [await started(server.executor) for _ in range(12)]
    async with server.up():
        await ended(server, *executions)

    assert most == 3


async def test_executions_of_others_are_left_alone(sqlite_store: SqlStore, clock: HandClock) -> None:
    doing = Doing(done)
    server = Server(sqlite_store, clock, doing, mine=lambda view: view.request.organisation == "acme")
    foreign, own = await started(server.executor, organisation="other"), await started(server.executor)
    async with server.up():
        await ended(server, own)
        await several_sweeps(server)

    assert await types(sqlite_store, foreign) == ["requested"]


async def test_one_that_raises_hinders_no_other_and_is_tried_again(
    sqlite_store: SqlStore, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    times = 0

    async def stumble(run: ExecutionRun) -> StatusReport:
        nonlocal times
        times += run.request.goal == "bad"
        if run.request.goal == "bad" and times < 3:
            raise LedgerUnavailable("The ledger is locked.")
        return report(run)

    server = Server(sqlite_store, clock, Doing(stumble))
    bad, good = await started(server.executor, goal="bad"), await started(server.executor, goal="good")
    async with server.up():
        await ended(server, bad, good)

    assert times == 3


async def test_a_ledger_that_goes_away_and_comes_back_is_told_once_and_ends_nothing(
    sqlite_store: SqlStore, clock: HandClock, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(sqlite_store, clock, Doing(done))
    looked = asyncio.Event()
    looks = 0

    async def away(*_: object, **__: object) -> list[str]:
        nonlocal looks
        looks += 1
        if looks == 3:
            looked.set()
        raise LedgerUnavailable("The ledger is gone.")

    execution_id = await started(server.executor)
    with caplog.at_level(logging.INFO):
        with monkeypatch.context() as gone:
            gone.setattr(sqlite_store.ledger, "streams", away)
            running = asyncio.create_task(server.service.run_forever())
            async with asyncio.timeout(60):
                await looked.wait()
            assert not server.service.ready
        await ended(server, execution_id)
        assert server.service.ready
        server.service.drain()
        await running

    assert caplog.text.count("the ledger is away") == caplog.text.count("the ledger is back") == 1


async def several_sweeps(server: Server) -> None:
    for _ in range(3):
        server.answers.judged.clear()
        await server.answers.judged.wait()


async def resumed(server: Server, execution_id: ExecutionId, *, times: int) -> None:
    async with asyncio.timeout(60):
        while True:
            view = await server.executor.view(execution_id)
            begun = (await types(server.executor._store, execution_id)).count("resumed")  # type: ignore[arg-type]
            if begun == times and view.state is ExecutionState.WAITING:
                return
            await asyncio.sleep(0.01)


async def test_two_that_end_their_process_again_and_again_are_not_worked_on_side_by_side(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """Each would be taken for the one that crashes; one that does not is held up by neither."""
    at_work: set[ExecutionId] = set()
    together: list[set[ExecutionId]] = []
    harmless_done, go_on = asyncio.Event(), asyncio.Event()

    async def work(run: ExecutionRun) -> StatusReport:
        if run.execution_id == harmless:
            harmless_done.set()
            return report(run)
        at_work.add(run.execution_id)
        together.append(set(at_work))
        await go_on.wait()
        at_work.remove(run.execution_id)
        return report(run)

    server = Server(sqlite_store, clock, Doing(work))
    crashing = [await started(server.executor) for _ in range(2)]
    for execution_id in crashing:
        fact = {"holder": "elsewhere:1", "reason": "orphaned", "crashes": 3}
        begun = [NewEvent("execution.started", {"holder": "elsewhere:1"}), NewEvent("execution.resumed", fact)]
        await sqlite_store.ledger.append(Append(execution_id, begun, 1, "acme", "/organisation/acme"))
        await sqlite_store.leases.acquire(execution_id, "elsewhere:1", 15)
    clock.advance(16)
    harmless = await started(server.executor)
    async with server.up():
        await harmless_done.wait()
        await until_news_of(server, sweeps=3)
        assert len(at_work) == 1
        go_on.set()
        await ended(server, *crashing)

    assert [len(each) for each in together] == [1, 1]
