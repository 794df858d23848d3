"""What every store promises; runs over each real database."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from contracts import ExecutionId
from runtime.errors import NotFound, StaleWriter, VersionConflict
from runtime.ledger.port import Append, Lease, NewEvent, Snapshot
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio


def fact(stream: str, version: int, *, event: str = "step.finished", **rest: Any) -> Append:
    data = rest.pop("data", {"step": "one"})
    rest = {"organisation": "acme", "source": "/organisation/acme", **rest}
    return Append(stream, [NewEvent(event, data)], version, **rest)


async def test_events_are_read_by_their_versions(store: SqlStore) -> None:
    events = [NewEvent("step.finished", {"n": n}) for n in range(1, 1_201)]
    await store.ledger.append(Append("order/a", events, 0, "acme", "/test"))
    await store.ledger.append(Append("order/b", events[:10], 0, "acme", "/test"))

    async def versions(*asked: int) -> list[int]:
        return [event.stream_version for event in await store.ledger.read_versions("order/a", asked)]

    assert await versions() == []
    assert await versions(7, 3, 3, 9_999) == [3, 7]
    assert await versions(*range(2, 1_201, 3)) == list(range(2, 1_201, 3))
    assert await versions(*range(1, 1_201)) == list(range(1, 1_201))


async def test_the_newest_event_of_each_stream_is_read_alone(store: SqlStore) -> None:
    for stream, count in (("order/b", 3), ("order/a", 2), ("card/a", 1), ("orders/a", 1)):
        await store.ledger.append(Append(stream, [NewEvent("order.opened", {})] * count, 0, "acme", "/test"))

    async def newest(*streams: str, prefix: str = "") -> list[tuple[str, int]]:
        found = await store.ledger.read_newest(*streams, prefix=prefix)
        return [(event.subject, event.stream_version) for event in found]

    assert await newest() == []
    assert await newest("order/a", "order/none") == [("order/a", 2)]
    assert await newest("card/a", "order/a", prefix="order/") == [("order/b", 3), ("order/a", 2), ("card/a", 1)]


async def test_what_rests_on_another_stream_is_refused_when_that_moved_on(store: SqlStore) -> None:
    snapshot = Snapshot("order/a", 1, b"1")
    await store.ledger.append(fact("order/a", 0), snapshots=[snapshot], unchanged={"order/b": 0})
    await store.ledger.append(fact("order/b", 0))
    with pytest.raises(VersionConflict) as refused:
        await store.ledger.append(
            fact("order/a", 1), snapshots=[Snapshot("order/a", 1, b"2")], unchanged={"order/b": 0}
        )

    assert refused.value.facts == {"stream": "order/b", "expected": 0, "actual": 1}
    assert await store.ledger.snapshots("order/a") == [snapshot]
    await store.ledger.append(fact("order/a", 1), unchanged={"order/b": 1})


async def test_what_was_appended_is_read_again(store: SqlStore, clock: HandClock) -> None:
    (stored,) = await store.ledger.append(fact("order/a", 0, data={"n": 1}))

    (read,) = await store.ledger.read("order/a")

    assert read == stored
    assert (read.position, read.stream_version, read.data, read.time) == (1, 1, {"n": 1}, clock.now())


async def test_the_second_writer_at_the_same_version_is_refused(store: SqlStore) -> None:
    await store.ledger.append(fact("order/a", 0))

    with pytest.raises(VersionConflict, match="at version 1, not 0") as refused:
        await store.ledger.append(fact("order/a", 0))

    assert refused.value.facts == {"stream": "order/a", "expected": 0, "actual": 1}
    assert await store.ledger.head() == 1


async def test_a_writer_ahead_of_the_stream_is_refused(store: SqlStore) -> None:
    with pytest.raises(VersionConflict):
        await store.ledger.append(fact("order/a", 3))


async def test_several_streams_are_stored_together_or_not_at_all(store: SqlStore) -> None:
    await store.ledger.append(fact("order/a", 0))

    with pytest.raises(VersionConflict):
        await store.ledger.append(fact("order/b", 0), fact("order/a", 0), blobs=[b"never"])

    assert await store.ledger.read("order/b") == []
    assert await store.ledger.streams("order") == ["order/a"]


async def test_one_append_may_write_a_stream_twice(store: SqlStore) -> None:
    await store.ledger.append(fact("order/a", 0), fact("card/a", 0), fact("order/a", 1))

    assert [event.stream_version for event in await store.ledger.read("order/a")] == [1, 2]
    assert await store.ledger.verify() == []


async def test_a_refused_append_takes_no_other_with_it(store: SqlStore) -> None:
    appends = [fact(f"order/{number % 10}", 0) for number in range(50)]

    results = await asyncio.gather(*(store.ledger.append(one) for one in appends), return_exceptions=True)

    assert sum(isinstance(result, VersionConflict) for result in results) == 40
    assert [event.position for event in await store.ledger.read_all()] == list(range(1, 11))
    assert await store.ledger.verify() == []


async def test_a_job_that_breaks_the_transaction_takes_no_other_with_it(store: SqlStore) -> None:
    def broken(transaction: Any) -> None:
        transaction.run("INSERT INTO nothing_of_this_name VALUES (1)")

    good = [store.ledger.append(fact(f"order/{number}", 0)) for number in range(5)]
    results = await asyncio.gather(*good, store.writer.do(broken), return_exceptions=True)

    assert [type(result).__name__ for result in results] == ["tuple"] * 5 + ["SchemaMismatch"]
    assert len(await store.ledger.read_all()) == 5
    assert await store.ledger.verify() == []


async def test_a_lost_lease_stops_the_append(store: SqlStore, clock: HandClock) -> None:
    old = await held(store, "execution/a", "one")
    clock.advance(20)
    new = await held(store, "execution/a", "two")

    with pytest.raises(StaleWriter, match="one no longer holds execution/a"):
        await store.ledger.append(fact("order/a", 0, leases=[old]))

    await store.ledger.append(fact("order/a", 0, leases=[new]))
    assert len(await store.ledger.read("order/a")) == 1


async def test_a_released_lease_stops_the_append(store: SqlStore) -> None:
    lease = await held(store, "execution/a", "one")
    await store.leases.release(lease)

    with pytest.raises(StaleWriter):
        await store.ledger.append(fact("order/a", 0, leases=[lease]))


async def test_streams_are_told_by_kind_organisation_last_type_and_prefix(store: SqlStore) -> None:
    await store.ledger.append(fact("card/b", 0, event="card.raised"), fact("card/B", 0, event="card.raised"))
    await store.ledger.append(fact("card/a", 0, event="card.raised"), fact("card/a", 1, event="card.decided"))
    await store.ledger.append(fact("card/c", 0, organisation="other"), fact("order/b", 0))

    assert await store.ledger.streams("card", organisation="acme") == ["card/b", "card/B", "card/a"]
    assert await store.ledger.streams("card", last_types=["card.raised"]) == ["card/b", "card/B"]
    assert await store.ledger.streams("card", prefix="card/B") == ["card/B"]


async def test_the_newest_streams_are_told_page_by_page_also_behind_one_that_was_pruned(store: SqlStore) -> None:
    for number in range(6):
        await store.ledger.append(fact(f"order/{number}", 0, organisation="odd" if number % 2 else "acme"))
    await store.ledger.append(fact("card/1", 0))
    newest = store.ledger.newest_streams
    first = await newest("order", limit=2)
    rest = await newest("order", before=first[-1], limit=9)
    await store.ledger.prune({"order/4": 1}, reason="old")

    assert (first, rest) == (["order/5", "order/4"], ["order/3", "order/2", "order/1", "order/0"])
    assert await newest("order", before="order/4", limit=9) == rest
    assert await newest("order", organisation="odd", limit=9) == ["order/5", "order/3", "order/1"]
    assert await newest("order", organisation="odd", before="order/2x", limit=9) == ["order/1"]


async def test_an_execution_is_read_across_its_streams(store: SqlStore) -> None:
    mine, other = ExecutionId.new(), ExecutionId.new()
    for number, execution in enumerate([mine, other, mine, mine]):
        await store.ledger.append(fact(f"order/{number}", 0, execution_id=execution, trace_id="t"))

    assert [event.position for event in await store.ledger.read_execution(mine)] == [1, 3, 4]
    assert [event.position for event in await store.ledger.read_execution(mine, after=1, limit=1)] == [3]


async def test_all_is_read_between_two_positions_and_of_some_types_alone(store: SqlStore) -> None:
    kinds = ["step.finished", "step.failed", "call.failed"] * 2
    await store.ledger.append(Append("order/a", [NewEvent(kind, {}) for kind in kinds], 0, "acme", "/test"))

    async def read(**how: Any) -> list[int]:
        return [event.position for event in await store.ledger.read_all(**how)]

    assert await read(after=1, until=4) == [2, 3, 4]
    assert await read(types={"step.failed", "call.failed"}) == [2, 3, 5, 6]
    assert await read(after=2, until=5, limit=1, types=["step.failed"]) == [5]
    assert await read(types=["never.happened"]) == []


async def test_listeners_hear_of_each_commit_after_it(store: SqlStore) -> None:
    heard: list[int] = []
    stop = store.ledger.on_commit(lambda events: heard.extend(event.position for event in events))

    await store.ledger.append(fact("order/a", 0))
    stop()
    await store.ledger.append(fact("order/a", 1))

    assert heard == [1]


async def test_an_erased_payload_is_gone_and_the_chain_is_whole(store: SqlStore) -> None:
    await store.ledger.append(fact("order/a", 0, data={"secret": "x"}), fact("order/a", 1))

    await store.ledger.erase("order/a", 1)
    await store.ledger.erase("order/a", 1)

    erased, kept = await store.ledger.read("order/a")
    assert (erased.data, kept.data) == (None, {"step": "one"})
    assert await store.ledger.verify() == []
    (record,) = await store.ledger.read("erasure/acme")
    assert record.data == {
        "stream": "order/a", "version": 1, "position": 1, "payload_sha256": erased.payload_sha256
    }  # fmt: skip


async def test_what_is_not_there_cannot_be_erased(store: SqlStore) -> None:
    with pytest.raises(NotFound, match="no event 7 in the stream order/a"):
        await store.ledger.erase("order/a", 7)


async def test_close_commits_what_waits(store_url: str, tmp_path: Any, clock: HandClock) -> None:
    from runtime.ledger import open_store
    from runtime.settings import LedgerSettings

    settings = LedgerSettings(url=store_url)
    first = await open_store(settings, home=tmp_path, clock=clock)
    waiting = [asyncio.ensure_future(first.ledger.append(fact(f"order/{n}", 0))) for n in range(20)]
    await asyncio.sleep(0)
    await first.close()
    await asyncio.gather(*waiting)

    second = await open_store(settings, home=tmp_path, clock=clock)
    assert await second.ledger.head() == 20
    await second.close()


async def held(store: SqlStore, name: str, holder: str) -> Lease:
    lease = await store.leases.acquire(name, holder, 15)
    assert lease is not None
    return lease
