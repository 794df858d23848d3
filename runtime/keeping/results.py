"""What keeping gives back: plain values that a face shows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from contracts import ExecutionId, Name, Sha256
from runtime.ledger.port import AuditFault


@dataclass(frozen=True, slots=True)
class BackupMade:
    """A file that was written and audited."""

    path: Path
    position: int
    """The greatest position that is in it."""
    rows: int
    """Of all tables together."""
    bytes: int
    faults: tuple[AuditFault, ...]
    """What the audit finds in the copy: the ledger itself has these faults."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A database that was empty and now holds what the backup held."""

    address: str
    path: Path
    position: int
    rows: int


@dataclass(frozen=True, slots=True)
class Exported:
    """A file that was written, and read again."""

    path: Path
    execution_id: ExecutionId
    events: int
    blobs: int
    bytes: int
    sha256: Sha256
    """Over all lines of the file; the event of its import names it."""


@dataclass(frozen=True, slots=True)
class Imported:
    """An execution that can now be looked at here."""

    path: Path
    execution_id: ExecutionId
    organisation: Name
    events: int
    blobs: int
    sha256: Sha256
    position: int
    """Of the event that records the import."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was taken away, or would be."""

    executions: tuple[ExecutionId, ...] = ()
    streams: int = 0
    events: int = 0
    blobs: int = 0
    blob_bytes: int = 0
    """As they were stored, compressed."""
    fragments: int = 0
    held: tuple[ExecutionId, ...] = ()
    """Old enough, and left whole because of a legal hold."""
    in_use: tuple[ExecutionId, ...] = ()
    """Old enough, and left because a process works on it or a card of it waits for a person."""
    free_bytes: int | None = None
    """Of an embedded file: what holds nothing and will be used again. None for a server, which sees to it by itself."""
    compacted: bool | None = None
    """Whether the file gave it back; None when that was not asked for."""


@dataclass(frozen=True, slots=True)
class Gone:
    """What is known of a stream that was pruned."""

    organisation: Name
    events: int
    at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class Hold:
    """A legal hold that stands."""

    execution_id: ExecutionId
    organisation: Name
    reason: str
    by: str
    at: datetime
