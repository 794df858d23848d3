"""Bytes by content, over each real database."""

from __future__ import annotations

import hashlib
import random

import pytest
from sqlalchemy import Table, create_engine

from runtime.errors import BlobDamaged, NotFound
from runtime.ledger.blobs import PART_BYTES
from runtime.ledger.database import parse_address
from runtime.ledger.schema import blob_parts, blobs
from runtime.ledger.store import SqlStore

pytestmark = pytest.mark.anyio
NOISE = random.Random(7).randbytes(PART_BYTES + 10)


@pytest.mark.parametrize("data", [b"", b"a", b"abc" * 100_000, NOISE], ids=["empty", "tiny", "squeezed", "two-parts"])
async def test_bytes_come_back_as_they_were(store: SqlStore, data: bytes) -> None:
    sha256 = await store.blobs.put(data)

    assert sha256 == hashlib.sha256(data).hexdigest()
    assert await store.blobs.get(sha256) == data


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
