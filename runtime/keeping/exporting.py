"""Writes one execution into one file, as it stands at one moment, also while it runs."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, select

from contracts import ExecutionId, Sha256
from runtime.errors import NotFound
from runtime.keeping.addresses import mentioned
from runtime.keeping.archive import ArchiveWriter, BlobLine, EventLine, Header, StreamMark
from runtime.keeping.content import read_content
from runtime.keeping.errors import ArchiveRefused, ExportUnfit
from runtime.keeping.files import new_file, refuse_existing
from runtime.keeping.owned import is_own
from runtime.keeping.results import Exported
from runtime.ledger import schema
from runtime.ledger.rows import StoredEvent, from_stored, names_in
from runtime.ledger.store import SqlStore
from runtime.ledger.texts import Texts, number_of

PAGE = 200
"""Events in memory at once."""


async def export_execution(store: SqlStore, execution_id: ExecutionId, path: Path, now: datetime) -> Exported:
    """Write everything that the ledger holds of an execution into a new file.

    Raises:
        NotFound: there is no such execution.
        ExportUnfit: what the ledger holds of it is not as it was written.
        FileInUse, FileNotUsable: the file cannot be made.
    """
    refuse_existing(path)
    return await store.reader.in_snapshot(lambda connection: _export(connection, execution_id, path, now))


def _export(connection: Connection, execution_id: ExecutionId, path: Path, now: datetime) -> Exported:
    streams = _streams(connection, execution_id)
    if str(execution_id) not in streams:
        raise NotFound(
            f"There is no {execution_id} here. `silicon runs` lists those that there are.", execution_id=execution_id
        )
    with new_file(path) as partial:
        with partial.open("wb") as file:
            writer = ArchiveWriter(file)
            writer.write(
                Header(
                    execution_id=execution_id,
                    organisation=_organisation(connection, execution_id),
                    exported_at=now,
                    position=connection.execute(select(schema.counter.c.position)).scalar_one(),
                    streams=streams,
                )
            )
            blobs: dict[Sha256, None] = {}
            for line in _events(connection, execution_id, streams):
                writer.write(line)
                blobs.update(dict.fromkeys(mentioned((line.payload or "").encode())))
            for sha256 in blobs:
                for part in _parts(connection, sha256):
                    writer.write(part)
            sha256 = writer.end()
        _read_again(partial, execution_id)
        size = partial.stat().st_size
    return Exported(path, execution_id, writer.events, writer.blobs, size, sha256)


def _streams(connection: Connection, execution_id: ExecutionId) -> dict[str, StreamMark]:
    """Return where each stream of the execution's own stands."""
    events, heads, names = schema.events, schema.streams, schema.names
    of_it = select(events.c.stream).where(events.c.execution_id == number_of(str(execution_id))).distinct()
    query = (
        select(names.c.text, heads.c.version, heads.c.chain_sha256)
        .join(heads, heads.c.stream == names.c.number)
        .where(names.c.number.in_(of_it))
        .order_by(heads.c.first_position)
    )
    return {
        stream: StreamMark(version=version, chain_sha256=bytes(chain).hex())
        for stream, version, chain in connection.execute(query)
        if is_own(stream, execution_id)
    }


def _organisation(connection: Connection, execution_id: ExecutionId) -> str:
    heads, names = schema.streams, schema.names
    query = (
        select(names.c.text)
        .join(heads, heads.c.organisation == names.c.number)
        .where(heads.c.stream == number_of(str(execution_id)))
    )
    return str(connection.execute(query).scalar_one())


def _events(connection: Connection, execution_id: ExecutionId, streams: dict[str, StreamMark]) -> Iterator[EventLine]:
    events, texts = schema.events, Texts()
    after = 0
    while True:
        query = (
            select(events)
            .where(events.c.execution_id == number_of(str(execution_id)), events.c.position > after)
            .order_by(events.c.position)
            .limit(PAGE)
        )
        page = [StoredEvent(*row) for row in connection.execute(query)]
        if not page:
            return
        known = texts.of(connection, set().union(*map(names_in, page)))
        for stored in page:
            row = from_stored(stored, known)
            if row.stream in streams:
                yield EventLine.of(row, stored.data, stored.erased_at)
        after = page[-1].position


def _parts(connection: Connection, sha256: Sha256) -> Iterator[BlobLine]:
    blobs, parts = schema.blobs, schema.blob_parts
    row = connection.execute(select(blobs.c.codec, blobs.c.size).where(blobs.c.sha256 == sha256)).first()
    if row is None:  # a hash that addresses nothing
        return
    of_it = parts.c.sha256 == sha256
    numbers = connection.execute(select(parts.c.part).where(of_it).order_by(parts.c.part)).scalars().all()
    for number in numbers:
        data = connection.execute(select(parts.c.data).where(of_it, parts.c.part == number)).scalar_one()
        yield BlobLine(
            sha256=sha256,
            codec=row.codec,
            size=row.size,
            part=number,
            parts=len(numbers),
            data=base64.b64encode(data).decode(),
        )


def _read_again(partial: Path, execution_id: ExecutionId) -> None:
    """Check what was written as an import does: a file that cannot be taken in must not pass for an export."""
    try:
        read_content(partial)
    except ArchiveRefused as error:
        raise ExportUnfit(
            f"What the ledger holds of {execution_id} is not as it was written, so nothing was exported: "
            f"{error.message} `silicon audit verify` lists what was changed; restore the ledger from a backup.",
            execution_id=execution_id,
        ) from error
