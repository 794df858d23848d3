"""The audit finds what somebody changed by hand, and says where."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from runtime.errors import LedgerError
from runtime.ledger import open_store
from runtime.ledger.port import Append, AuditFault, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio

Tamper = Callable[..., None]
A = "(SELECT number FROM names WHERE text = 'order/a')"
"""The number of a stream, in a statement of SQLite."""


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
    by_hand("UPDATE events SET data = CAST('{\"n\":7}' AS BLOB) WHERE position = 3")

    assert await sqlite_store.ledger.verify() == [
        AuditFault("order/a", 2, 3, "its payload was changed: the bytes do not match their hash")
    ]


async def test_a_payload_turned_into_text_is_found_and_reading_it_says_so(
    sqlite_store: SqlStore, by_hand: Tamper
) -> None:
    by_hand("UPDATE events SET data = replace(data, 'n', 'm') WHERE position = 3")
    assert await faults(sqlite_store) == [("order/a", 2, 3)]

    by_hand("UPDATE events SET data = CAST('no json' AS BLOB) WHERE position = 3")
    with pytest.raises(LedgerError, match="Event 2 of order/a was changed"):
        await sqlite_store.ledger.read("order/a")


@pytest.mark.parametrize(
    "change",
    [
        "type = X'FF'",
        "type = 'step.failed'",
        "type = 10000",
        "type = source",
        "time = time + 1",
        "time = time + 0.25",
        "time = 'yesterday'",
        "time = 9223372036854775807",
        "organisation = stream",
        "source = organisation",
        "execution_id = organisation",
        "trace_id = organisation",
        "id = zeroblob(16)",
        "id = X'00' || id",
        "id = 'event/01J9ZZZZZZZZZZZZZZZZZZZZZZ'",
        "payload_sha256 = zeroblob(32)",
        "payload_sha256 = hex(payload_sha256)",
        "chain_sha256 = zeroblob(32)",
    ],
)
async def test_an_altered_column_is_found(sqlite_store: SqlStore, by_hand: Tamper, change: str) -> None:
    by_hand(f"UPDATE events SET {change} WHERE position = 3")

    assert ("order/a", 2, 3) in await faults(sqlite_store)


async def test_a_missing_row_is_found(sqlite_store: SqlStore, by_hand: Tamper) -> None:
    by_hand("DELETE FROM events WHERE position = 3")

    assert ("order/a", 3, 5) in await faults(sqlite_store)


async def test_a_missing_newest_row_is_found(sqlite_store: SqlStore, by_hand: Tamper) -> None:
    by_hand("DELETE FROM events WHERE position = 5")

    assert await faults(sqlite_store) == [("order/a", 2, 3), ("", 0, 5)]


async def test_two_rows_in_exchanged_order_are_found(sqlite_store: SqlStore, by_hand: Tamper) -> None:
    by_hand(
        "UPDATE events SET position = 100, version = 100 WHERE position = 1",
        "UPDATE events SET position = 1, version = 1 WHERE position = 3",
        "UPDATE events SET position = 3, version = 2 WHERE position = 100",
    )

    assert {("order/a", 1, 1), ("order/a", 2, 3)} <= set(await faults(sqlite_store))


async def test_an_added_row_is_found(sqlite_store: SqlStore, by_hand: Tamper) -> None:
    by_hand(
        "INSERT INTO events SELECT 6, stream, 3, id, type, time, source, organisation, execution_id, trace_id, "
        "payload_sha256, chain_sha256, data, NULL FROM events WHERE position = 4",
    )

    assert ("order/b", 3, 6) in await faults(sqlite_store)


@pytest.mark.parametrize(
    "change",
    ["version = 9", "chain_sha256 = 'x'", "last_type = stream", "organisation = stream", "kind = 'card'",
     "first_position = 2", "updated_at = updated_at + 1"],
)  # fmt: skip
async def test_an_altered_head_is_found(sqlite_store: SqlStore, by_hand: Tamper, change: str) -> None:
    by_hand(f"UPDATE streams SET {change} WHERE stream = {A}")

    (fault,) = await sqlite_store.ledger.verify()
    assert (fault.stream, fault.position) == ("order/a", 5)
    assert change.partition(" ")[0] in fault.what


async def test_a_removed_or_invented_head_is_found(sqlite_store: SqlStore, by_hand: Tamper) -> None:
    by_hand("INSERT INTO names VALUES (77, 'order/c')", f"UPDATE streams SET stream = 77 WHERE stream = {A}")

    assert await faults(sqlite_store) == [("order/a", 3, 5), ("order/c", 3, None)]


async def test_a_name_that_was_changed_is_found_in_each_event_that_uses_it(
    sqlite_store: SqlStore, by_hand: Tamper
) -> None:
    by_hand("UPDATE names SET text = 'order/c' WHERE text = 'order/b'")

    assert [fault for fault in await faults(sqlite_store) if fault[0] == "order/c"] == [
        ("order/c", 1, 2),
        ("order/c", 2, 4),
    ]


async def test_a_name_that_is_gone_is_found_and_reading_says_so(sqlite_store: SqlStore, by_hand: Tamper) -> None:
    by_hand("DELETE FROM names WHERE text = '/organisation/acme'")

    assert len(await faults(sqlite_store)) == 5
    store = sqlite_store
    store.ledger._texts = type(store.ledger._texts)()
    with pytest.raises(LedgerError, match="Event 1 of order/a was changed"):
        await store.ledger.read("order/a")


async def test_a_payload_removed_without_a_record_is_found(sqlite_store: SqlStore, by_hand: Tamper) -> None:
    by_hand("UPDATE events SET data = NULL, erased_at = 1 WHERE position = 3")

    assert await sqlite_store.ledger.verify() == [
        AuditFault("order/a", 2, 3, "its payload was removed without a record of its erasure")
    ]


async def test_an_erasure_dated_otherwise_is_found(sqlite_store: SqlStore, by_hand: Tamper) -> None:
    await sqlite_store.ledger.erase("order/a", 2)
    by_hand("UPDATE events SET erased_at = erased_at + 1 WHERE position = 3")

    assert await faults(sqlite_store) == [("order/a", 2, 3)]


async def test_a_counter_set_back_is_found(sqlite_store: SqlStore, by_hand: Tamper) -> None:
    by_hand("UPDATE counter SET position = 4")

    assert [fault.what for fault in await sqlite_store.ledger.verify()] == [
        "the counter stands at 4, the last event is 5"
    ]


async def test_a_counter_that_is_gone_is_found_and_writing_says_so(sqlite_store: SqlStore, by_hand: Tamper) -> None:
    by_hand("DELETE FROM counter")

    assert [fault.what for fault in await sqlite_store.ledger.verify()] == ["the counter is missing"]
    with pytest.raises(LedgerError, match="counter"):
        await sqlite_store.ledger.head()


async def test_without_its_counter_nothing_is_written_and_the_reason_is_told(
    sqlite_store: SqlStore, by_hand: Tamper
) -> None:
    by_hand("DELETE FROM counter")

    with pytest.raises(LedgerError, match="lost its counter"):
        await sqlite_store.ledger.append(fact("order/a", 3))


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE counter SET position = 'abc'",
        "UPDATE counter SET id = 2",
        "INSERT INTO counter VALUES (2, 9)",
        "UPDATE events SET version = 'abc' || position",
        "UPDATE events SET version = 'abc' WHERE position = 3",
        "UPDATE events SET stream = X'FF' WHERE position = 3",
        "UPDATE events SET stream = 7, version = X'00' WHERE position = 3",
        f"UPDATE streams SET stream = 77 WHERE stream = {A}",
        f"UPDATE streams SET version = 'abc' WHERE stream = {A}",
        "UPDATE names SET text = CAST(X'73FF' AS TEXT) WHERE text = 'order/a'",
        "UPDATE names SET text = X'FF' WHERE text = 'order/a'",
        "UPDATE names SET number = 77 WHERE text = 'order/a'",
        "DELETE FROM names",
        "UPDATE events SET data = 7 WHERE position = 3",
        "DELETE FROM events",
        "DELETE FROM streams",
    ],
)
async def test_whatever_a_hand_put_in_is_reported_and_never_ends_the_audit(
    sqlite_store: SqlStore, by_hand: Tamper, change: str
) -> None:
    by_hand(change)

    assert await sqlite_store.ledger.verify()


async def test_a_version_that_is_no_number_is_named_with_its_row(sqlite_store: SqlStore, by_hand: Tamper) -> None:
    by_hand("UPDATE events SET version = 'abc' WHERE position = 3")

    (fault,) = [fault for fault in await sqlite_store.ledger.verify() if fault.position == 3]
    assert fault.stream == "order/a"
    assert fault.what.startswith("its version was changed to 'abc'")


async def test_an_index_that_does_not_fit_its_table_is_found(sqlite_store: SqlStore, by_hand: Tamper) -> None:
    by_hand(
        "CREATE TABLE other (a TEXT, b TEXT)",
        "CREATE INDEX empty ON other (a, b)",
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'empty') "
        "WHERE name = 'events_execution'",
    )

    whats = [fault.what for fault in await sqlite_store.ledger.verify()]
    assert any("events_execution" in what for what in whats)


async def test_a_damaged_page_is_reported_and_does_not_end_the_audit(
    sqlite_store: SqlStore, by_hand: Tamper, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "silicon.db")) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = file.execute("SELECT rootpage FROM sqlite_master WHERE name = 'events'").fetchone()
        (size,) = file.execute("PRAGMA page_size").fetchone()
    with (tmp_path / "silicon.db").open("r+b") as file_bytes:
        file_bytes.seek((page - 1) * size)
        file_bytes.write(b"\xff" * 64)
    store = await open_store(LedgerSettings(), home=tmp_path, clock=HandClock())

    whats = [fault.what for fault in await store.ledger.verify()]
    await store.close()
    assert any(what.startswith("the database cannot read its own file") for what in whats)


BLOB = b"a long result" * 100
ADDRESS = hashlib.sha256(BLOB).hexdigest()


@pytest.fixture
async def blob_by_hand(sqlite_store: SqlStore, by_hand: Tamper) -> Tamper:
    """The ledger of `by_hand` with a sixth event, which names a blob."""
    named = NewEvent("step.finished", {"output_sha256": ADDRESS})
    await sqlite_store.ledger.append(Append("order/b", [named], 2, "acme", "/organisation/acme"), blobs=[BLOB])
    assert await sqlite_store.ledger.verify() == []
    return by_hand


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("UPDATE blob_parts SET data = X'00'", "its bytes, or its codec, were changed: they cannot be unpacked"),
        (
            "UPDATE blob_parts SET data = data || X'00'",
            "its bytes, or its codec, were changed: they cannot be unpacked",
        ),
        ("UPDATE blob_parts SET data = 'text'", "its bytes, or its codec, were changed: they cannot be unpacked"),
        ("UPDATE blob_parts SET data = 7", "its bytes, or its codec, were changed: they cannot be unpacked"),
        ("UPDATE blob_parts SET part = 1", "its bytes, or some of them, are missing"),
        ("DELETE FROM blob_parts", "its bytes, or some of them, are missing"),
        ("DELETE FROM blobs", "its bytes are there, but its row in the table of blobs is missing"),
        ("UPDATE blobs SET size = size + 1", "its size was changed: it is 1300 bytes, not 1301"),
        ("UPDATE blobs SET codec = 'raw'", "its bytes were changed: they do not match their address"),
        ("UPDATE blobs SET codec = 'zstd'", "its codec was changed: 'zstd' is none"),
    ],
)
async def test_a_blob_that_was_changed_is_found_with_the_event_that_names_it(
    sqlite_store: SqlStore, blob_by_hand: Tamper, change: str, what: str
) -> None:
    blob_by_hand(change)

    assert await sqlite_store.ledger.verify() == [AuditFault(f"blob/{ADDRESS}", 0, 6, what)]


async def test_a_blob_removed_as_a_whole_is_missed_where_an_event_names_it(
    sqlite_store: SqlStore, blob_by_hand: Tamper
) -> None:
    blob_by_hand("DELETE FROM blobs", "DELETE FROM blob_parts")

    assert await sqlite_store.ledger.verify() == [
        AuditFault(f"blob/{ADDRESS}", 0, 6, "it is missing, and event 3 of order/b names it")
    ]


async def test_a_blob_is_not_missed_once_the_event_that_named_it_was_erased(
    sqlite_store: SqlStore, blob_by_hand: Tamper
) -> None:
    await sqlite_store.ledger.erase("order/b", 3)
    blob_by_hand("DELETE FROM blobs", "DELETE FROM blob_parts")

    assert await sqlite_store.ledger.verify() == []


async def test_what_a_step_gave_names_no_blob_whatever_its_fields_are_called(sqlite_store: SqlStore) -> None:
    given = {"output": {"output_sha256": "0" * 64, "artifacts": [{"sha256": "1" * 64}]}}
    event = NewEvent("step.finished", given)
    await sqlite_store.ledger.append(Append("order/a", [event], 0, "acme", "/organisation/acme"))

    assert await sqlite_store.ledger.verify() == []


async def test_erased_bytes_are_nowhere_in_the_files(sqlite_store: SqlStore, tmp_path: Path) -> None:
    secret = "a-very-particular-secret"
    await sqlite_store.ledger.append(
        Append("order/a", [NewEvent("step.finished", {"x": secret})], 0, "acme", "/organisation/acme")
    )
    await sqlite_store.ledger.erase("order/a", 1)

    assert not files_with(secret.encode(), tmp_path)


def files_with(data: bytes, folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir() if data in file.read_bytes()]
