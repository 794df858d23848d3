"""The table of deliveries, made of their events, so that finding one never reads the whole ledger."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError
from sqlalchemy import Select, func, select

from contracts import CardId, DecisionCard, Event, ExecutionId, Name, ProductId, TaskOrder
from memory.products.entry import (
    MADE,
    REPORT,
    Entry,
    of_decision,
    of_finding,
    of_report,
    order_id_of,
    order_in,
    step_after,
)
from runtime.canonical import clean_text, sha256
from runtime.errors import NotFound
from runtime.ledger.projection import Projection, Rows
from runtime.ledger.schema import products, products_seen
from runtime.ledger.store import SqlStore

_TEXT = 4_000
"""Characters of a report's page that are searched."""
_AHEAD = 20
"""Events behind a finding among which the end of its step stands."""
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Changed:
    """Entries that came since a position."""

    entries: Sequence[Entry]
    position: int
    count: int
    """Entries that there are now, by which it is told that others are gone: pruning says nothing to whoever asks."""


class ProductTable:
    """The table of one store, of all organisations."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self._made = Projection(store, products, products_seen, types=MADE, rows=self._rows)

    async def catch_up(self) -> None:
        """Take in what was delivered since the table was last looked at."""
        await self._made.catch_up()

    async def rebuild(self) -> int:
        """Make the table again from the events; return how many entries there are."""
        return await self._made.rebuild()

    async def get(self, organisation: Name, product_id: ProductId) -> Entry:
        """Return one entry; raise NotFound."""
        found = await self._entries(
            select(products).where(products.c.product == str(product_id), products.c.organisation == organisation)
        )
        if not found:
            raise NotFound(f"There is no {product_id} in {organisation}.", id=product_id)
        return found[0]

    async def newest(
        self, organisation: Name, *, kind: str | None = None, before: ProductId | None = None, limit: int
    ) -> list[Entry]:
        """Return entries, newest first, those that came before `before`."""
        query = select(products).where(products.c.organisation == organisation).order_by(products.c.product.desc())
        if kind is not None:
            query = query.where(products.c.kind == kind)
        if before is not None:
            query = query.where(products.c.product < str(before))
        return await self._entries(query.limit(limit))

    async def versions(self, organisation: Name, key: str) -> list[Entry]:
        """Return the entries of one key, oldest first."""
        query = select(products).where(products.c.organisation == organisation, products.c.key_sha256 == sha256(key))
        return await self._entries(query.order_by(products.c.product))

    async def of_execution(self, organisation: Name, execution_id: ExecutionId) -> list[Entry]:
        """Return what an execution delivered, in order."""
        query = select(products).where(products.c.execution_id == str(execution_id))
        return await self._entries(
            query.where(products.c.organisation == organisation).order_by(products.c.position, products.c.product)
        )

    async def since(self, organisation: Name, position: int) -> Changed:
        """Return the entries that came after a position of the ledger."""
        found: list[Entry] = []
        await self.catch_up()
        while True:
            query = select(products).where(products.c.organisation == organisation, products.c.position > position)
            rows = await self._store.reader.rows(query.order_by(products.c.position).limit(_AT_ONCE))
            found += [_entry(row) for row in rows]
            if not rows:
                counted = select(func.count()).select_from(products).where(products.c.organisation == organisation)
                [[count]] = await self._store.reader.rows(counted)
                return Changed(found, max(position, await self._made.position()), int(count))
            position = int(rows[-1][_POSITION])

    async def ids(self, organisation: Name) -> list[ProductId]:
        """Return the ids of all entries, oldest first."""
        await self.catch_up()
        query = select(products.c.product).where(products.c.organisation == organisation)
        return [ProductId(row[0]) for row in await self._store.reader.rows(query.order_by(products.c.product))]

    async def _entries(self, query: Select[tuple[object, ...]]) -> list[Entry]:
        await self.catch_up()
        return [_entry(row) for row in await self._store.reader.rows(query)]

    async def _rows(self, events: Sequence[Event]) -> Rows:
        rows: dict[str, tuple[object, ...] | None] = {}
        about = _Orders(self._store)
        for event in events:
            if event.type == "stream.pruned":
                stream = str((event.data or {}).get("stream"))
                gone = select(products.c.product).where(products.c.stream == stream)
                rows |= dict.fromkeys([str(row[0]) for row in await self._store.reader.rows(gone)])
                continue
            entry = await about.entry(event)
            if entry is not None:
                rows[str(entry.product.product_id)] = _row(entry, event)
        return rows


class _Orders:
    """What the orders behind some events were about, each read once."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self._orders: dict[str, TaskOrder | None] = {}
        self._skills: dict[str, str] = {}

    async def entry(self, event: Event) -> Entry | None:
        """Return the entry of an event; None where what it tells is gone, or nobody can read it."""
        if event.data is None:
            return None
        try:
            if event.type == "card.decided":
                return await self._decision(event)
            stream = order_id_of(event)
            order = None if stream is None else await self._order(stream)
            if order is None:
                return None
            skill = await self._skill(order.execution_id)
            if event.type == "product.made":
                return of_report(event, order, skill, await self._page(event))
            ahead = range(event.stream_version + 1, event.stream_version + 1 + _AHEAD)
            after = await self._store.ledger.read_versions(order.order_id, ahead)
            return of_finding(event, order, skill, step_after(after, event.position))
        except (ValidationError, KeyError, TypeError, ValueError):  # written by a program that is older than the form
            return None

    async def _decision(self, event: Event) -> Entry | None:
        first = await self._store.ledger.read_versions(event.subject, [1])
        if not first or first[0].data is None:
            return None
        card = DecisionCard.read(first[0].data["card"])  # type: ignore[arg-type]
        order = await self._order(card.order_id)
        return None if order is None else of_decision(event, card, order, await self._skill(card.execution_id))

    async def _order(self, stream: str) -> TaskOrder | None:
        if stream not in self._orders:
            self._orders[stream] = order_in(await self._store.ledger.read_versions(stream, [1]))
        return self._orders[stream]

    async def _skill(self, execution_id: ExecutionId) -> str:
        if execution_id not in self._skills:
            first = await self._store.ledger.read_versions(execution_id, [1])
            request = (first[0].data or {}).get("request") if first else None
            self._skills[execution_id] = str(request.get("skill") or "") if isinstance(request, Mapping) else ""
        return self._skills[execution_id]

    async def _page(self, event: Event) -> str:
        assert event.data is not None
        artifacts = event.data["product"].get("artifacts") or []  # type: ignore[union-attr]
        main = artifacts[0] if isinstance(artifacts, list) and artifacts else None
        if not isinstance(main, Mapping) or not str(main.get("media_type", "")).startswith("text/"):
            return ""
        try:
            data = await self._store.blobs.get(str(main["sha256"]))
        except NotFound:
            return ""
        return clean_text(data.decode("utf-8", errors="replace"))[:_TEXT]


_POSITION = list(products.columns.keys()).index("position")
_RECORD = list(products.columns.keys()).index("record")


def _row(entry: Entry, event: Event) -> tuple[object, ...]:
    product = entry.product
    stream = event.subject if event.subject.startswith(f"{CardId.KIND}/") else str(product.order_id)
    return (
        str(product.product_id), entry.organisation, product.kind or REPORT, sha256(entry.key), stream,
        str(product.execution_id), event.position, json.dumps(entry.to_json(), ensure_ascii=False).encode(),
    )  # fmt: skip


def _entry(row: Sequence[object]) -> Entry:
    return Entry.read(json.loads(row[_RECORD]))  # type: ignore[arg-type]
