"""Whole streams go behind tombstones: the audit accepts exactly the gaps that tombstones explain, on each database."""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine, text

from runtime.errors import LedgerError, VersionConflict
from runtime.ledger import open_store
from runtime.ledger.database import parse_address
from runtime.ledger.port import Append, AuditFault, NewEvent, Snapshot
from runtime.ledger.schema import events, names, streams, tombstones
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio


def fact(stream: str, version: int, count: int = 1) -> Append:
    return Append(stream, [NewEvent("step.finished", {"n": 1})] * count, version, "acme", "/organisation/acme")


@pytest.fixture
async def pruned(store: SqlStore) -> SqlStore:
    """Positions 1, 2, 4, 6 were of order/a and are gone; 3 and 5 are of order/b; 7 is the record."""
    await store.ledger.append(fact("order/a", 0, 2), fact("order/b", 0), fact("order/a", 2), fact("order/b", 1))
    await store.ledger.append(fact("order/a", 3), snapshots=[Snapshot("order/a", 4, b"x")])
    assert await store.ledger.prune({"order/a": 4}, reason="older than 30 days") == 4
    return store


def by_hand(url: str, *statements: str) -> None:
    engine = create_engine(parse_address(url))
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


async def test_a_pruned_stream_is_gone_and_the_audit_is_clean(pruned: SqlStore) -> None:
    ledger = pruned.ledger

    assert await ledger.verify() == []
    assert [event.position for event in await ledger.read_all()] == [3, 5, 7]
    assert (await ledger.read("order/a"), await ledger.snapshots("order/a")) == ([], [])
    assert await ledger.streams("order") == ["order/b"]
    assert (await ledger.horizon(), await ledger.head()) == (6, 7)


async def test_the_record_says_what_went_and_why(pruned: SqlStore) -> None:
    (record,) = await pruned.ledger.read("pruning/acme")

    assert record.type == "stream.pruned" and record.data is not None
    told = ("stream", "version", "first_position", "last_position", "reason")
    assert [record.data[name] for name in told] == ["order/a", 4, 1, 6, "older than 30 days"]


async def test_a_pruned_stream_goes_on_behind_its_tombstone_and_is_pruned_again(pruned: SqlStore) -> None:
    with pytest.raises(VersionConflict, match="at version 4, not 0"):
        await pruned.ledger.append(fact("order/a", 0))

    (event,) = await pruned.ledger.append(fact("order/a", 4))
    assert (event.stream_version, await pruned.ledger.streams("order")) == (5, ["order/b", "order/a"])
    assert await pruned.ledger.verify() == []

    assert await pruned.ledger.prune({"order/a": 5}, reason="again") == 1
    assert await pruned.ledger.verify() == []
    assert await pruned.ledger.horizon() == 8


async def test_another_process_goes_on_behind_the_tombstone_too(pruned: SqlStore, store_url: str) -> None:
    from pathlib import Path

    other = await open_store(LedgerSettings(url=store_url), home=Path(), clock=HandClock())
    await other.ledger.append(fact("order/a", 4))
    await other.close()

    with pytest.raises(VersionConflict, match="at version 5, not 4"):
        await pruned.ledger.append(fact("order/a", 4))
    assert await pruned.ledger.verify() == []


async def test_what_is_not_there_is_passed_over(pruned: SqlStore) -> None:
    assert await pruned.ledger.prune({"order/a": 4, "order/z": 0}, reason="twice") == 0
    assert await pruned.ledger.verify() == []
    assert await pruned.ledger.head() == 7


async def test_several_organisations_are_pruned_in_one_commit_each_with_its_record(store: SqlStore) -> None:
    other = Append("order/o", [NewEvent("step.finished", {})], 0, "other", "/organisation/other")
    await store.ledger.append(fact("order/a", 0), other, fact("card/a", 0, 3))

    assert await store.ledger.prune({"order/a": 1, "order/o": 1, "card/a": 3}, reason="old") == 5
    assert await store.ledger.verify() == []
    assert len(await store.ledger.read("pruning/acme")) == 2
    assert len(await store.ledger.read("pruning/other")) == 1


async def test_a_stream_that_moved_on_is_not_pruned(store: SqlStore) -> None:
    await store.ledger.append(fact("order/a", 0), fact("order/b", 0, 2), fact("hold/a", 0))

    for doomed, others in (({"order/b": 2, "order/a": 2}, {}), ({"order/a": 1}, {"hold/a": 0})):
        with pytest.raises(VersionConflict, match="Nothing was pruned"):
            await store.ledger.prune(doomed, reason="old", unchanged=others)

    assert await store.ledger.head() == 4
    assert len(await store.ledger.read_all()) == 4


