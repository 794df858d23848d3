"""What a ledger, its leases and its blob store promise; the suites in `tests/runtime/ledger` say it in code."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from contracts import Event, ExecutionId

Stream = str
"""`kind/name`: `execution/01J9…`, `order/01J9…`, `card/01J9…`, `sensor/ORGANISATION/NAME`, `blackboard/01J9…/KEY`, …"""


@dataclass(slots=True)  # not frozen, nor is an append: that would take three times as long to make
class NewEvent:
    """A fact to be stored: what happened, in the past tense, and its data (already cleaned)."""

    type: str
    data: Mapping[str, Any] = field(default_factory=dict)
    payload: bytes | None = None
    """The data as it will be stored, where `runtime.ledger.facts.ready_to_store` has made it already."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to be the only one who writes something, until it expires."""

    name: str
    holder: str
    fence: int
    expires_at: datetime
    taken_over: bool = field(default=False, compare=False)
    """Whether whoever held it before let it run out instead of giving it back, most likely because it died."""


@dataclass(slots=True)
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
class Cursor:
    """How far a consumer has come in the ledger, to be saved in the same commit as what it made of the events.

    `expected` is the position that the consumer started from; None saves whatever was there. `data` is what else the
    consumer keeps, JSON; it replaces what was kept before.
    """

    name: str
    """1 to 255 characters without blanks around them: `bus/GROUP`, …"""
    position: int
    expected: int | None = None
    data: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class CursorChange:
    """A cursor that is worked out inside the commit, so that processes which share it never get into each other's way.

    `change` is given what stands there, at position 0 with no data where nothing does, and returns what is to be saved.
    It has to be quick, for every writer waits for it, and runs in another thread. What it raises, a SiliconError, is
    raised by the append, of which nothing is stored then.
    """

    name: str
    change: Callable[[Cursor], Cursor]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was folded from a stream up to a version. It is derived: the audit ignores it, and it may vanish."""

    stream: Stream
    version: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Fragment:
    """Something that was only streamed."""

    seq: int
    """Its place among all fragments; greater ones came later, some numbers may be missing."""
    stream: Stream
    type: str
    time: datetime
    data: Mapping[str, Any]
    execution_id: ExecutionId | None = None


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

    async def append(
        self,
        *appends: Append,
        blobs: Sequence[bytes] = (),
        cursors: Sequence[Cursor | CursorChange] = (),
        snapshots: Sequence[Snapshot] = (),
        unchanged: Mapping[Stream, int] | None = None,
        then: Callable[[Sequence[Event]], None] | None = None,
    ) -> tuple[Event, ...]:
        """Store everything in one commit, or nothing; return the stored events in order.

        `blobs` are put into the blob store in the same commit, so that an event never names a blob that is not there.
        A snapshot takes the place of one of the same version. With blobs, cursors or snapshots there may be no appends.
        `unchanged` names other streams on which all this rests, and the version at which each must stand. When this
        returns, the commit is on disk. `then` is called on the event loop with the stored events once it is; whoever is
        cancelled while waiting ends only when that was called, or the append refused, so that it never has to guess.

        Raises:
            VersionConflict: a stream is not at its expected version, or a cursor (`consumer/NAME`) at its position.
            StaleWriter: a lease was lost.
            LedgerUnavailable: the database cannot be written (locked for too long, read-only, full, gone).
        """
        ...

    async def read(self, stream: Stream, *, after_version: int = 0) -> list[Event]:
        """Return the events of one stream, in order; empty for a stream that does not exist."""
        ...

    async def read_versions(self, stream: Stream, versions: Sequence[int]) -> list[Event]:
        """Return the events of one stream that have these versions, in order; those that are not there are left out."""
        ...

    async def read_newest(self, *streams: Stream, prefix: Stream = "") -> list[Event]:
        """Return the newest event of each stream that is named or, with `prefix`, whose name starts with it.

        They come in order of positions; a stream that is not there is left out.
        """
        ...

    async def read_execution(self, execution_id: ExecutionId, *, after: int = 0, limit: int = 1_000) -> list[Event]:
        """Return events of all streams of one execution with a position greater than `after`, in order."""
        ...

    async def read_all(
        self, *, after: int = 0, until: int | None = None, limit: int = 1_000, types: Collection[str] = ()
    ) -> list[Event]:
        """Return events with a position greater than `after`, in order; a reader with a cursor misses none.

        With `until` those up to that position only, with `types` those of one of these.
        """
        ...

    async def read_streams(self, prefix: str, *, after: int = 0) -> list[Event]:
        """Return the events after a position of all streams whose name starts with `prefix`, in order of positions."""
        ...

    async def streams(
        self, kind: str, *, organisation: str | None = None, last_types: Sequence[str] = (), prefix: str = ""
    ) -> list[Stream]:
        """Return the streams of one kind, oldest first.

        With `last_types` only those whose last event is of one, with `prefix` those whose name starts with it.
        """
        ...

    async def newest_streams(
        self, kind: str, *, organisation: str | None = None, before: Stream | None = None, limit: int
    ) -> list[Stream]:
        """Return streams of one kind, newest first, at most `limit`: those that began before `before` did.

        `before` may have been pruned since; one that was never there is placed by its name.
        """
        ...

    async def head(self) -> int:
        """Return the greatest position; 0 for an empty ledger."""
        ...

    async def horizon(self) -> int:
        """Return the greatest position at which an event may be missing because it was pruned; 0 for none."""
        ...

    async def cursor(self, name: str) -> int:
        """Return the position that a consumer saved; 0 for a consumer that saved none."""
        ...

    async def cursors(self, prefix: str = "") -> list[Cursor]:
        """Return all saved cursors whose name starts with `prefix`, by name; each expects the position it is at."""
        ...

    async def snapshots(self, stream: Stream) -> list[Snapshot]:
        """Return the snapshots of a stream that are there, by version."""
        ...

    async def verify(self) -> list[AuditFault]:
        """Check every chain, payload and blob; return what does not fit. Erased payloads are clean.

        It answers for whatever it finds, and fails only when the database cannot be reached.
        """
        ...

    async def erase(self, stream: Stream, version: int) -> None:
        """Remove the payload of one event for good; the chain stays whole."""
        ...

    async def prune(
        self, streams: Mapping[Stream, int], *, reason: str, unchanged: Mapping[Stream, int] | None = None
    ) -> int:
        """Take whole streams away for good, in one commit; return how many events went.

        Each leaves a tombstone, and an event `stream.pruned` in `pruning/ORGANISATION`; the audit stays clean. Whoever
        appends to a pruned stream goes on behind its tombstone. Their snapshots and fragments go with them, blobs stay.

        Args:
            streams: the version at which each stands; one of which nothing is there is passed over.
            reason: 1 to 255 characters, kept in the tombstone.
            unchanged: other streams on which the decision rests, and the version at which each must stand.

        Raises:
            VersionConflict: a stream moved on; nothing was pruned.
        """
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
        """Store `data` and return its sha256; storing the same bytes again does nothing.

        What an event is going to name goes into the event's own commit (`Ledger.append`): until an event names it,
        pruning may take it away.
        """
        ...

    async def get(self, sha256: str) -> bytes:
        """Return the bytes.

        Raises:
            NotFound: nothing was ever stored under this address, or nothing of it is left.
            BlobDamaged: what is there no longer matches its address, or part of it is gone.
        """
        ...

    async def get_all(self, sha256s: Collection[str]) -> dict[str, bytes]:
        """Return the bytes of each, read together; raises as `get` does, for the first that cannot be had."""
        ...


class Fragments(Protocol):
    """Events that are only streamed, such as the words of a model; outside the chain, with a sequence of their own.

    They are collected for a moment before they are stored: a process that dies loses those of the last moment, which
    nothing may depend on. They are pruned some days after what they make up was stored as an event.
    """

    def write(self, stream: Stream, event: NewEvent, *, execution_id: ExecutionId | None = None) -> None:
        """Take one in; it is stored within `ledger.flush_ms`, or once there are `ledger.flush_events`.

        Raises:
            ValueError: it is nothing that can be stored.
        """
        ...

    async def flush(self) -> None:
        """Return once everything written so far is stored and can be read.

        Raises:
            LedgerUnavailable: it is kept for the next flush.
        """
        ...

    async def head(self) -> int:
        """Return the greatest number there is; 0 for none."""
        ...

    async def newest(self, streams: Collection[Stream], *, limit: int = 1_000) -> list[Fragment]:
        """Return the newest of these streams together, the newest first; it costs what these streams have."""
        ...

    async def read(self, *, after: int = 0, stream: Stream | None = None, limit: int = 1_000) -> list[Fragment]:
        """Return those with a greater number than `after`, of all streams or of one, in the order they were written."""
        ...


class Store(Protocol):
    """One database: its ledger, leases, blobs and fragments."""

    @property
    def ledger(self) -> Ledger: ...  # noqa: D102

    @property
    def leases(self) -> Leases: ...  # noqa: D102

    @property
    def blobs(self) -> Blobs: ...  # noqa: D102

    @property
    def fragments(self) -> Fragments: ...  # noqa: D102

    async def close(self) -> None:
        """Finish what is being written and close every connection."""
        ...
