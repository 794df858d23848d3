"""What a consumer saves in the same commit as its effect, and snapshots; over each real database."""

from __future__ import annotations

import asyncio

import pytest

from runtime.errors import NotFound, VersionConflict
from runtime.ledger.port import Append, Cursor, CursorChange, NewEvent, Snapshot
from runtime.ledger.store import SqlStore

pytestmark = pytest.mark.anyio


def fact(stream: str, version: int) -> Append:
    return Append(stream, [NewEvent("step.finished", {})], version, "acme", "/organisation/acme")


async def test_a_position_is_saved_with_what_was_made_of_the_events(store: SqlStore) -> None:
    assert await store.ledger.cursor("bus/a") == 0

    await store.ledger.append(fact("order/a", 0), cursors=[Cursor("bus/a", 7, expected=0)])

    assert await store.ledger.cursor("bus/a") == 7
    assert await store.ledger.head() == 1


async def test_a_consumer_that_stands_elsewhere_is_refused_with_its_effect(store: SqlStore) -> None:
    await store.ledger.append(cursors=[Cursor("bus/a", 7)])

    with pytest.raises(VersionConflict, match="bus/a stands at position 7, not 3") as refused:
        await store.ledger.append(fact("order/a", 0), cursors=[Cursor("bus/b", 1), Cursor("bus/a", 9, expected=3)])

    assert refused.value.facts == {"stream": "consumer/bus/a", "expected": 3, "actual": 7}
    assert (await store.ledger.head(), await store.ledger.cursor("bus/b")) == (0, 0)


async def test_of_many_processes_of_one_consumer_one_goes_on(store: SqlStore) -> None:
    moves = [store.ledger.append(fact(f"order/{n}", 0), cursors=[Cursor("bus/a", 5, expected=0)]) for n in range(10)]
    results = await asyncio.gather(*moves, return_exceptions=True)

    assert sum(isinstance(result, VersionConflict) for result in results) == 9
    assert await store.ledger.head() == 1


async def test_a_position_is_moved_without_events_and_without_an_expectation(store: SqlStore) -> None:
    for position in (5, 2):
        assert await store.ledger.append(cursors=[Cursor("bus/a", position)]) == ()

    assert await store.ledger.cursor("bus/a") == 2


async def test_cursors_are_told_by_prefix_with_what_they_keep(store: SqlStore) -> None:
    kept = {"pending": [3, 4], "who": "αb☃"}
    await store.ledger.append(cursors=[Cursor("bus/b", 1, data=kept), Cursor("bus/a", 2), Cursor("sse/a", 3)])

    assert await store.ledger.cursors("bus/") == [
        Cursor("bus/a", 2, expected=2),
        Cursor("bus/b", 1, expected=1, data=kept),
    ]
    assert len(await store.ledger.cursors()) == 3


async def test_changes_of_one_cursor_at_the_same_time_are_all_made(store: SqlStore) -> None:
    def one_more(stands: Cursor) -> Cursor:
        kept = (stands.data or {"seen": []})["seen"]
        return Cursor("bus/a", stands.position + 1, data={"seen": [*kept, stands.position]})

    await asyncio.gather(*(store.ledger.append(cursors=[CursorChange("bus/a", one_more)]) for _ in range(30)))

    assert await store.ledger.cursors() == [Cursor("bus/a", 30, expected=30, data={"seen": list(range(30))})]


async def test_a_change_that_refuses_stores_nothing_and_harms_no_other(store: SqlStore) -> None:
    def refuse(_stands: Cursor) -> Cursor:
        raise NotFound("not here")

    refused = store.ledger.append(fact("order/a", 0), cursors=[CursorChange("bus/a", refuse)])
    good = store.ledger.append(fact("order/b", 0), cursors=[Cursor("bus/b", 1)])
    outcomes = await asyncio.gather(refused, good, return_exceptions=True)

    assert isinstance(outcomes[0], NotFound) and not isinstance(outcomes[1], BaseException)
    assert [event.subject for event in await store.ledger.read_all()] == ["order/b"]
    assert [cursor.name for cursor in await store.ledger.cursors()] == ["bus/b"]


@pytest.mark.parametrize(
    "cursor",
    [Cursor("", 1), Cursor(" a", 1), Cursor("a" * 256, 1), Cursor("a\x00", 1), Cursor("a", -1), Cursor("a", 2**63),
     Cursor("a", 1, data={"x": float("nan")})],
)  # fmt: skip
async def test_a_cursor_that_cannot_be_saved_is_refused(sqlite_store: SqlStore, cursor: Cursor) -> None:
    with pytest.raises(ValueError, match=r"consumer"):
        await sqlite_store.ledger.append(cursors=[cursor])


async def test_one_consumer_twice_in_an_append_is_refused(sqlite_store: SqlStore) -> None:
    with pytest.raises(ValueError, match="one consumer twice"):
        await sqlite_store.ledger.append(cursors=[Cursor("a", 1), Cursor("a", 2)])


async def test_snapshots_come_back_by_version_and_the_later_one_of_a_version_counts(store: SqlStore) -> None:
    first, second, other = Snapshot("order/a", 2, b"\x00" * 10_000), Snapshot("order/a", 1, b""), b"again"
    await store.ledger.append(fact("order/a", 0), snapshots=[first, second, Snapshot("order/b", 1, b"b")])
    await store.ledger.append(snapshots=[Snapshot("order/a", 1, other)])

    assert await store.ledger.snapshots("order/a") == [Snapshot("order/a", 1, other), first]
    assert await store.ledger.snapshots("order/c") == []
    assert await store.ledger.verify() == []


async def test_a_refused_append_leaves_no_snapshot(store: SqlStore) -> None:
    with pytest.raises(VersionConflict):
        await store.ledger.append(fact("order/a", 3), snapshots=[Snapshot("order/a", 4, b"x")])

    assert await store.ledger.snapshots("order/a") == []


async def test_nothing_is_missing_before_anything_was_pruned(store: SqlStore) -> None:
    await store.ledger.append(fact("order/a", 0))

    assert await store.ledger.horizon() == 0
