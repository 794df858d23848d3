"""Bytes by content: stored once, compressed, in parts, and checked when they are read."""

from __future__ import annotations

import asyncio
import hashlib
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, select, type_coerce
from sqlalchemy.types import NullType

from runtime.errors import BlobDamaged, NotFound
from runtime.ledger.reader import Reader
from runtime.ledger.schema import blob_parts
from runtime.ledger.schema import blobs as blobs_table
from runtime.ledger.transaction import Transaction
from runtime.ledger.writer import Writer

AT_ONCE = 200
"""Blobs read with one query."""
PART_BYTES = 4 * 1024 * 1024
SMALL_BYTES = 64 * 1024
"""Up to this size compressing takes less time than handing it to a thread."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A blob as it is stored."""

    sha256: str
    codec: str
    size: int
    data: bytes

    @property
    def parts(self) -> list[bytes]:
        """The stored bytes, cut into parts; one at least."""
        return [self.data[start : start + PART_BYTES] for start in range(0, max(1, len(self.data)), PART_BYTES)]


class SqlBlobs:
    """The port `Blobs` on one database."""

    def __init__(self, writer: Writer, reader: Reader) -> None:
        self._writer = writer
        self._reader = reader

    async def put(self, data: bytes) -> str:
        """Store `data` and return its sha256."""
        (packed,) = await pack_all([data])
        await self._writer.do(lambda transaction: write_blob(transaction, packed))
        return packed.sha256

    async def get(self, sha256: str) -> bytes:
        """Return the bytes; see the port for what is raised."""
        found = await self._reader.rows(
            select(blobs_table.c.codec, type_coerce(blob_parts.c.data, NullType))
            .join(blob_parts, blob_parts.c.sha256 == blobs_table.c.sha256)
            .where(blobs_table.c.sha256 == sha256)
            .order_by(blob_parts.c.part)
        )
        if not found and not await self._reader.in_snapshot(lambda connection: _is_torn(connection, sha256)):
            raise NotFound(f"Nothing with the sha256 {sha256} is stored.", sha256=sha256)
        data = _unpack(found[0][0], [row[1] for row in found]) if found else None
        if data is None or hashlib.sha256(data).hexdigest() != sha256:
            raise BlobDamaged(
                f"What is stored under the sha256 {sha256} was changed and no longer matches it; it is not used. "
                "`silicon audit verify` lists what was changed; restore the ledger from a backup.",
                sha256=sha256,
            )
        return data

    async def get_all(self, sha256s: Collection[str]) -> dict[str, bytes]:
        """Return the bytes of each; see the port for what is raised."""
        wanted = list(dict.fromkeys(sha256s))
        found: dict[str, bytes] = {}
        for start in range(0, len(wanted), AT_ONCE):
            rows = await self._reader.rows(
                select(blobs_table.c.sha256, blobs_table.c.codec, type_coerce(blob_parts.c.data, NullType))
                .join(blob_parts, blob_parts.c.sha256 == blobs_table.c.sha256)
                .where(blobs_table.c.sha256.in_(wanted[start : start + AT_ONCE]))
                .order_by(blobs_table.c.sha256, blob_parts.c.part)
            )
            for sha256, parts in groupby(rows, key=itemgetter(0)):
                some = list(parts)
                data = _unpack(some[0][1], [row[2] for row in some])
                if data is not None and hashlib.sha256(data).hexdigest() == sha256:
                    found[sha256] = data
        for sha256 in wanted:
            if sha256 not in found:
                found[sha256] = await self.get(sha256)  # which tells what is wrong with it
        return found


async def pack_all(blobs: Sequence[bytes]) -> list[Packed]:
    """Return the blobs as they are stored, compressed in a thread where they are large."""
    return [pack(data) if len(data) <= SMALL_BYTES else await asyncio.to_thread(pack, data) for data in blobs]


def pack(data: bytes) -> Packed:
    """Return `data` compressed, or as it is when that makes it no smaller."""
    sha256 = hashlib.sha256(data).hexdigest()
    squeezed = zlib.compress(data, 6)
    if len(squeezed) < len(data):
        return Packed(sha256, "zlib", len(data), squeezed)
    return Packed(sha256, "raw", len(data), bytes(data))


def write_blob(transaction: Transaction, packed: Packed) -> None:
    """Store a blob unless it is there already."""
    if transaction.one(transaction.statements.blob, packed.sha256) is not None:
        return
    transaction.run(transaction.statements.insert_blob, packed.sha256, packed.codec, packed.size)
    for number, part in enumerate(packed.parts):
        transaction.run(transaction.statements.insert_blob_part, packed.sha256, number, part)


def _is_torn(connection: Connection, sha256: str) -> bool:
    """Whether a blob has its row or its bytes, but not both."""
    row = connection.execute(select(blobs_table.c.sha256).where(blobs_table.c.sha256 == sha256)).first()
    part = connection.execute(select(blob_parts.c.sha256).where(blob_parts.c.sha256 == sha256).limit(1)).first()
    return (row is None) != (part is None)


def _unpack(codec: str, parts: Sequence[Any]) -> bytes | None:
    try:
        data = b"".join(parts)
        return data if codec == "raw" else zlib.decompress(data)
    except (TypeError, zlib.error):  # SQLite also keeps a text or a number where bytes belong
        return None
