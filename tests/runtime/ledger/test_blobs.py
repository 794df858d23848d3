"""Bytes by content, over each real database."""

from __future__ import annotations

import hashlib
import random

import pytest
from sqlalchemy import Table, create_engine

from runtime.errors import BlobDamaged, NotFound
from runtime.ledger.blobs import PART_BYTES
from runtime.ledger.database import parse_address
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.schema import blob_parts, blobs
from runtime.ledger.store import SqlStore

pytestmark = pytest.mark.anyio
NOISE = random.Random(7).randbytes(PART_BYTES + 10)


@pytest.mark.parametrize("data", [b"", b"a", b"abc" * 100_000, NOISE], ids=["empty", "tiny", "squeezed", "two-parts"])
async def test_bytes_come_back_as_they_were(store: SqlStore, data: bytes) -> None:
    sha256 = await store.blobs.put(data)

    assert sha256 == hashlib.sha256(data).hexdigest()
    assert await store.blobs.get(sha256) == data


async def test_many_are_read_together_each_as_it_was(store: SqlStore) -> None:
    texts = [f"{number}".encode() * (number % 7 * 1_000 + 1) for number in range(450)]
    await store.ledger.append(blobs=[*texts, NOISE])
    stored = {hashlib.sha256(data).hexdigest(): data for data in (*texts, NOISE)}

    assert await store.blobs.get_all([*stored, next(iter(stored))]) == stored


async def test_of_many_the_first_that_cannot_be_had_is_told(store: SqlStore) -> None:
    there = await store.blobs.put(b"there")

    with pytest.raises(NotFound, match="a" * 64):
        await store.blobs.get_all([there, "a" * 64, "b" * 64])


async def test_fifty_megabytes_are_stored_with_the_event_that_names_them(store: SqlStore) -> None:
    data = NOISE * 13
    event = NewEvent("step.finished", {"output_sha256": hashlib.sha256(data).hexdigest()})
    await store.ledger.append(Append("order/a", [event], 0, "acme", "/organisation/acme"), blobs=[data])

    assert len(data) > 50 * 1024 * 1024
    assert await store.blobs.get(hashlib.sha256(data).hexdigest()) == data
    assert await store.ledger.verify() == []


async def test_the_same_bytes_are_stored_once(store: SqlStore) -> None:
    assert await store.blobs.put(b"same") == await store.blobs.put(b"same")


async def test_bytes_that_are_not_there_are_not_found(store: SqlStore) -> None:
    with pytest.raises(NotFound, match="Nothing with the sha256"):
        await store.blobs.get("0" * 64)


async def test_changed_bytes_are_not_used(store: SqlStore, store_url: str) -> None:
    sha256 = await store.blobs.put(b"true")
    engine = create_engine(parse_address(store_url))
    with engine.begin() as connection:
        connection.execute(blob_parts.update().values(data=b"fake"))
    engine.dispose()

    (fault,) = await store.ledger.verify()
    assert (fault.stream, fault.what) == (f"blob/{sha256}", "its bytes were changed: they do not match their address")
    with pytest.raises(BlobDamaged, match="silicon audit verify"):
        await store.blobs.get(sha256)


@pytest.mark.parametrize("table", [blobs, blob_parts], ids=["row", "bytes"])
async def test_a_blob_of_which_a_part_is_gone_is_damaged_and_not_unknown(
    store: SqlStore, store_url: str, table: Table
) -> None:
    sha256 = await store.blobs.put(b"true")
    engine = create_engine(parse_address(store_url))
    with engine.begin() as connection:
        connection.execute(table.delete())
    engine.dispose()

    assert [fault.stream for fault in await store.ledger.verify()] == [f"blob/{sha256}"]
    with pytest.raises(BlobDamaged):
        await store.blobs.get(sha256)


async def test_the_audit_finds_no_fault_with_large_and_small_blobs(store: SqlStore) -> None:
    for data in (b"", b"a", b"abc" * 3_000_000, NOISE):
        await store.blobs.put(data)

    assert await store.ledger.verify() == []
