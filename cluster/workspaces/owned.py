"""The workspace of an employee: a manifest in a stream of its own, `workspace/ORGANISATION/EMPLOYEE`.

Each `workspace.changed` says what changed and who did it. Every hundredth carries the whole manifest as a blob, and
each names the last that does, so that reading takes the same time however old the workspace is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cluster.workspaces.manifest import Delta, Manifest, apply, from_data, to_data
from contracts import Event, Name, OrderId
from runtime.canonical import sha256, to_bytes
from runtime.ledger.port import NewEvent, Store
from runtime.strict_json import read_json

CHANGED = "workspace.changed"
PACK_EVERY = 100
AT_ONCE = 2_000
"""Files told in one event, which keeps it well below what an event may hold."""


def stream_of(organisation: Name, employee: Name) -> str:
    """Return the stream of an employee's workspace."""
    return f"workspace/{organisation}/{employee}"


@dataclass(slots=True)
class Workspace:
    """A workspace as it stands at one version of its stream."""

    stream: str
    version: int = 0
    packed_at: int = 0
    """Version of the newest event that carries the whole manifest; 0 for none."""
    manifest: Manifest = field(default_factory=dict)
    by: dict[str, str] = field(default_factory=dict)
    """Path → the order that wrote it last, as far as the events since `packed_at` tell."""

    def events_for(self, delta: Delta, *, order: OrderId, step: str) -> tuple[list[NewEvent], list[bytes]]:
        """Return the events that store the delta, and blobs that belong to them; bytes of files are not among them."""
        events, blobs, packed_at = [], list[bytes](), self.packed_at
        for number, part in enumerate(parts_of(delta), start=self.version + 1):
            data = {"order_id": str(order), "step": step, **part}
            if number - packed_at >= PACK_EVERY:
                whole = dict(self.manifest)
                apply(whole, delta)
                blobs.append(to_bytes([*to_data(whole)]))
                data, packed_at = {**data, "manifest_sha256": sha256(blobs[-1])}, number
            events.append(NewEvent(CHANGED, {**data, "packed_at": packed_at}))
        return events, blobs

    def wrote(self, delta: Delta, order: OrderId, events: Sequence[NewEvent]) -> None:
        """Take in what was just stored with these events."""
        apply(self.manifest, delta)
        self.by.update(dict.fromkeys([*delta.changed, *delta.removed], str(order)))
        self.version += len(events)
        self.packed_at = int(events[-1].data["packed_at"])

    def take_in(self, event: Event) -> None:
        """Fold the next event."""
        data: Any = event.data or {}
        self.version = event.stream_version
        if event.type != CHANGED:
            return
        delta = delta_in(data)
        apply(self.manifest, delta)
        self.by.update(dict.fromkeys([*delta.changed, *delta.removed], str(data["order_id"])))
        self.packed_at = int(data["packed_at"])


async def read_workspace(store: Store, stream: str, *, at: int | None = None) -> Workspace:
    """Return the workspace as it stands now, or stood at a version of its stream; empty where nothing was ever kept."""
    found = Workspace(stream)
    if at == 0:
        return found
    newest = await (store.ledger.read_newest(stream) if at is None else store.ledger.read_versions(stream, [at]))
    if not newest:
        return found
    told: Any = newest[-1].data or {}
    packed_at = int(told.get("packed_at", 0))
    if packed_at:
        (packed,) = await store.ledger.read_versions(stream, [packed_at])
        told = packed.data
        whole: Any = read_json(await store.blobs.get(told["manifest_sha256"]))
        found.manifest, found.version, found.packed_at = from_data(whole), packed_at, packed_at
    for event in await store.ledger.read(stream, after_version=found.version):
        if at is not None and event.stream_version > at:
            break
        found.take_in(event)
    return found


def parts_of(delta: Delta) -> Iterator[dict[str, Any]]:
    """Yield the data of the events that tell a delta, each small enough to be stored; nothing for an empty one."""
    changed, removed = to_data(delta.changed), to_data(delta.removed)
    for start in range(0, max(len(changed), len(removed)), AT_ONCE):
        files, gone = changed[start : start + AT_ONCE], removed[start : start + AT_ONCE]
        yield {**({"files": files} if files else {}), **({"removed": gone} if gone else {})}


def delta_in(data: Mapping[str, Any]) -> Delta:
    """Return the delta that an event tells."""
    return Delta(from_data(data.get("files", ())), from_data(data.get("removed", ())))
