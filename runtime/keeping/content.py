"""What an export says, once it was checked: chains followed, payloads and blobs held against their hashes."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from contracts import Event, ExecutionId, Sha256
from runtime.keeping.archive import ArchiveReader, BlobLine, EventLine, Header, StreamMark, refused
from runtime.keeping.owned import is_own
from runtime.ledger.blobs import Packed
from runtime.ledger.facts import prepare
from runtime.ledger.naming import named_by
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.rows import NO_CHAIN, EventRow, link, time_from_text, time_to_text, to_event
from runtime.strict_json import read_json

STEP = 1024 * 1024
"""Unpacked bytes of a blob that are held at once."""


@dataclass(frozen=True, slots=True)
class Content:
    """One execution as a file tells it."""

    path: Path
    header: Header
    sha256: Sha256
    """Over all lines of the file."""
    rows: Sequence[EventRow]
    """In the order of their positions in the ledger they are from."""
    payloads: Sequence[bytes | None]
    """Of each row; None where it was erased."""
    erased_at: Sequence[int | None]
    blobs: frozenset[Sha256]

    @property
    def execution_id(self) -> ExecutionId:
        """Whose events these are."""
        return self.header.execution_id

    def events(self) -> Iterator[Event]:
        """Yield the events as the ledger would give them."""
        for row, payload in zip(self.rows, self.payloads, strict=True):
            yield event_of(row, payload)


def event_of(row: EventRow, payload: bytes | None) -> Event:
    """Return a row as an event, without data when its payload was erased."""
    return to_event(
        row.id, row.source, row.type, row.stream, time_from_text(row.time), payload, row.organisation,
        row.execution_id, row.trace_id, row.version, row.position, row.payload_sha256, row.chain_sha256,
    )  # fmt: skip


def read_content(path: Path) -> Content:
    """Read a file and check everything that can be checked without a ledger.

    Raises:
        ArchiveRefused: it is no export, damaged, written by a newer program, or holds what no export holds.
        FileNotUsable: it cannot be read.
    """
    reading = ArchiveReader(path)
    lines = reading.lines()
    header = next(lines)
    assert isinstance(header, Header)
    rows: list[EventRow] = []
    payloads: list[bytes | None] = []
    erased_at: list[int | None] = []
    parts: list[BlobLine] = []
    chains = _Chains(path, header)
    blobs: set[Sha256] = set()
    for line in lines:
        if isinstance(line, EventLine):
            row, payload = line.row, None if line.payload is None else line.payload.encode()
            chains.add(row, payload, line.erased_at)
            rows.append(row)
            payloads.append(payload)
            erased_at.append(line.erased_at)
        elif isinstance(line, BlobLine):
            parts.append(line)
            if line.part == line.parts - 1:
                blobs.add(packed_of(path, parts).sha256)
                parts = []
    if parts:
        raise refused(path, f"is damaged: of the blob {parts[0].sha256} only some parts are there")
    chains.finish(blobs)
    assert reading.sha256 is not None
    return Content(path, header, reading.sha256, rows, payloads, erased_at, frozenset(blobs))


def packed_blobs(content: Content) -> Iterator[Packed]:
    """Yield the blobs of a file that was checked, one in memory at a time.

    Raises:
        ArchiveRefused: the file is not the one that was checked any more.
    """
    reading, parts = ArchiveReader(content.path), list[BlobLine]()
    for line in reading.lines():
        if isinstance(line, BlobLine):
            parts.append(line)
            if line.part == line.parts - 1:
                yield packed_of(content.path, parts)
                parts = []
    if reading.sha256 != content.sha256:
        raise refused(content.path, "was changed while it was read")


def packed_of(path: Path, parts: Sequence[BlobLine]) -> Packed:
    """Return the blob that the parts make up; raise ArchiveRefused when they do not."""
    first = parts[0]
    same = {(part.sha256, part.codec, part.size, part.parts) for part in parts}
    if len(same) > 1 or [part.part for part in parts] != list(range(first.parts)):
        raise refused(path, f"is damaged: the parts of the blob {first.sha256} do not belong together")
    try:
        packed = Packed(first.sha256, first.codec, first.size, b"".join(part.content for part in parts))
        digest = _digest(packed)
    except (ValueError, zlib.error):
        digest = ""
    if digest != first.sha256:
        raise refused(path, f"is damaged: the blob {first.sha256} does not match its address")
    return packed


def _digest(packed: Packed) -> str:
    """Return the sha256 of the unpacked bytes; raise ValueError when there are more or fewer than it says."""
    if packed.codec == "raw":
        pieces: Iterator[bytes] = iter([packed.data])
    else:
        pieces = _unpacked(packed.data)
    digest, left = hashlib.sha256(), packed.size
    for piece in pieces:
        digest.update(piece)
        left -= len(piece)
        if left < 0:
            raise ValueError("more bytes than its size")
    if left:
        raise ValueError("fewer bytes than its size")
    return digest.hexdigest()


def _unpacked(data: bytes) -> Iterator[bytes]:
    unpacker, rest = zlib.decompressobj(), data
    while not unpacker.eof:
        piece = unpacker.decompress(rest, STEP)
        rest = unpacker.unconsumed_tail
        if not piece and not unpacker.eof:
            raise ValueError("no end")
        yield piece
    if unpacker.unused_data:
        raise ValueError("bytes after its end")


class _Chains:
    """Follows the chain of each stream, and refuses what an export of this execution never holds."""

    def __init__(self, path: Path, header: Header) -> None:
        self._path = path
        self._header = header
        self._marks: dict[str, StreamMark] = {}
        self._named: set[Sha256] = set()
        self._position = 0

    def add(self, row: EventRow, payload: bytes | None, erased_at: int | None) -> None:
        """Take in the next event."""
        where = f"event {row.version:,} of {row.stream}"
        self._check_home(row, where)
        mark = self._marks.get(row.stream)
        version, chain = (mark.version, mark.chain_sha256) if mark else (0, NO_CHAIN)
        if row.position <= self._position or row.version != version + 1:
            raise refused(self._path, f"is damaged: {where} is out of order, or one before it is missing")
        if link(chain, row[:-1]) != row.chain_sha256:
            raise refused(self._path, f"is damaged: {where} does not fit its chain")
        if (payload is None) != (erased_at is not None):
            raise refused(self._path, f"is damaged: {where} is half erased")
        if payload is not None and hashlib.sha256(payload).hexdigest() != row.payload_sha256:
            raise refused(self._path, f"is damaged: the payload of {where} does not match its hash")
        self._check_form(row, payload, where)
        self._marks[row.stream] = StreamMark(version=row.version, chain_sha256=row.chain_sha256)
        self._position = row.position

    def finish(self, blobs: set[Sha256]) -> None:
        """Check what has to be there in the end."""
        if self._marks != dict(self._header.streams) or self._header.execution_id not in self._marks:
            raise refused(self._path, "is damaged: its events are not those that its first line names")
        if missing := sorted(self._named - blobs):
            raise refused(self._path, f"lacks the blob {missing[0]}, which an event names", missing=[*missing])

    def _check_home(self, row: EventRow, where: str) -> None:
        """What is taken in belongs to this one execution, and to no part of the ledger that others rely on."""
        header = self._header
        if (row.execution_id, row.organisation) != (header.execution_id, header.organisation):
            raise refused(self._path, f"holds what does not belong to {header.execution_id}: {where}")
        if not is_own(row.stream, header.execution_id):
            raise refused(self._path, f"holds a stream that is no execution's own: {where}")

    def _check_form(self, row: EventRow, payload: bytes | None, where: str) -> None:
        """A fact from a file has to be one that could have been stored here."""
        try:
            data = {} if payload is None else read_json(payload)
            if not isinstance(data, dict):
                raise ValueError("its payload is no object")
            append = Append(
                stream=row.stream,
                events=[NewEvent(row.type, data)],
                expected_version=row.version - 1,
                organisation=row.organisation,
                source=row.source,
                execution_id=self._header.execution_id,
                trace_id=row.trace_id,
            )
            prepare(append, row.time)
            moment = time_from_text(row.time)
            if moment.tzinfo is None or time_to_text(moment) != row.time:
                raise ValueError("its time is no moment")
        except (ValueError, RecursionError) as error:
            raise refused(self._path, f"holds what cannot be stored: {where}: {error}") from error
        self._named.update(named_by(row.type, data))


def marks_of(rows: Mapping[str, EventRow]) -> dict[str, StreamMark]:
    """Return where each stream stands after its last row."""
    return {
        stream: StreamMark(version=row.version, chain_sha256=row.chain_sha256) for stream, row in sorted(rows.items())
    }
