"""What an order's streams show: calls and what they had to show, and files that steps left in the slot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cluster.workspaces.manifest import Entry
from cluster.workspaces.order_files import CHANGED
from cluster.workspaces.owned import delta_in
from contracts import Event, EvidenceItem, EvidenceKind, Json, OrderId
from runtime.canonical import sha256
from runtime.engine.result import Result
from runtime.ledger.port import Ledger

MOST_FILES = 5_000
"""Files that are told one by one; those beyond are one item with the hash of all of them, so that a package can be
stored. Each stands in the stream of the order's files."""
SHOWN = ("step.finished", "call.finished")
"""Events that carry evidence: of a step, and of one call of a model."""


async def events_of(ledger: Ledger, order: OrderId) -> list[Event]:
    """Return everything that tells what was done for an order: its own stream, and that of its files."""
    events = [*await ledger.read(order), *await ledger.read(f"files/{order.ulid}")]
    return sorted(events, key=lambda event: event.position)


def items_of(events: Sequence[Event]) -> tuple[EvidenceItem, ...]:
    """Return the evidence in an order's streams, in the order it happened.

    A file that its own call told already, as `files.write` does, is not told again. An effect that took place is
    evidence also where its step failed.
    """
    found: list[EvidenceItem] = []
    beyond: list[EvidenceItem] = []
    told: set[object] = set()
    files, upto = 0, 0
    for event in events:
        if event.data is None:
            continue
        data: Any = event.data
        if event.type in SHOWN:
            found += Result.from_data(data, event.time).evidence(data["step"])
        elif event.type == "step.failed" and "result" in data:
            found += Result.from_data(data["result"], event.time).evidence(data["step"])
        elif event.type == CHANGED:
            told.update(_key(item) for item in found[upto:] if item.kind is EvidenceKind.FILE)
            upto = len(found)
            new = [item for item in _files(event) if _key(item) not in told]
            room = MOST_FILES - files
            found += new[:room]
            beyond += new[room:]
            files += len(new[:room])
    return (*found, *_together(beyond))


def _together(files: Sequence[EvidenceItem]) -> list[EvidenceItem]:
    """Return one item that tells all of the files; none where there are none."""
    if not files:
        return []
    facts: dict[str, Json] = {"files": len(files), "first": files[0].facts["name"], "last": files[-1].facts["name"]}
    digest = sha256([item.to_json() for item in files])
    return [EvidenceItem(kind=EvidenceKind.FILE, at=files[-1].at, step=files[-1].step, sha256=digest, facts=facts)]


def _files(event: Event) -> Iterator[EvidenceItem]:
    data: Any = event.data
    delta = delta_in(data)
    for path, entry in delta.removed.items():
        if entry.is_file:
            yield _item(event, path, entry, removed=True)
    for path, entry in delta.changed.items():
        if entry.is_file:
            yield _item(event, path, entry)


def _item(event: Event, path: str, entry: Entry, **more: Any) -> EvidenceItem:
    data: Any = event.data
    facts = {"name": path, "size": entry.size, "mode": f"{entry.mode:04o}", **more}
    return EvidenceItem(kind=EvidenceKind.FILE, at=event.time, step=data["step"], sha256=entry.sha256, facts=facts)


def _key(item: EvidenceItem) -> tuple[object, ...]:
    return item.step, item.facts.get("name"), item.sha256, bool(item.facts.get("removed"))


def left_behind(events: Iterable[Event]) -> dict[str, str]:
    """Return path → why, of what steps left in the slot and could not leave it."""
    left: dict[str, str] = {}
    for event in events:
        if event.type == CHANGED and event.data is not None:
            delta = delta_in(event.data)
            for path in (*delta.removed, *delta.changed):
                left.pop(path, None)
            left.update({path: entry.left for path, entry in delta.changed.items() if entry.left is not None})
    return left
