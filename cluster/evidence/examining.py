"""Looks at all evidence of one order without its slot: is it sealed, is it what happened, are the bytes still there?"""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cluster.evidence.items import events_of, items_of, left_behind
from cluster.evidence.package import evidence_id_of, packages_of, verify
from contracts import Event, EvidenceItem, EvidenceKind, EvidencePackage, Json, OrderId, OrderState, TaskOrder
from runtime.canonical import sha256, to_bytes
from runtime.errors import BlobDamaged, NotFound
from runtime.ledger.naming import named_by
from runtime.ledger.port import Blobs, Store


class Kept(StrEnum):
    """Where the bytes are that an item's hash is of."""

    STORED = "stored"
    """In the blob store."""
    LEDGER = "ledger"
    """In the event itself: an output that is short."""
    HASH = "hash"
    """Nowhere: the hash proves what was seen to whoever has it, such as the rows of a query."""


class Seal(StrEnum):
    """How an order's evidence stands."""

    SEALED = "sealed"
    OPEN = "open"
    """The order goes on; it is sealed when it ends."""
    NONE = "none"
    """The order was carried out without a slot: what it did stands in the ledger only."""
    MISSING = "missing"
    """It ended in a slot and nothing was sealed: its process died before, and the execution did not go on since."""


@dataclass(frozen=True, slots=True)
class ItemExamined:
    """One item, and what was found of it."""

    number: int
    """Its place, from 1."""
    item: EvidenceItem
    kept: Kept
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class OrderEvidence:
    """All evidence of an order."""

    order: TaskOrder
    state: OrderState
    seal: Seal
    package: EvidencePackage | None
    """As it was sealed last; None where it was not."""
    items: tuple[ItemExamined, ...]
    left: Mapping[str, str]
    """What steps left in the slot and could not leave it: path → why."""
    faults: tuple[str, ...]
    """Everything that is wrong, items included; empty where all is whole."""
    erased: int = 0
    """Events whose payload was erased for good: what they showed can no longer be compared."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The bytes of one item."""

    name: str
    media_type: str
    data: bytes


async def examine(store: Store, order_id: OrderId) -> OrderEvidence:
    """Re-hash everything that an order left: its stored bytes, its items against the ledger, its seal.

    Raises:
        NotFound: there is no such order.
    """
    events = await events_of(store.ledger, order_id)
    order, state = _order_in(events, order_id), _state_in(events)
    package = await _package(store, order_id)
    erased = sum(event.data is None for event in events)
    faults = [] if package is None else verify(package, None if erased or not state.final else events)
    items = await _items(store, items_of(events) if package is None else package.items, events)
    faults += [f"Item {each.number} ({_told(each.item)}): {each.fault}" for each in items if each.fault is not None]
    for address in sorted(_addresses(events) - {each.item.sha256 for each in items}):
        fault = await _fault(store.blobs, address)
        if fault is not None:
            faults.append(f"{_named_in(events, address)}: {fault}")
    seal = _seal(events, state, sealed=package is not None)
    if seal is Seal.MISSING:
        faults.append(
            f"{order_id} ended in a slot and its evidence was never sealed; `silicon resume` of {order.execution_id} "
            "seals it."
        )
    return OrderEvidence(order, state, seal, package, items, left_behind(events), tuple(faults), erased)


async def _package(store: Store, order_id: OrderId) -> EvidencePackage | None:
    packages = packages_of(await store.ledger.read(evidence_id_of(order_id)))
    return packages[-1] if packages else None


async def _items(store: Store, items: Sequence[EvidenceItem], events: Sequence[Event]) -> tuple[ItemExamined, ...]:
    stored, inline = _addresses(events), _outputs(events)
    examined = []
    for number, item in enumerate(items, start=1):
        kept = Kept.STORED if item.sha256 in stored else Kept.LEDGER if item.sha256 in inline else Kept.HASH
        fault = await _fault(store.blobs, item.sha256) if kept is Kept.STORED else None
        examined.append(ItemExamined(number, item, kept, fault))
    return tuple(examined)


