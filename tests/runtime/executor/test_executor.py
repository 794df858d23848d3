"""Executions: claimed by one, kept alive, resumed, finished once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from contracts import CardId, ExecutionId, OrderState, StatusReport
from runtime.errors import BusinessRefusal, ExecutionBusy, LedgerUnavailable, NotFound, StaleWriter
from runtime.executor import ExecutionImported, ExecutionRun, ExecutionState, Executor, KeyInUse
from runtime.ledger.port import Append, Lease, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import ExecutorSettings
from tests.fakes.clock import HandClock
from tests.runtime.executor.bodies import FAST, Doing, done, executor, for_ever, report, started, stop, types, until

pytestmark = pytest.mark.anyio


async def test_an_execution_runs_once_and_its_report_stays(store: SqlStore, clock: HandClock) -> None:
    doing = Doing(done)
    one = Executor(store, clock, FAST, doing, "host:1")
    execution_id = await started(one)

    first = await one.run(execution_id)
    again = await one.run(execution_id)

    assert first == again and first.output == {"answer": 42}
    assert len(doing.runs) == 1
    assert await types(store, execution_id) == ["requested", "started", "finished"]
    assert await store.leases.live() == []


async def test_the_body_gets_what_was_asked_and_pinned(sqlite_store: SqlStore, clock: HandClock) -> None:
    doing = Doing(done)
    one = Executor(sqlite_store, clock, FAST, doing, "host:1")
    execution_id = await started(one, parameters={"day": "2013-02-08"})
    await one.run(execution_id)

    (run,) = doing.runs
    assert (run.request.parameters, run.home, run.resumed) == ({"day": "2013-02-08"}, Path("/org"), False)
    assert run.root_order_id.ulid == execution_id.ulid
    assert run.leases[0].name == execution_id


async def test_the_same_key_is_the_same_execution_also_in_a_race(store: SqlStore, clock: HandClock) -> None:
    one = executor(store, clock, done)

    ids = await asyncio.gather(*(started(one, idempotency_key="k") for _ in range(8)))
    other = await started(one, idempotency_key="another")

    assert len(set(ids)) == 1 and other not in ids
    assert await store.ledger.streams("execution") == [ids[0], other]


@pytest.mark.parametrize(
    ("more", "differs"),
    [
        ({"goal": "find out more"}, ["goal"]),
        ({"skill": "other"}, ["skill"]),
        ({"skill": None, "plan": {"steps": [{"id": "a", "use": "x"}]}}, ["plan", "skill"]),
        ({"parameters": {"day": "2013-02-09"}}, ["parameters"]),
        ({"known_at": "2013-02-09T00:00:00Z", "language": "zh"}, ["known_at", "language"]),
    ],
)
async def test_a_key_that_was_used_for_something_else_is_refused_and_starts_nothing(
    store: SqlStore, clock: HandClock, more: dict[str, object], differs: list[str]
) -> None:
    one = executor(store, clock, done)
    asked: dict[str, object] = {"idempotency_key": "k", "skill": "look", "parameters": {"day": "2013-02-08"}}
    first = await started(one, **asked)

    with pytest.raises(KeyInUse, match="was used for") as refused:
        await started(one, **{**asked, **more})

    assert (refused.value.code, refused.value.facts["differs"]) == ("KEY_IN_USE", differs)
    assert refused.value.facts["execution_id"] == first
    assert await store.ledger.streams("execution") == [first]


async def test_the_same_request_by_another_person_or_under_other_terms_is_the_same_execution(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    one = executor(sqlite_store, clock, done)
    asked: dict[str, object] = {"idempotency_key": "k", "known_at": "2013-02-08T22:00:00Z", "goal": "a\0b"}

    first = await started(one, **asked)
    again = await started(
        one, **{**asked, "known_at": "2013-02-08T23:00:00+01:00"}, requested_by="ben",
        governance={"budget": {"steps": 3}},
    )  # fmt: skip

    assert first == again


async def test_an_unknown_execution_is_not_found(sqlite_store: SqlStore, clock: HandClock) -> None:
    with pytest.raises(NotFound, match="`silicon runs` lists"):
        await executor(sqlite_store, clock, done).run(ExecutionId.new())


async def test_a_second_runner_is_told_who_works_on_it(store: SqlStore, clock: HandClock) -> None:
    doing = Doing(for_ever)
    one = Executor(store, clock, FAST, doing, "host:1")
    execution_id = await started(one)
    running = asyncio.create_task(one.run(execution_id))
    await doing.begun.wait()

    with pytest.raises(ExecutionBusy, match=r"worked on by host:1/.* for another 15 s"):
        await executor(store, clock, done).run(execution_id)

    await stop(running)


async def test_a_wait_is_recorded_and_the_next_run_resumes(store: SqlStore, clock: HandClock) -> None:
    card = CardId.new()

    async def ask_first(run: ExecutionRun) -> StatusReport:
        if run.resumed:
            return report(run)
        return report(run, OrderState.WAITING, waiting_for=(card,))

    one = executor(store, clock, ask_first)
    execution_id = await started(one)
    await one.run(execution_id)
    waiting = await one.view(execution_id)
    await one.run(execution_id, "answered")

    assert (waiting.state, waiting.waiting_for) == (ExecutionState.WAITING, (card,))
    assert await one.orphans() == []
    assert await types(store, execution_id) == ["requested", "started", "waiting", "resumed", "finished"]


async def test_an_error_for_people_is_in_the_report(sqlite_store: SqlStore, clock: HandClock) -> None:
    async def refuse(run: ExecutionRun) -> StatusReport:
        raise BusinessRefusal("The service said no.", service="desk")

    one = executor(sqlite_store, clock, refuse)
    ended = await one.run(await started(one))

    assert ended.state is OrderState.FAILED and ended.error is not None
    assert (ended.error.code, ended.error.facts) == ("BUSINESS_REFUSAL", {"service": "desk"})


async def test_a_fault_of_the_program_is_told_without_its_traceback(
    sqlite_store: SqlStore, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    async def stumble(run: ExecutionRun) -> StatusReport:
        raise KeyError("nobody")

    one = executor(sqlite_store, clock, stumble)
    ended = await one.run(await started(one))

    assert ended.error is not None and ended.error.code == "UNEXPECTED"
    assert "KeyError: 'nobody'" in ended.error.message and "Traceback" not in ended.error.message
    assert "Traceback" in caplog.text


async def test_an_error_inside_a_group_is_told_as_itself(sqlite_store: SqlStore, clock: HandClock) -> None:
    async def fail_in_group(run: ExecutionRun) -> StatusReport:
        raise ExceptionGroup("tasks", [ExceptionGroup("inner", [BusinessRefusal("The service said no.")])])

    one = executor(sqlite_store, clock, fail_in_group)
    ended = await one.run(await started(one))

    assert ended.error is not None and ended.error.code == "BUSINESS_REFUSAL"


async def test_a_ledger_that_goes_away_leaves_the_execution_resumable(sqlite_store: SqlStore, clock: HandClock) -> None:
    async def lose_ledger(run: ExecutionRun) -> StatusReport:
        raise LedgerUnavailable("The ledger is locked.")

    one = executor(sqlite_store, clock, lose_ledger)
    execution_id = await started(one)
    with pytest.raises(LedgerUnavailable):
        await one.run(execution_id)

    assert [view.execution_id for view in await one.orphans()] == [execution_id]


async def test_an_interrupted_run_gives_its_lease_back_and_can_be_resumed(store: SqlStore, clock: HandClock) -> None:
    doing = Doing(for_ever)
    one = Executor(store, clock, FAST, doing, "host:1")
    execution_id = await started(one)
    running = asyncio.create_task(one.run(execution_id))
    await doing.begun.wait()
    await stop(running)

    assert await types(store, execution_id) == ["requested", "started"]
    assert await store.leases.live() == []
    assert [view.execution_id for view in await one.orphans()] == [execution_id]
    assert (await executor(store, clock, done).run(execution_id)).state is OrderState.DONE


async def test_an_interruption_at_any_moment_leaves_no_lease_behind(sqlite_store: SqlStore, clock: HandClock) -> None:
    one = executor(sqlite_store, clock, for_ever)
    execution_id = await started(one)
    for turns in range(25):
        running = asyncio.create_task(one.run(execution_id))
        for _ in range(turns):
            await asyncio.sleep(0.001)
        await stop(running)
        assert await sqlite_store.leases.live() == []


async def test_a_run_that_lost_its_lease_stops_and_writes_nothing(
    store: SqlStore, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken, renew = asyncio.Event(), store.leases.renew

    async def hang_until_taken(lease: Lease, ttl_s: float) -> Lease:
        await taken.wait()
        return await renew(lease, ttl_s)

    monkeypatch.setattr(store.leases, "renew", hang_until_taken)
    doing = Doing(for_ever)
    one = Executor(store, clock, FAST, doing, "host:1")
    execution_id = await started(one)
    running = asyncio.create_task(one.run(execution_id))
    await doing.begun.wait()
    clock.advance(16)
    assert [view.execution_id for view in await one.orphans()] == [execution_id]
    await executor(store, clock, done).run(execution_id, "orphaned")
    taken.set()

    async with asyncio.timeout(20):
        with pytest.raises(StaleWriter):
            await running
    assert await types(store, execution_id) == ["requested", "started", "resumed", "finished"]


async def test_a_body_whose_append_was_refused_as_stale_writes_nothing_more(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    async def write_late(run: ExecutionRun) -> StatusReport:
        clock.advance(16)
        await sqlite_store.leases.acquire(run.execution_id, "thief", 15)
        event = NewEvent("order.accepted")
        await sqlite_store.ledger.append(
            Append(run.root_order_id, [event], 0, "acme", "/organisation/acme", leases=run.leases)
        )
        return report(run)

    one = executor(sqlite_store, clock, write_late, ExecutorSettings())
    execution_id = await started(one)
    with pytest.raises(StaleWriter):
        await one.run(execution_id)

    assert await types(sqlite_store, execution_id) == ["requested", "started"]


async def test_a_heartbeat_keeps_the_lease(sqlite_store: SqlStore, clock: HandClock) -> None:
    async def work_long(run: ExecutionRun) -> StatusReport:
        for _ in range(4):
            clock.advance(10)
            await until(lambda: renewed(sqlite_store, clock))
        return report(run)

    one = executor(sqlite_store, clock, work_long)
    assert (await one.run(await started(one))).state is OrderState.DONE


@pytest.mark.parametrize("state", [OrderState.FAILED, OrderState.PARTIAL])
async def test_what_failed_is_taken_up_again_only_when_asked(
    store: SqlStore, clock: HandClock, state: OrderState
) -> None:
    states = iter([state, OrderState.DONE])

    async def work(run: ExecutionRun) -> StatusReport:
        return report(run, next(states))

    doing = Doing(work)
    one = Executor(store, clock, FAST, doing, "host:1")
    execution_id = await started(one)

    assert [(await one.run(execution_id)).state for _ in range(2)] == [state, state]
    assert (await one.run(execution_id, "mended", reopen=True)).state is OrderState.DONE
    assert (await one.run(execution_id, "again", reopen=True)).state is OrderState.DONE
    assert [run.reopened for run in doing.runs] == [False, True]


async def test_the_lease_of_a_process_that_died_here_is_taken_at_once(
    sqlite_store: SqlStore, clock: HandClock, dead_holder: str
) -> None:
    one = executor(sqlite_store, clock, done)
    execution_id = await started(one)
    await sqlite_store.leases.acquire(execution_id, dead_holder, 15)

    assert (await one.run(execution_id)).state is OrderState.DONE


async def test_executions_are_listed_oldest_first(store: SqlStore, clock: HandClock) -> None:
    one = executor(store, clock, done)
    first, second, foreign = await started(one), await started(one), await started(one, organisation="other")
    await one.run(first)

    assert [view.execution_id for view in await one.list(organisation="acme")] == [first, second]
    assert [view.execution_id for view in await one.list(unfinished_only=True)] == [second, foreign]


async def renewed(store: SqlStore, clock: HandClock) -> bool:
    (lease,) = await store.leases.live()
    return (lease.expires_at - clock.now()).total_seconds() == 15


@pytest.mark.parametrize("ended", [True, False])
async def test_what_was_imported_never_goes_on(sqlite_store: SqlStore, clock: HandClock, *, ended: bool) -> None:
    doing = Doing(done)
    one = Executor(sqlite_store, clock, FAST, doing, "host:1")
    execution_id = await started(one)
    if ended:
        await one.run(execution_id)
    runs = len(doing.runs)
    view = await one.view(execution_id)
    imported = Append(execution_id, [NewEvent("execution.imported", {})], view.version, "acme", "/organisation/acme")

    await sqlite_store.ledger.append(imported)

    seen = await one.view(execution_id)
    assert (seen.state, seen.stood, seen.report) == (ExecutionState.IMPORTED, view.state, view.report)
    for go_on in (one.run(execution_id, reopen=True), one.cancel(execution_id, "ana")):
        if ended:
            await go_on
        else:
            with pytest.raises(ExecutionImported, match="happened elsewhere"):
                await go_on
    assert len(doing.runs) == runs
    assert await one.list(unfinished_only=True) == [] and await one.orphans() == []
    assert (await one.view(execution_id)).version == seen.version


async def test_one_that_is_pruned_while_they_are_listed_is_left_out(
    sqlite_store: SqlStore, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = executor(sqlite_store, clock, done)
    first, second = await started(one), await started(one)
    streams = sqlite_store.ledger.streams

    async def listed_before(*rest: Any, **more: Any) -> list[str]:
        found = await streams(*rest, **more)
        await sqlite_store.ledger.prune({first: 1}, reason="old")
        return found

    monkeypatch.setattr(sqlite_store.ledger, "streams", listed_before)

    assert [view.execution_id for view in await one.list()] == [second]
