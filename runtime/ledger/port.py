"""What a ledger, its leases and its blob store promise; the suites in `tests/runtime/ledger` say it in code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from contracts import Event, ExecutionId

Stream = str
"""`kind/name`: `execution/01J9…`, `order/01J9…`, `card/01J9…`, `sensor/ORGANISATION/NAME`, `blackboard/01J9…/KEY`, …"""


@dataclass(frozen=True, slots=True)
class NewEvent:
    """A fact to be stored: what happened, in the past tense, and its data (already cleaned)."""

    type: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to be the only one who writes something, until it expires."""

    name: str
    holder: str
    fence: int
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Append:
    """Events for one stream, all or none.

    `expected_version` is how many events of the stream the writer has folded, 0 for a new stream.
    With `leases`, the append is refused unless every lease row still carries that fence (same transaction).
    """

    stream: Stream
    events: Sequence[NewEvent]
    expected_version: int
    organisation: str
    source: str
    execution_id: ExecutionId | None = None
    trace_id: str | None = None
    leases: Sequence[Lease] = ()


@dataclass(frozen=True, slots=True)
class AuditFault:
    """A row that does not fit its chain, a blob that does not fit its address, or a fault of the database itself."""

    stream: Stream
    """`blob/SHA256` for a blob; empty for what belongs to no stream."""
    version: int
    position: int | None
    what: str


class Ledger(Protocol):
    """Append-only record of what happened, in streams, with one global order of commits."""

    async def append(self, *appends: Append, blobs: Sequence[bytes] = ()) -> tuple[Event, ...]:
        """Store everything in one commit, or nothing; return the stored events in order.

        `blobs` are put into the blob store in the same commit, so that an event never names a blob that is not there.
        When this returns, the commit is on disk.

        Raises:
            VersionConflict: a stream is not at its expected version.
            StaleWriter: a lease was lost.
            LedgerUnavailable: the database cannot be written (locked for too long, read-only, full, gone).
        """
        ...

    async def read(self, stream: Stream, *, after_version: int = 0) -> list[Event]:
        """Return the events of one stream, in order; empty for a stream that does not exist."""
        ...

    async def read_execution(self, execution_id: ExecutionId, *, after: int = 0, limit: int = 1_000) -> list[Event]:
        """Return events of all streams of one execution with a position greater than `after`, in order."""
        ...

    async def read_all(self, *, after: int = 0, limit: int = 1_000) -> list[Event]:
        """Return events with a position greater than `after`, in order; a reader with a cursor misses none."""
        ...

    async def streams(
        self, kind: str, *, organisation: str | None = None, last_types: Sequence[str] = (), prefix: str = ""
    ) -> list[Stream]:
        """Return the streams of one kind, oldest first.

        With `last_types` only those whose last event is of one, with `prefix` those whose name starts with it.
        """
        ...

    async def head(self) -> int:
        """Return the greatest position; 0 for an empty ledger."""
        ...

    async def verify(self) -> list[AuditFault]:
        """Check every chain, payload and blob; return what does not fit. Erased payloads are clean.

        It answers for whatever it finds, and fails only when the database cannot be reached.
        """
        ...

    async def erase(self, stream: Stream, version: int) -> None:
        """Remove the payload of one event for good; the chain stays whole."""
        ...

    def on_commit(self, listener: Callable[[Sequence[Event]], None]) -> Callable[[], None]:
        """Call `listener` on the event loop after each commit of this process; return a function that stops it."""
        ...


class Leases(Protocol):
    """Leases with fencing numbers that only grow."""

    async def acquire(self, name: str, holder: str, ttl_s: float) -> Lease | None:
        """Return a new lease with a greater fence, or None while somebody else holds a live one."""
        ...

    async def renew(self, lease: Lease, ttl_s: float) -> Lease:
        """Prolong the lease; raise StaleWriter when somebody else has it or it was released."""
        ...

    async def release(self, lease: Lease) -> None:
        """Give the lease back; does nothing when it was lost meanwhile. The fence is never used again."""
        ...

    async def live(self, prefix: str = "") -> list[Lease]:
        """Return the leases that have not run out and whose name starts with `prefix`."""
        ...


class Blobs(Protocol):
    """Content-addressed bytes, stored once, compressed."""

    async def put(self, data: bytes) -> str:
        """Store `data` and return its sha256; storing the same bytes again does nothing."""
        ...

    async def get(self, sha256: str) -> bytes:
        """Return the bytes.

        Raises:
            NotFound: nothing was ever stored under this address, or nothing of it is left.
            BlobDamaged: what is there no longer matches its address, or part of it is gone.
        """
        ...


class Store(Protocol):
    """One database: its ledger, leases and blobs."""

    @property
    def ledger(self) -> Ledger: ...  # noqa: D102

    @property
    def leases(self) -> Leases: ...  # noqa: D102

    @property
    def blobs(self) -> Blobs: ...  # noqa: D102

    async def close(self) -> None:
        """Finish what is being written and close every connection."""
        ...
