"""The audit finds what somebody changed by hand, and says where."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from runtime.errors import LedgerError
from runtime.ledger.port import Append, AuditFault, NewEvent
from runtime.ledger.store import SqlStore

pytestmark = pytest.mark.anyio

Tamper = Callable[..., None]


@pytest.fixture
async def by_hand(sqlite_store: SqlStore, tmp_path: Path) -> Tamper:
    """A ledger of two streams, and a way into its file past the program: positions 1, 3, 5 are a, 2 and 4 are b."""
    for version in range(2):
        for stream in ("order/a", "order/b"):
            await sqlite_store.ledger.append(fact(stream, version))
    await sqlite_store.ledger.append(fact("order/a", 2))
    assert await sqlite_store.ledger.verify() == []

    def change(*statements: str) -> None:
        with closing(sqlite3.connect(tmp_path / "silicon.db")) as file, file:
            for statement in statements:
                file.execute(statement)

    return change


def fact(stream: str, version: int) -> Append:
    return Append(stream, [NewEvent("step.finished", {"n": version})], version, "acme", "/organisation/acme")


async def faults(store: SqlStore) -> list[tuple[str, int, int | None]]:
    return [(fault.stream, fault.version, fault.position) for fault in await store.ledger.verify()]


async def test_one_altered_byte_of_a_payload_is_found(sqlite_store: SqlStore, by_hand: Tamper) -> None:
    by_hand("UPDATE payloads SET data = CAST('{\"n\":7}' AS BLOB) WHERE position = 3")

    assert await sqlite_store.ledger.verify() == [
        AuditFault("order/a", 2, 3, "its payload was changed: the bytes do not match their hash")
    ]


async def test_a_payload_turned_into_text_is_found_and_reading_it_says_so(
    sqlite_store: SqlStore, by_hand: Tamper
) -> None:
    by_hand("UPDATE payloads SET data = replace(data, 'n', 'm') WHERE position = 3")
    assert await faults(sqlite_store) == [("order/a", 2, 3)]

    by_hand("UPDATE payloads SET data = CAST('no json' AS BLOB) WHERE position = 3")
    with pytest.raises(LedgerError, match="Event 2 of order/a was changed"):
        await sqlite_store.ledger.read("order/a")


@pytest.mark.parametrize(
    "change",
    [
        "type = X'FF'",
        "type = CAST(X'73FF' AS TEXT)",
        "type = 'step.failed'",
        "time = '2013-02-08T23:00:00.000000Z'",
        "organisation = 'other'",
        "source = '/organisation/other'",
        "execution_id = 'execution/01J9ZZZZZZZZZZZZZZZZZZZZZZ'",
        "trace_id = 'another'",
        "id = 'event/01J9ZZZZZZZZZZZZZZZZZZZZZZ'",
        "payload_sha256 = replace(payload_sha256, substr(payload_sha256, 1, 1), 'x')",
        "chain_sha256 = replace(chain_sha256, substr(chain_sha256, 1, 1), 'x')",
    ],
)
async def test_an_altered_column_is_found(sqlite_store: SqlStore, by_hand: Tamper, change: str) -> None:
    by_hand(f"UPDATE events SET {change} WHERE position = 3")

    assert ("order/a", 2, 3) in await faults(sqlite_store)


async def test_a_missing_row_is_found(sqlite_store: SqlStore, by_hand: Tamper) -> None:
    by_hand("DELETE FROM events WHERE position = 3", "DELETE FROM payloads WHERE position = 3")

    assert ("order/a", 3, 5) in await faults(sqlite_store)


async def test_a_missing_newest_row_is_found(sqlite_store: SqlStore, by_hand: Tamper) -> None:
    by_hand("DELETE FROM events WHERE position = 5", "DELETE FROM payloads WHERE position = 5")

    assert await faults(sqlite_store) == [("order/a", 2, 3), ("", 0, 5)]


async def test_two_rows_in_exchanged_order_are_found(sqlite_store: SqlStore, by_hand: Tamper) -> None:
    by_hand(
        "UPDATE events SET position = 100, version = 100 WHERE position = 1",
        "UPDATE events SET position = 1, version = 1 WHERE position = 3",
        "UPDATE events SET position = 3, version = 2 WHERE position = 100",
        "UPDATE payloads SET position = 100 WHERE position = 1",
        "UPDATE payloads SET position = 1 WHERE position = 3",
        "UPDATE payloads SET position = 3 WHERE position = 100",
    )

    assert {("order/a", 1, 1), ("order/a", 2, 3)} <= set(await faults(sqlite_store))


async def test_an_added_row_is_found(sqlite_store: SqlStore, by_hand: Tamper) -> None:
    by_hand(
        "INSERT INTO events SELECT 6, 'order/b', 3, id || 'x', type, time, source, organisation, execution_id, "
        "trace_id, payload_sha256, chain_sha256 FROM events WHERE position = 4",
        "INSERT INTO payloads SELECT 6, data, NULL FROM payloads WHERE position = 4",
    )

    assert ("order/b", 3, 6) in await faults(sqlite_store)


@pytest.mark.parametrize(
    "change",
    ["version = 9", "chain_sha256 = 'x'", "last_type = 'step.failed'", "organisation = 'other'", "kind = 'card'",
     "first_position = 2", "updated_at = '2013-02-09T00:00:00.000000Z'"],
)  # fmt: skip
async def test_an_altered_head_is_found(sqlite_store: SqlStore, by_hand: Tamper, change: str) -> None:
    by_hand(f"UPDATE streams SET {change} WHERE stream = 'order/a'")

    (fault,) = await sqlite_store.ledger.verify()
    assert (fault.stream, fault.position) == ("order/a", 5)
    assert change.partition(" ")[0] in fault.what


async def test_a_removed_or_invented_head_is_found(sqlite_store: SqlStore, by_hand: Tamper) -> None:
    by_hand("UPDATE streams SET stream = 'order/c' WHERE stream = 'order/a'")

    assert await faults(sqlite_store) == [("order/a", 3, 5), ("order/c", 3, None)]


async def test_a_payload_removed_without_a_record_is_found(sqlite_store: SqlStore, by_hand: Tamper) -> None:
    by_hand("UPDATE payloads SET data = NULL, erased_at = '2013-02-08T22:00:00.000000Z' WHERE position = 3")

    assert await sqlite_store.ledger.verify() == [
        AuditFault("order/a", 2, 3, "its payload was removed without a record of its erasure")
    ]


async def test_a_payload_row_that_is_gone_or_belongs_to_nothing_is_found(
    sqlite_store: SqlStore, by_hand: Tamper
) -> None:
    by_hand("UPDATE payloads SET position = 77 WHERE position = 3")

    assert await faults(sqlite_store) == [("order/a", 2, 3), ("", 0, 77)]


async def test_a_counter_set_back_is_found(sqlite_store: SqlStore, by_hand: Tamper) -> None:
    by_hand("UPDATE counter SET position = 4")

    assert [fault.what for fault in await sqlite_store.ledger.verify()] == [
        "the counter stands at 4, the last event is 5"
    ]


async def test_erased_bytes_are_nowhere_in_the_files(sqlite_store: SqlStore, tmp_path: Path) -> None:
    secret = "a-very-particular-secret"
    await sqlite_store.ledger.append(
        Append("order/a", [NewEvent("step.finished", {"x": secret})], 0, "acme", "/organisation/acme")
    )
    await sqlite_store.ledger.erase("order/a", 1)

    assert not files_with(secret.encode(), tmp_path)


def files_with(data: bytes, folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir() if data in file.read_bytes()]
