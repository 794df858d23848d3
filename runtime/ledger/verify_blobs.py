"""The audit of the blob store: every blob is read again, one part at a time, and held against its address."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select, type_coerce
from sqlalchemy.types import NullType

from runtime.ledger.port import AuditFault
from runtime.ledger.schema import blob_parts, blobs

STEP = 1024 * 1024
"""Unpacked bytes that are held at once, however small they were packed."""


@dataclass(frozen=True, slots=True)
class Naming:
    """The first event that names a blob."""

    stream: str
    version: int
    position: int | None


def blob_faults(connection: Connection, named: Mapping[str, Naming]) -> Iterator[AuditFault]:
    """Yield each blob that was changed, is gone in part or as a whole, or was put there by hand.

    Args:
        named: the addresses that events name; each has to be there.
    """
    left = dict(named)
    orphans = {row[0] for row in connection.execute(_parts_alone())}
    for sha256, codec, size in connection.execute(select(blobs)).fetchall():
        what = _fault(connection, sha256, codec, size)
        if what is not None:
            yield _at(sha256, left.get(sha256), what)
        left.pop(sha256, None)
    for sha256 in sorted(orphans, key=str):
        yield _at(sha256, left.pop(sha256, None), "its bytes are there, but its row in the table of blobs is missing")
    for sha256, naming in left.items():
        yield _at(sha256, naming, f"it is missing, and event {naming.version} of {naming.stream} names it")


def _parts_alone() -> Any:
    return (
        select(blob_parts.c.sha256)
        .distinct()
        .outerjoin(blobs, blobs.c.sha256 == blob_parts.c.sha256)
        .where(blobs.c.sha256.is_(None))
    )


def _at(sha256: object, naming: Naming | None, what: str) -> AuditFault:
    address = sha256.decode(errors="replace") if isinstance(sha256, bytes) else str(sha256)
    return AuditFault(f"blob/{address}", 0, naming.position if naming else None, what)


def _fault(connection: Connection, sha256: object, codec: object, size: object) -> str | None:
    """Return what is wrong with one blob."""
    if codec not in ("raw", "zlib"):
        return f"its codec was changed: {codec!r} is none"
    of_it = blob_parts.c.sha256 == sha256
    numbers = [row[0] for row in connection.execute(select(blob_parts.c.part).where(of_it).order_by(blob_parts.c.part))]
    if numbers != list(range(max(1, len(numbers)))):
        return "its bytes, or some of them, are missing"
    digest, length = hashlib.sha256(), 0
    try:
        for piece in _unpacked(codec == "zlib", _parts(connection, of_it, numbers)):
            digest.update(piece)
            length += len(piece)
    except (TypeError, zlib.error):
        return "its bytes, or its codec, were changed: they cannot be unpacked"
    if digest.hexdigest() != sha256:
        return "its bytes were changed: they do not match their address"
    return None if length == size else f"its size was changed: it is {length} bytes, not {size}"


def _parts(connection: Connection, of_it: Any, numbers: list[int]) -> Iterator[Any]:
    as_it_is = type_coerce(blob_parts.c.data, NullType)
    for number in numbers:
        data = connection.execute(select(as_it_is).where(of_it, blob_parts.c.part == number)).scalar_one()
        yield data.encode() if isinstance(data, str) else data  # SQLite keeps the kind that was put in


def _unpacked(squeezed: bool, parts: Iterator[Any]) -> Iterator[bytes]:
    """Yield the bytes in pieces; raise zlib.error for what was never packed so, or has more behind its end."""
    if not squeezed:
        yield from parts
        return
    unpacker = zlib.decompressobj()
    for part in parts:
        if unpacker.eof:
            raise zlib.error("bytes after the end")
        rest = part
        while rest and not unpacker.eof:
            yield unpacker.decompress(rest, STEP)
            rest = unpacker.unconsumed_tail
    while not unpacker.eof and (piece := unpacker.decompress(b"", STEP)):
        yield piece
    if not unpacker.eof or unpacker.unused_data:
        raise zlib.error("no end, or bytes after it")