async def bytes_of(store: Store, order_id: OrderId, number: int) -> Shown:
    """Return the bytes of an item.

    Raises:
        NotFound: there is no such order or item, or only the hash of it was kept.
        BlobDamaged: what is stored was changed.
    """
    events = await events_of(store.ledger, order_id)
    _order_in(events, order_id)
    package = await _package(store, order_id)
    items = items_of(events) if package is None else package.items
    if not 0 < number <= len(items):
        raise NotFound(f"{order_id} has {len(items)} items of evidence; there is no number {number}.", number=number)
    item = items[number - 1]
    inline = _outputs(events)
    if item.sha256 not in _addresses(events):
        if item.sha256 not in inline:
            raise NotFound(
                f"Of item {number} of {order_id} ({_told(item)}) only the hash was kept.", number=number,
            )  # fmt: skip
        return Shown(f"{item.step}.json", "application/json", to_bytes(inline[item.sha256]))
    data = await store.blobs.get(item.sha256)
    name = str(item.facts.get("name") or "").rsplit("/", 1)[-1] or _name(item)
    return Shown(name, _media_type(events, item, name), data)


def _order_in(events: Sequence[Event], order_id: OrderId) -> TaskOrder:
    for event in events:
        if event.type == "order.accepted" and event.data is not None:
            return TaskOrder.read(event.data["order"])  # type: ignore[arg-type]
    raise NotFound(f"There is no {order_id} here, or it was not begun yet.", order_id=str(order_id))


def _state_in(events: Sequence[Event]) -> OrderState:
    state = OrderState.RUNNING
    for event in events:
        if event.type == "order.finished" and event.data is not None:
            report: Any = event.data["report"]
            state = OrderState(report["state"])
        elif event.type == "order.reopened":
            state = OrderState.RUNNING
    return state


def _seal(events: Sequence[Event], state: OrderState, *, sealed: bool) -> Seal:
    if not any(event.type == "order.allocated" for event in events):
        return Seal.NONE
    if not state.final:
        return Seal.OPEN
    return Seal.SEALED if sealed else Seal.MISSING


def _addresses(events: Sequence[Event]) -> set[str]:
    """Return the addresses of blobs that the events name: their bytes have to be there."""
    return {address for event in events if event.data is not None for address in named_by(event.type, event.data)}


def _outputs(events: Sequence[Event]) -> dict[str, Json]:
    """Return hash → output, of the outputs that stand in the events themselves."""
    found: dict[str, Json] = {}
    for event in events:
        for data in (event.data, (event.data or {}).get("result")):
            if isinstance(data, dict) and "output" in data:
                found[sha256(data["output"])] = data["output"]
    return found


async def _fault(blobs: Blobs, address: str) -> str | None:
    try:
        await blobs.get(address)  # which hashes what it reads
    except NotFound:
        return f"its bytes are missing (sha256 {address})."
    except BlobDamaged:
        return f"its bytes were changed, or part of them is gone; they no longer have the sha256 {address}."
    return None


def _named_in(events: Sequence[Event], address: str) -> str:
    """Return which event names an address."""
    for event in events:
        if event.data is not None and address in named_by(event.type, event.data):
            return f"What {event.type} in event {event.stream_version} of {event.subject} names"
    return address


def _told(item: EvidenceItem) -> str:
    name = item.facts.get("name") or item.facts.get("first")
    what = name if isinstance(name, str) and name else item.capability or item.kind.value
    return f"{what} of step {item.step}"


def _name(item: EvidenceItem) -> str:
    ending = {EvidenceKind.SCREENSHOT: "png", EvidenceKind.CALL: "json"}.get(item.kind, "bin")
    return f"{item.step}-{item.kind.value}.{ending}"


def _media_type(events: Sequence[Event], item: EvidenceItem, name: str) -> str:
    """Return what an artifact of the same bytes was kept as, else what the name says."""
    for event in events:
        artifacts: Any = (event.data or {}).get("artifacts", ())
        for artifact in artifacts:
            if artifact["sha256"] == item.sha256:
                return str(artifact["media_type"])
    return mimetypes.guess_type(name)[0] or "application/octet-stream"