async def test_records_of_what_is_gone_stay_and_a_reason_is_needed(sqlite_store: SqlStore) -> None:
    for doomed, reason in (({"pruning/acme": 1}, "x"), ({"erasure/acme": 1}, "x"), ({"order/a": 0}, "")):
        with pytest.raises(ValueError, match="Not pruned"):
            await sqlite_store.ledger.prune(doomed, reason=reason)


async def test_a_stream_that_lacks_an_event_is_not_pruned_for_that_would_hide_it(
    store: SqlStore, store_url: str
) -> None:
    await store.ledger.append(fact("order/a", 0, 3))
    by_hand(store_url, "DELETE FROM events WHERE position = 2")

    with pytest.raises(LedgerError, match="has 2 events, its head counts 3"):
        await store.ledger.prune({"order/a": 3}, reason="old")
    assert len(await store.ledger.read("order/a")) == 2


@pytest.mark.parametrize(
    "change",
    ["version = 3", "first_position = 2", "last_position = 5", "reason = 'nobody asked'", "at = at + 1",
     "chain_sha256 = (SELECT chain_sha256 FROM streams LIMIT 1)", "organisation = kind", "kind = organisation",
     "positions = (SELECT data FROM events WHERE position = 3)"],
)  # fmt: skip
async def test_a_tombstone_that_was_changed_is_found(pruned: SqlStore, store_url: str, change: str) -> None:
    by_hand(store_url, f"UPDATE tombstones SET {change}")

    faults = await pruned.ledger.verify()
    assert [fault for fault in faults if fault.stream == "order/a" and "tombstone" in fault.what]


async def test_a_tombstone_that_is_gone_leaves_a_gap_that_is_found(pruned: SqlStore, store_url: str) -> None:
    by_hand(store_url, "DELETE FROM tombstones")

    faults = await pruned.ledger.verify()
    assert AuditFault("order/a", 4, None, "its tombstone is missing: a record says that it was pruned") in faults
    assert AuditFault("order/b", 1, 3, "the events 1 to 2 of the ledger are missing") in faults


async def test_a_tombstone_without_a_record_is_found(pruned: SqlStore, store_url: str) -> None:
    engine = create_engine(parse_address(store_url))
    with engine.begin() as connection:
        number = names.select().where(names.c.text == "order/b").with_only_columns(names.c.number)
        head = connection.execute(streams.select().where(streams.c.stream == number.scalar_subquery())).one()
        grave = connection.execute(tombstones.select()).one()
        connection.execute(tombstones.insert().values({**grave._asdict(), "stream": head.stream}))
        connection.execute(events.delete().where(events.c.stream == head.stream))
        connection.execute(streams.delete().where(streams.c.stream == head.stream))
    engine.dispose()

    whats = [fault.what for fault in await pruned.ledger.verify() if fault.stream == "order/b"]
    assert "its stream was pruned without a record of it" in whats


async def test_what_stands_in_a_changed_tombstone_is_not_built_upon(pruned: SqlStore, store_url: str) -> None:
    await pruned.ledger.append(fact("order/a", 4))
    by_hand(store_url, "UPDATE tombstones SET positions = (SELECT data FROM events WHERE position = 3)")

    with pytest.raises(LedgerError, match="tombstone of order/a was changed by hand"):
        await pruned.ledger.prune({"order/a": 5}, reason="old")


async def test_any_other_missing_event_is_still_found(pruned: SqlStore, store_url: str) -> None:
    by_hand(store_url, "DELETE FROM events WHERE position = 5")

    assert (
        AuditFault("pruning/acme", 1, 7, "the events 5 to 5 of the ledger are missing") in await pruned.ledger.verify()
    )


async def test_an_event_put_back_where_one_was_pruned_is_found(pruned: SqlStore, store_url: str) -> None:
    by_hand(store_url, "UPDATE events SET position = 4 WHERE position = 5")

    assert ("order/b", 4) in [(fault.stream, fault.position) for fault in await pruned.ledger.verify()]


async def test_a_stream_with_an_erased_payload_is_pruned_cleanly(store: SqlStore) -> None:
    await store.ledger.append(fact("order/a", 0, 2), fact("order/b", 0))
    await store.ledger.erase("order/a", 1)
    await store.ledger.erase("order/b", 1)

    await store.ledger.prune({"order/a": 2}, reason="old")
    assert await store.ledger.verify() == []
