"""Pruning: what is old and at rest goes, everything else stays, and the audit is clean, on each database."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from contracts import Event as Stored
from contracts import ExecutionId
from runtime.canonical import sha256
from runtime.errors import LedgerUnavailable, NotFound, StaleWriter, VersionConflict
from runtime.keeping import Holds, Pruned, prune, prune_blobs, pruning
from runtime.keeping.due import own_streams
from runtime.keeping.holds import stream_of
from runtime.ledger import open_store
from runtime.ledger.port import NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock
from tests.runtime.keeping.history import EVENTS, add, execution, fact

pytestmark = pytest.mark.anyio
DAYS = 30.0
DAY = 86_400.0


async def run(store: SqlStore, clock: HandClock, **rest: Any) -> Pruned:
    usual = {"days": DAYS, "stream_only_days": 7.0, "still_asks": lambda events: False}
    return await prune(store, clock, **{**usual, **rest})


async def own(store: SqlStore, execution_id: ExecutionId) -> list[str]:
    found = await store.reader.in_thread(lambda connection: own_streams(connection, execution_id))
    return [each.stream for each in found]


async def test_what_ended_long_ago_goes_and_the_rest_stays(store: SqlStore, clock: HandClock) -> None:
    old, running = await execution(store), await execution(store, ended=False)
    clock.advance(31 * DAY)
    young = await execution(store)

    pruned = await run(store, clock)

    assert (pruned.executions, pruned.events, pruned.streams) == ((old,), EVENTS, 4)
    assert await own(store, old) == [] and await store.ledger.read(old) == []
    assert await store.ledger.streams("execution") == [running, young]
    assert len(await store.ledger.read_execution(young)) == EVENTS + 1
    assert [event.type for event in await store.ledger.read_execution(old)] == ["request.claimed"]
    assert await store.ledger.verify() == []
    assert (await run(store, clock)).events == 0


async def test_zero_days_keep_everything(store: SqlStore, clock: HandClock) -> None:
    await execution(store)
    clock.advance(10_000 * DAY)

    assert (await run(store, clock, days=0)).events == 0


async def test_a_blob_goes_with_the_last_event_that_mentions_it(store: SqlStore, clock: HandClock) -> None:
    await execution(store, result=b"only here", shared=b"the organisation")
    clock.advance(31 * DAY)
    await execution(store, result=b"new", shared=b"the organisation")
    quoted = NewEvent("note.made", {"anywhere": [f"see sha256:{sha256(b'quoted')}."]})
    await store.ledger.append(fact("note/1", 0, quoted), blobs=[b"quoted", b"named by nobody"])

    pruned = await run(store, clock)

    assert pruned.blobs == 2 and pruned.blob_bytes > 0
    for gone in (b"only here", b"named by nobody"):
        with pytest.raises(NotFound):
            await store.blobs.get(sha256(gone))
    for kept in (b"the organisation", b"new", b"quoted"):
        assert await store.blobs.get(sha256(kept)) == kept
    assert await store.ledger.verify() == []


async def test_a_blob_named_while_payloads_are_read_stays(
    store: SqlStore, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await execution(store, result=b"twice")
    clock.advance(31 * DAY)
    named = NewEvent("step.finished", {"output_sha256": sha256(b"twice")})
    do, late = store.writer.do, [fact("order/late", 0, named)]

    async def meanwhile(job: Any, **rest: Any) -> Any:
        if "Deleting" in repr(job) and late:
            await store.ledger.append(late.pop(), blobs=[b"twice"])
        return await do(job, **rest)

    monkeypatch.setattr(store.writer, "do", meanwhile)
    await run(store, clock)

    assert late == [] and await store.blobs.get(sha256(b"twice")) == b"twice"
    assert await store.ledger.verify() == []


async def test_a_blob_named_in_the_very_commit_that_would_delete_it_stays(store: SqlStore) -> None:
    await store.blobs.put(b"named late")
    address = sha256(b"named late")
    deleting, gate = prune_blobs._Deleting(store, await store.ledger.head()), Event()
    named = NewEvent("step.finished", {"output_sha256": address})

    first = asyncio.ensure_future(store.writer.do(lambda transaction: gate.wait(60)))
    await asyncio.sleep(0)
    both = asyncio.gather(
        store.ledger.append(fact("order/late", 0, named), blobs=[b"named late"]),
        store.writer.do(lambda transaction: deleting.job(transaction, {address: 10})),
    )
    await asyncio.sleep(0)
    gate.set()

    assert await first and (await both)[1] == {}
    assert await store.blobs.get(address) == b"named late"


async def test_a_dry_run_tells_what_would_go_and_changes_nothing(store: SqlStore, clock: HandClock) -> None:
    await execution(store, result=b"only here", shared=b"of both")
    clock.advance(31 * DAY)
    await execution(store, shared=b"of both")
    head = await store.ledger.head()

    would = await run(store, clock, dry=True)

    assert await store.ledger.head() == head and would.events == EVENTS and would.blobs == 1
    does = await run(store, clock)
    assert replace(would, free_bytes=does.free_bytes) == does


async def test_a_hold_keeps_an_execution_whole_until_it_is_released(store: SqlStore, clock: HandClock) -> None:
    held, other = await execution(store), await execution(store)
    holds = Holds(store.ledger)
    store.fragments.write(held, NewEvent("model.said", {}), execution_id=held)
    await store.fragments.flush()
    await holds.place(held, "acme", reason="case 7", by="ana")
    clock.advance(31 * DAY)

    first = await run(store, clock)
    await holds.release(held, reason="settled", by="ana")
    second = await run(store, clock)

    assert (first.executions, first.held, first.fragments) == ((other,), (held,), 0)
    assert (second.executions, second.held) == ((held,), ())
    assert [event.type for event in await store.ledger.read(stream_of(held))] == ["hold.placed", "hold.released"]
    assert await store.fragments.read() == []
    assert await store.ledger.verify() == []


async def test_a_hold_or_a_claim_at_the_last_moment_wins(
    store: SqlStore, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, claimed = await execution(store), await execution(store)
    clock.advance(31 * DAY)
    take_away = pruning._Prune._take_away

    async def too_late(self: Any, execution_id: ExecutionId, *rest: Any) -> None:
        if execution_id == held:
            await Holds(store.ledger).place(held, "acme", reason="case 7", by="ana")
        else:
            await store.leases.acquire(claimed, "server:1", 15)
        await take_away(self, execution_id, *rest)

    monkeypatch.setattr(pruning._Prune, "_take_away", too_late)
    pruned = await run(store, clock)

    assert (pruned.executions, set(pruned.in_use)) == ((), {held, claimed})
    assert len(await store.ledger.read_execution(held)) == len(await store.ledger.read_execution(claimed)) == EVENTS + 1


async def test_what_somebody_works_on_or_is_asked_about_stays(store: SqlStore, clock: HandClock) -> None:
    claimed, asked = await execution(store), await execution(store)
    await add(store, f"card/{ExecutionId.new().ulid}", "card.raised", asked)
    clock.advance(31 * DAY)
    lease = await store.leases.acquire(claimed, "server:1", 15)
    assert lease is not None

    assert set((await run(store, clock)).in_use) == {claimed, asked}
    await store.leases.release(lease)
    assert (await run(store, clock)).executions == (claimed,)


async def test_a_card_that_waits_for_a_second_person_keeps_its_execution(store: SqlStore, clock: HandClock) -> None:
    asked, settled = await execution(store), await execution(store)
    clock.advance(31 * DAY)

    def still_asks(events: Sequence[Stored]) -> bool:
        return events[0].execution_id == asked

    pruned = await run(store, clock, still_asks=still_asks)

    assert (pruned.executions, pruned.in_use) == ((settled,), (asked,))
    assert (await run(store, clock)).executions == (asked,)


async def test_nobody_takes_up_what_was_pruned(store: SqlStore, clock: HandClock) -> None:
    old = await execution(store)
    lease = await store.leases.acquire(old, "server:1", 15)
    clock.advance(31 * DAY)
    assert lease is not None

    await run(store, clock)

    resumed = fact(old, 2, NewEvent("execution.resumed"), old)
    with pytest.raises(StaleWriter):
        await store.ledger.append(replace(resumed, leases=(lease,)))


async def test_a_pruning_that_was_killed_is_finished_by_the_next(
    store: SqlStore, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = await execution(store)
    clock.advance(31 * DAY)
    monkeypatch.setattr(pruning, "EVENTS_AT_ONCE", 1)
    do, jobs = store.writer.do, 0

    async def killed(job: Any, **rest: Any) -> Any:
        nonlocal jobs
        jobs += 1
        if jobs == 2:
            raise asyncio.CancelledError
        return await do(job, **rest)

    monkeypatch.setattr(store.writer, "do", killed)
    with pytest.raises(asyncio.CancelledError):
        await run(store, clock)
    monkeypatch.setattr(store.writer, "do", do)

    assert await store.ledger.read(old) == [] and len(await own(store, old)) == 3
    assert await store.ledger.verify() == []
    assert (await run(store, clock, days=0)).executions == (old,)
    assert await own(store, old) == [] and await store.ledger.verify() == []


async def test_pruning_while_others_write_leaves_their_order_and_the_audit_whole(
    store: SqlStore, clock: HandClock
) -> None:
    for _ in range(8):
        await execution(store)
    clock.advance(31 * DAY)
    done = asyncio.Event()

    async def work() -> int:
        written = 0
        while not done.is_set():
            await execution(store, result=f"{written}".encode())
            written += 1
        return written

    working = asyncio.create_task(work())
    pruned = await run(store, clock)
    done.set()
    written = await working

    assert len(pruned.executions) == 8
    assert len(await store.ledger.streams("execution")) == written
    assert await store.ledger.verify() == []


async def test_fragments_go_some_days_after_what_they_make_up_was_stored(store: SqlStore, clock: HandClock) -> None:
    for stream in ("order/answered", "order/silent"):
        await add(store, stream, "order.accepted")
        store.fragments.write(stream, NewEvent("model.said", {}))
    await store.fragments.flush()
    clock.advance(60)
    await add(store, "order/answered", "model.answered")
    clock.advance(6 * DAY)
    store.fragments.write("order/answered", NewEvent("model.said", {"young": True}))
    await store.fragments.flush()
    assert (await run(store, clock)).fragments == 0

    clock.advance(1 * DAY)
    assert (await run(store, clock)).fragments == 1
    assert [each.stream for each in await store.fragments.read()] == ["order/silent", "order/answered"]


async def test_erased_payloads_and_imports_and_pruning_together_are_clean(store: SqlStore, clock: HandClock) -> None:
    old, kept = await execution(store), await execution(store)
    await store.ledger.erase(f"order/{old.ulid}", 2)
    await store.ledger.erase(f"order/{kept.ulid}", 2)
    await Holds(store.ledger).place(kept, "acme", reason="case 7", by="ana")
    clock.advance(31 * DAY)

    assert (await run(store, clock)).executions == (old,)
    assert await store.ledger.verify() == []


async def test_deleted_bytes_leave_an_embedded_file(sqlite_store: SqlStore, clock: HandClock) -> None:
    await execution(sqlite_store, steps=150, result=b"a secret of the customer " * 9)
    clock.advance(31 * DAY)
    file = Path(sqlite_store.address)

    first = await run(sqlite_store, clock)
    size = file.stat().st_size  # noqa: ASYNC240
    second = await run(sqlite_store, clock, compact=True)

    assert first.free_bytes and (second.free_bytes, first.compacted, second.compacted) == (0, None, True)
    assert file.stat().st_size <= size - first.free_bytes  # noqa: ASYNC240
    assert await sqlite_store.ledger.verify() == []


async def test_a_file_that_others_use_is_made_smaller_later(tmp_path: Path, clock: HandClock) -> None:
    settings = LedgerSettings(synchronous="NORMAL", busy_timeout_s=0.05)
    store = await open_store(settings, home=tmp_path, clock=clock)
    await execution(store)
    clock.advance(31 * DAY)
    with closing(sqlite3.connect(store.address)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerUnavailable, match="locked"):
            await run(store, clock, compact=True)
        other.rollback()
        await run(store, clock)
        other.execute("BEGIN IMMEDIATE")
        assert (await run(store, clock, stream_only_days=0, compact=True)).compacted is False
    await store.close()


async def test_two_prunings_at_once_share_the_work(store: SqlStore, clock: HandClock) -> None:
    old = [await execution(store) for _ in range(6)]
    clock.advance(31 * DAY)

    both = await asyncio.gather(run(store, clock), run(store, clock))

    assert sorted(each for pruned in both for each in pruned.executions) == sorted(old)
    assert await store.ledger.streams("execution") == []
    assert await store.ledger.verify() == []


async def test_a_second_store_sees_what_the_first_pruned(store: SqlStore, clock: HandClock, store_url: str) -> None:
    other = await open_store(LedgerSettings(url=store_url), home=Path(), clock=clock)
    old = await execution(other)
    clock.advance(31 * DAY)

    await run(store, clock)

    with pytest.raises(VersionConflict, match="at version 2, not 1"):
        await other.ledger.append(fact(old, 1, NewEvent("execution.resumed"), old))
    assert await other.ledger.verify() == []
    await other.close()
