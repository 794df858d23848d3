"""On every store the audit finds a changed byte, a removed row and a swapped pair, with stream and position."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, create_engine, select, update

from runtime.ledger.database import parse_address
from runtime.ledger.port import Append, AuditFault, NewEvent
from runtime.ledger.rows import EventRow, link
from runtime.ledger.schema import events
from runtime.ledger.store import SqlStore

pytestmark = pytest.mark.anyio


@pytest.fixture
async def two_streams(store: SqlStore) -> SqlStore:
    """Positions 1, 3, 5 are of order/a, 2 and 4 of order/b."""
    for version in range(3):
        for stream in ("order/a", "order/b") if version < 2 else ("order/a",):
            event = NewEvent("step.finished", {"of": stream, "n": version})
            await store.ledger.append(Append(stream, [event], version, "acme", "/organisation/acme"))
    assert await store.ledger.verify() == []
    return store


async def test_one_changed_byte_of_a_payload(two_streams: SqlStore, store_url: str) -> None:
    def change(connection: Connection) -> None:
        data = connection.execute(select(events.c.data).where(events.c.position == 3)).scalar_one()
        connection.execute(update(events).where(events.c.position == 3).values(data=data[:-2] + b"7}"))

    by_hand(store_url, change)

    assert await two_streams.ledger.verify() == [
        AuditFault("order/a", 2, 3, "its payload was changed: the bytes do not match their hash")
    ]


@pytest.mark.parametrize("column", ["id", "payload_sha256", "chain_sha256"])
async def test_one_changed_byte_of_a_row(two_streams: SqlStore, store_url: str, column: str) -> None:
    def change(connection: Connection) -> None:
        whole = connection.execute(select(events.c[column]).where(events.c.position == 3)).scalar_one()
        changed = whole[:-1] + bytes([whole[-1] ^ 1])
        connection.execute(update(events).where(events.c.position == 3).values({column: changed}))

    by_hand(store_url, change)

    assert ("order/a", 2, 3) in await faults(two_streams)
    assert {stream for stream, _, _ in await faults(two_streams)} == {"order/a"}


async def test_a_moment_moved_by_a_microsecond(two_streams: SqlStore, store_url: str) -> None:
    by_hand(
        store_url, lambda it: it.execute(update(events).where(events.c.position == 3).values(time=events.c.time + 1))
    )

    assert await faults(two_streams) == [("order/a", 2, 3)]


@pytest.mark.parametrize(
    ("position", "found"),
    [(1, ("order/a", 2, 3)), (2, ("order/b", 2, 4)), (3, ("order/a", 3, 5)), (4, ("order/b", 1, 2))],
)
async def test_a_removed_row(two_streams: SqlStore, store_url: str, position: int, found: tuple[str, int, int]) -> None:
    by_hand(store_url, lambda it: it.execute(events.delete().where(events.c.position == position)))

    assert found in await faults(two_streams)


async def test_a_swapped_pair_within_a_stream(two_streams: SqlStore, store_url: str) -> None:
    by_hand(store_url, lambda it: swap(it, (1, 1), (3, 2)))

    assert {("order/a", 1, 1), ("order/a", 2, 3)} <= set(await faults(two_streams))


async def test_a_swapped_pair_of_two_streams(two_streams: SqlStore, store_url: str) -> None:
    by_hand(store_url, lambda it: swap(it, (3, 2), (4, 2)))

    assert {("order/b", 2, 3), ("order/a", 2, 4)} <= set(await faults(two_streams))


async def test_a_row_that_was_copied_to_the_end(two_streams: SqlStore, store_url: str) -> None:
    def copy(connection: Connection) -> None:
        row = connection.execute(select(events).where(events.c.position == 4)).one()._asdict()
        connection.execute(events.insert().values({**row, "position": 6, "version": 3}))

    by_hand(store_url, copy)

    assert ("order/b", 3, 6) in await faults(two_streams)


@given(
    columns=st.tuples(
        st.integers(1), st.text(), st.integers(1), st.just("event/01J9"), st.text(), st.just("2013-02-09T00:00:00Z"),
        st.text(), st.text(), st.none() | st.text(), st.none() | st.text(), st.just("ab" * 32),
    )
)  # fmt: skip
def test_the_chain_covers_the_json_of_the_columns_of_a_row(columns: tuple[str | int | None, ...]) -> None:
    import hashlib

    assert len(columns) == len(EventRow._fields) - 1
    whole = json.dumps(["cd" * 32, *columns], ensure_ascii=False, separators=(",", ":"))
    assert link("cd" * 32, columns) == hashlib.sha256(whole.encode()).hexdigest()


def swap(connection: Connection, one: tuple[int, int], other: tuple[int, int]) -> None:
    """Let two rows, each given by position and version, change places."""
    places = [(one[0], (100, 100)), (other[0], one), (100, other)]
    for position, (new_position, new_version) in places:
        row = update(events).where(events.c.position == position)
        connection.execute(row.values(position=new_position, version=new_version))


def by_hand(url: str, change: object) -> None:
    engine = create_engine(parse_address(url))
    with engine.begin() as connection:
        change(connection)  # type: ignore[operator]
    engine.dispose()


async def faults(store: SqlStore) -> list[tuple[str, int, int | None]]:
    return [(fault.stream, fault.version, fault.position) for fault in await store.ledger.verify()]
