"""The file of one execution: lines of JSON, compressed with gzip.

    {"line": "header", …}  what it is, whose it is, where each stream stands
    {"line": "event", …}   one event with all its columns and the exact text of its payload; in the order of positions
    {"line": "blob", …}    one part of a blob that an event mentions, as it is stored
    {"line": "end", …}     how many there are, and the sha256 of all bytes before this line

Anybody can read it with `zcat` and `jq`. The chain of each stream can be followed in it without the ledger it is from.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from contracts import ExecutionId, Name, Sha256
from runtime.keeping.errors import ArchiveRefused, FileNotUsable
from runtime.ledger.rows import EventRow
from runtime.plain_words import in_plain_words

FORMAT = "silicon.execution"
VERSION = 1
LINE_BYTES = 48 * 1024 * 1024
"""No line that was exported is longer: a payload has 8 MiB at most, and a part of a blob 4."""
BLOB_BYTES = 1024 * 1024 * 1024
"""Larger blobs are not taken in from a file; somebody may have packed nothing but zeros."""


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class StreamMark(_Line):
    """Where a stream stood when it was exported."""

    version: int = Field(ge=1)
    chain_sha256: Sha256


class Header(_Line):
    """The first line."""

    line: Literal["header"] = "header"
    format: Literal["silicon.execution"] = "silicon.execution"
    version: Literal[1] = 1
    execution_id: Annotated[ExecutionId, Field(strict=False)]
    organisation: Name
    exported_at: Annotated[AwareDatetime, Field(strict=False)]
    position: int = Field(ge=1)
    """Greatest position of the ledger it is from, at that moment."""
    streams: Mapping[str, StreamMark]


class EventLine(_Line):
    """One event: the columns that the chain covers, and its payload."""

    line: Literal["event"] = "event"
    position: int = Field(ge=1, lt=2**63)
    stream: str
    version: int = Field(ge=1, lt=2**31)
    id: str = Field(pattern="^event/[0-7][0-9A-HJKMNP-TV-Z]{25}$")
    type: str
    time: str = Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
    source: str
    organisation: str
    execution_id: str | None
    trace_id: str | None
    payload_sha256: Sha256
    chain_sha256: Sha256
    payload: str | None
    """The exact text that was stored; null when it was erased."""
    erased_at: int | None = None
    """Microseconds since 1970, UTC."""

    @classmethod
    def of(cls, row: EventRow, payload: bytes | None, erased_at: int | None) -> Self:
        """Return the line of a stored event."""
        text = None if payload is None else payload.decode()
        return cls(**row._asdict(), payload=text, erased_at=erased_at)

    @property
    def row(self) -> EventRow:
        """The columns that the chain covers, and the chain."""
        return EventRow(*(getattr(self, name) for name in EventRow._fields))


class BlobLine(_Line):
    """One part of a blob, as it is stored."""

    line: Literal["blob"] = "blob"
    sha256: Sha256
    codec: Literal["raw", "zlib"]
    size: int = Field(ge=0, le=BLOB_BYTES)
    part: int = Field(ge=0)
    parts: int = Field(ge=1)
    data: str
    """Base64."""

    @property
    def content(self) -> bytes:
        """The bytes; raise ValueError for what is no Base64."""
        return base64.b64decode(self.data, validate=True)


class End(_Line):
    """The last line."""

    line: Literal["end"] = "end"
    events: int
    blobs: int
    sha256: Sha256


Line = Header | EventLine | BlobLine
_LINES: TypeAdapter[Header | EventLine | BlobLine | End] = TypeAdapter(
    Annotated[Header | EventLine | BlobLine | End, Field(discriminator="line")]
)


class ArchiveWriter:
    """Writes lines into a file that is open for it, and in the end the hash over all of them."""

    def __init__(self, file: BinaryIO) -> None:
        self._packed = gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0)
        self._digest = hashlib.sha256()
        self.events = 0
        self.blobs = 0

    def write(self, line: Line) -> None:
        """Write one line."""
        self.events += isinstance(line, EventLine)
        self.blobs += isinstance(line, BlobLine) and line.part == 0
        data = _to_bytes(line)
        self._digest.update(data)
        self._packed.write(data)

    def end(self) -> Sha256:
        """Write the last line and return the hash it holds."""
        sha256 = self._digest.hexdigest()
        self._packed.write(_to_bytes(End(events=self.events, blobs=self.blobs, sha256=sha256)))
        self._packed.close()
        return sha256


class ArchiveReader:
    """Reads the lines of a file, once from the first to the last, and checks what needs no ledger.

    `sha256` holds the hash over all lines once they were read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sha256: Sha256 | None = None

    def lines(self) -> Iterator[Line]:
        """Yield the header, events and parts of blobs, in this order.

        Raises:
            ArchiveRefused: the file is no export, is damaged, or a newer program wrote it.
            FileNotUsable: it cannot be read.
        """
        read = 0
        try:
            with gzip.open(self.path, "rb") as file:
                for line in self._checked(file):
                    read += 1
                    yield line
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            what = "is no export" if read == 0 else f"is damaged after line {read:,}"
            raise refused(self.path, f"{what}: it is not compressed as an export is, or ends too early") from error
        except OSError as error:
            raise FileNotUsable(
                f"The file {self.path} cannot be read: {error.strerror}.", path=str(self.path)
            ) from error

    def _checked(self, file: BinaryIO | gzip.GzipFile) -> Iterator[Line]:
        digest, events, blobs, stage = hashlib.sha256(), 0, 0, 0
        for number, data in enumerate(_pieces(self.path, file), 1):
            line = self._parsed(number, data)
            if isinstance(line, End):
                if (line.events, line.blobs, line.sha256) != (events, blobs, digest.hexdigest()):
                    raise refused(self.path, "is damaged: its lines do not match the hash at its end")
                if file.read(1):
                    raise refused(self.path, f"goes on after its end in line {number:,}")
                self.sha256 = line.sha256
                return
            before, stage = stage, (Header, EventLine, BlobLine).index(type(line))
            if stage < before or (stage == 0) != (number == 1):
                raise refused(self.path, f"is damaged: line {number:,} stands where no {line.line} belongs")
            digest.update(data)
            events += stage == 1
            blobs += isinstance(line, BlobLine) and line.part == 0
            yield line
        raise refused(self.path, "ends too early: its last line is missing")

    def _parsed(self, number: int, data: bytes) -> Line | End:
        if number == 1:
            self._check_version(data)
        try:
            return _LINES.validate_json(data)
        except ValidationError as error:
            what = error.errors()[0]
            where = ".".join(map(str, what["loc"][1:])) or "it"
            raise refused(self.path, f"is damaged in line {number:,}: {where} {in_plain_words(what)}") from error
        except (RecursionError, ValueError) as error:
            raise refused(self.path, f"is damaged in line {number:,}: {error}") from error

    def _check_version(self, data: bytes) -> None:
        """Tell a file of a newer program, and a file of anything else, from a damaged one."""
        try:
            first = json.loads(data)
        except (ValueError, RecursionError):
            first = None
        if not isinstance(first, dict) or first.get("format") != FORMAT:
            raise refused(self.path, "is no export of an execution: its first line does not say so")
        if first.get("version") != VERSION:
            raise refused(
                self.path,
                f"has version {first.get('version')!r} of the form of exports; this program knows {VERSION}. Use the "
                "version of silicon that wrote it, or a newer one",
            )


def refused(path: Path, what: str, **facts: Any) -> ArchiveRefused:
    """Return the error for a file that is not taken in."""
    return ArchiveRefused(f"The file {path} {what}. Nothing was changed.", path=str(path), **facts)


def _pieces(path: Path, file: BinaryIO | gzip.GzipFile) -> Iterator[bytes]:
    while data := file.readline(LINE_BYTES + 1):
        if len(data) > LINE_BYTES:
            raise refused(path, "holds a line that is longer than any that was ever exported")
        yield data


def _to_bytes(line: BaseModel) -> bytes:
    return line.model_dump_json().encode() + b"\n"
