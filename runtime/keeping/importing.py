"""Takes one execution in from a file that was checked, whole or not at all; nothing of it ever runs here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import groupby

from runtime.errors import LedgerUnavailable
from runtime.keeping.content import Content, packed_blobs
from runtime.keeping.errors import AlreadyHere
from runtime.keeping.results import Imported
from runtime.ledger.blobs import write_blob
from runtime.ledger.facts import Fact, Prepared, prepare
from runtime.ledger.port import Append, NewEvent, Stream
from runtime.ledger.rows import id_to_bytes, time_from_text, time_to_number, time_to_text
from runtime.ledger.store import SqlStore
from runtime.ledger.storing import ERASED, Storing
from runtime.ledger.storing import store as store_all
from runtime.ledger.transaction import Transaction

IMPORTED = "execution.imported"
Closing = tuple[Stream, NewEvent]
"""A stream of the execution and what happens to it with the import: an open card is withdrawn."""


async def take_in(
    store: SqlStore, content: Content, *, closing: Sequence[Closing] = (), by: str, now: datetime
) -> Imported:
    """Append everything in the file to the ledger, at new positions and with new chains, and record that.

    The last event of the execution's stream is then `execution.imported`, which ends its life here, however it stood.

    Raises:
        AlreadyHere: the execution, or a stream of it, is in this ledger, or was pruned from it.
        ArchiveRefused: the file was changed since it was checked.
    """
    streams = list(content.header.streams)
    await store.writer.do(lambda transaction: _require_new(transaction, content, streams))
    for packed in packed_blobs(content):
        await store.writer.do(partial(write_blob, packed=packed))
    position = await store.writer.do(lambda transaction: _take_in(transaction, content, closing, by, now))
    return Imported(
        path=content.path,
        execution_id=content.execution_id,
        organisation=content.header.organisation,
        events=len(content.rows),
        blobs=len(content.blobs),
        sha256=content.sha256,
        position=position,
    )


def _take_in(transaction: Transaction, content: Content, closing: Sequence[Closing], by: str, now: datetime) -> int:
    _require_new(transaction, content, list(content.header.streams))
    _require_blobs(transaction, content)
    time = time_to_text(now)
    after = _prepared(content, closing, by, time)
    for run in _runs(content):
        transaction.committed += transaction.write(run, time_from_text(run.time))
    transaction.send()
    _mark_erased(transaction, content, now)
    return store_all(transaction, Storing(now, after))[-1].position


def _require_new(transaction: Transaction, content: Content, streams: Sequence[Stream]) -> None:
    known = next((stream for stream in streams if transaction.head(stream).version > 0), None)
    if known is not None:
        what = known if known == content.execution_id else f"{known} of {content.execution_id}"
        raise AlreadyHere(
            f"{what} is in this ledger already, or was pruned from it, so the file {content.path} was not taken in. "
            "To look at the file's record, import it into another home.",
            execution_id=content.execution_id,
            stream=known,
        )


def _require_blobs(transaction: Transaction, content: Content) -> None:
    """What was stored before may have been pruned in between, for nothing named it yet."""
    for sha256 in content.blobs:
        if transaction.one(transaction.statements.blob, sha256) is None:
            raise LedgerUnavailable(
                f"The blob {sha256} was pruned while the file was taken in. Nothing was changed; import it again.",
                sha256=sha256,
            )


def _runs(content: Content) -> Iterator[Prepared]:
    """Yield what belongs to one stream, one moment and one origin, in the order of positions."""
    pairs = zip(content.rows, content.payloads, strict=True)
    for key, group in groupby(pairs, key=lambda pair: (pair[0].stream, pair[0].time, pair[0].source, pair[0].trace_id)):
        stream, time, source, trace_id = key
        facts = [
            Fact(row.id, id_to_bytes(row.id), row.type, payload or b"", row.payload_sha256) for row, payload in group
        ]
        append = Append(
            stream=stream,
            events=(),
            expected_version=0,
            organisation=content.header.organisation,
            source=source,
            execution_id=content.execution_id,
            trace_id=trace_id,
        )
        yield Prepared(append, time, facts, sum(len(fact.payload) for fact in facts))


def _mark_erased(transaction: Transaction, content: Content, now: datetime) -> None:
    """Take the payload of what was erased elsewhere away here as well, and record it, as the audit wants it."""
    erased = [row for row, payload in zip(content.rows, content.payloads, strict=True) if payload is None]
    if not erased:
        return
    records = []
    for row in erased:
        number = transaction.number_of(row.stream)
        found = transaction.one(transaction.statements.event_at, number, row.version)
        assert found is not None
        transaction.run(transaction.statements.erase_payload, None, time_to_number(now), found[0])
        data = {"stream": row.stream, "version": row.version, "position": found[0]}
        records.append(NewEvent(ERASED, {**data, "payload_sha256": row.payload_sha256}))
    stream = f"erasure/{content.header.organisation}"
    append = Append(
        stream=stream,
        events=records,
        expected_version=transaction.head(stream).version,
        organisation=content.header.organisation,
        source=f"/organisation/{content.header.organisation}/import",
    )
    store_all(transaction, Storing(now, [prepare(append, time_to_text(now))]))


def _prepared(content: Content, closing: Sequence[Closing], by: str, time: str) -> list[Prepared]:
    """Return what is appended behind what the file holds; the execution's own end is the last."""
    header = content.header
    imported = NewEvent(
        IMPORTED,
        {
            "by": by,
            "file_sha256": content.sha256,
            "exported_at": header.exported_at.isoformat(),
            "position": header.position,
            "events": len(content.rows),
            "chain_sha256": header.streams[str(content.execution_id)].chain_sha256,
        },
    )
    return [
        prepare(
            Append(
                stream=stream,
                events=[event],
                expected_version=header.streams[stream].version,
                organisation=header.organisation,
                source=f"/organisation/{header.organisation}/import",
                execution_id=content.execution_id,
            ),
            time,
        )
        for stream, event in (*closing, (str(content.execution_id), imported))
    ]
