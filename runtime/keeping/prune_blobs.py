"""Takes away the blobs that no event mentions any more.

All payloads are read, a page at a time and outside any transaction. Then each blob that none of them mentions is
deleted in a transaction that first looks at what was committed since: an event that names a blob is committed together
with the blob (`Ledger.append`), so that nothing in between can be missed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial

from sqlalchemy import Connection, bindparam, delete, func, select

from contracts import Sha256
from runtime.keeping.addresses import mentioned
from runtime.ledger.port import Stream
from runtime.ledger.schema import blob_parts, blobs, events, names
from runtime.ledger.statements import compiled
from runtime.ledger.store import SqlStore
from runtime.ledger.transaction import Transaction

PAGE = 200
"""Payloads in memory at once."""
BLOBS_AT_ONCE = 50
BYTES_AT_ONCE = 16 * 1024 * 1024
"""Of one transaction, or those of one blob: others wait for as long as it takes to delete them."""


async def prune_blobs(store: SqlStore, *, but: Collection[Stream], dry: bool) -> tuple[int, int]:
    """Delete what nothing mentions; return how many blobs went and how many bytes they took.

    Args:
        but: streams that do not count, because they are about to go.
    """
    sizes = await store.reader.in_thread(_sizes)
    left = dict(sizes)
    position = 0
    ignored = await store.reader.in_thread(lambda connection: _numbers(connection, but)) if dry else frozenset()
    while left:
        page = await store.reader.in_thread(partial(_page, after=position))
        if not page:
            break
        position = page[-1][0]
        for _, stream, data in page:
            if stream not in ignored:
                _take_out(left, data)
    gone = left if dry else await _delete(store, left, position)
    return len(gone), sum(gone.values())


async def _delete(store: SqlStore, left: dict[Sha256, int], position: int) -> dict[Sha256, int]:
    deleting = _Deleting(store, position)
    gone: dict[Sha256, int] = {}
    for some in _batches(left):
        gone |= await store.writer.do(partial(deleting.job, some=some))
    return gone


class _Deleting:
    """Deletes some blobs after the other, each time looking first at what came in since the last."""

    def __init__(self, store: SqlStore, position: int) -> None:
        dialect = store.database.engine.dialect
        self._position = position
        self._mentioned: set[Sha256] = set()
        self._since = compiled(dialect, select(events.c.data).where(events.c.position > bindparam("p")), "p")
        self._statements = [
            compiled(dialect, delete(table).where(table.c.sha256 == bindparam("h")), "h")
            for table in (blob_parts, blobs)
        ]

    def job(self, transaction: Transaction, some: dict[Sha256, int]) -> dict[Sha256, int]:
        """Delete those that are still not mentioned and return them."""
        transaction.send()  # what others write in this very transaction counts as well
        for (data,) in transaction.all(self._since, self._position):
            self._mentioned.update(mentioned(data))
        self._position = transaction.position
        gone = {sha256: size for sha256, size in some.items() if sha256 not in self._mentioned}
        for sha256 in gone:
            for statement in self._statements:
                transaction.run(statement, sha256)
        return gone


def _sizes(connection: Connection) -> dict[Sha256, int]:
    """Return every blob and how many bytes it takes."""
    query = (
        select(blobs.c.sha256, func.coalesce(func.sum(func.length(blob_parts.c.data)), 0))
        .outerjoin(blob_parts, blob_parts.c.sha256 == blobs.c.sha256)
        .group_by(blobs.c.sha256)
    )
    return {sha256: int(size) for sha256, size in connection.execute(query)}


def _page(connection: Connection, *, after: int) -> list[tuple[int, int, bytes | None]]:
    query = select(events.c.position, events.c.stream, events.c.data).where(events.c.position > after)
    return [tuple(row) for row in connection.execute(query.order_by(events.c.position).limit(PAGE))]


def _numbers(connection: Connection, streams: Collection[Stream]) -> frozenset[int]:
    found: set[int] = set()
    for stream in streams:
        found.update(connection.execute(select(names.c.number).where(names.c.text == stream)).scalars())
    return frozenset(found)


def _take_out(left: dict[Sha256, int], data: bytes | None) -> None:
    for sha256 in mentioned(data):
        left.pop(sha256, None)


def _batches(left: dict[Sha256, int]) -> Iterator[dict[Sha256, int]]:
    some: dict[Sha256, int] = {}
    for sha256, size in left.items():
        if some and (len(some) == BLOBS_AT_ONCE or sum(some.values()) + size > BYTES_AT_ONCE):
            yield some
            some = {}
        some[sha256] = size
    if some:
        yield some
