"""The data products of one organisation: found by what they are about as well as by key, and read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from contracts import Artifact, DataProduct, ExecutionId, Name, ProductId
from memory.products.entry import Entry
from memory.products.table import ProductTable
from runtime.errors import NotFound
from runtime.ledger.store import SqlStore
from runtime.search import Document, Embedder, EmbedderUnavailable, SearchIndex
from runtime.texts import every_language

_WEIGHTS = {"title": 3.0, "labels": 2.0, "intent": 2.0, "text": 1.0}
_LEAST = 0.2
"""Share of the best score that a product needs to be given."""


@dataclass(frozen=True, slots=True)
class ProductFilter:
    """Which products; a field that is empty leaves all in."""

    kinds: Sequence[str] = ()
    labels: Mapping[str, str] | None = None
    since: datetime | None = None
    """UTC; those made from then on."""
    until: datetime | None = None
    """UTC; those made before."""
    domains: Sequence[Name] | None = None
    """Only those whose order could use no other domains than these; None: whatever they are of."""
    newest: bool = False
    """Only the newest version of each key."""


@dataclass(frozen=True, slots=True)
class ProductFound:
    """One product that fits, and why."""

    entry: Entry
    score: float
    """0 to 1, in this search."""
    parts: Mapping[str, float]
    """`words`, BM25, and `meaning`, the cosine, where there is an embedder."""
    terms: Mapping[str, float]
    """Word of the question → its part, largest first."""


class ProductStore:
    """Of one organisation. It keeps an index in this process, brought up to date with every search."""

    def __init__(self, store: SqlStore, organisation: Name, embedder: Embedder | None = None) -> None:
        self.table = ProductTable(store)
        self._blobs = store.blobs
        self._organisation = organisation
        self._index = SearchIndex(_WEIGHTS, embedder=embedder)
        self._entries: dict[str, Entry] = {}
        self._newest: dict[str, str] = {}
        """Key → its newest product."""
        self._position = 0
        self._turn = asyncio.Lock()

    async def search(
        self, query: str, which: ProductFilter = ProductFilter(), *, top: int,
        may_see: Callable[[Entry], bool] = lambda entry: True,
    ) -> list[ProductFound]:  # fmt: skip
        """Return the products that fit a question best, best first; by words where no vectors are to be had."""
        await self._catch_up()

        def where(document: Document) -> bool:
            entry = self._entries[document.id]
            return self._fits(entry, which) and may_see(entry)

        for by_words in (False, True):
            try:
                hits = await self._index.search(query, top=top, where=where, by_words=by_words)
            except EmbedderUnavailable:
                continue
            least = hits[0].score * _LEAST if hits else 0.0
            return [
                ProductFound(
                    self._entries[hit.document.id], hit.score,
                    {"words": hit.keyword, **({} if hit.similarity is None else {"meaning": hit.similarity})},
                    hit.terms,
                )
                for hit in hits
                if hit.score >= least
            ]  # fmt: skip
        return []

    async def of_execution(self, execution_id: ExecutionId) -> list[DataProduct]:
        """Return what the execution delivered, in order."""
        return [entry.product for entry in await self.table.of_execution(self._organisation, execution_id)]

    async def get(self, product_id: ProductId) -> Entry:
        """Return one; raise NotFound when this organisation has none of that id."""
        return await self.table.get(self._organisation, product_id)

    async def by_key(self, key: str) -> Entry:
        """Return the newest of a key; raise NotFound."""
        found = await self.table.versions(self._organisation, key)
        if not found:
            raise NotFound(f"Nothing was delivered under `{key}` in {self._organisation}.", key=key)
        return found[-1]

    async def versions(self, key: str) -> list[Entry]:
        """Return everything that was delivered under a key, oldest first."""
        return await self.table.versions(self._organisation, key)

    async def newest(
        self, which: ProductFilter, *, limit: int, may_see: Callable[[Entry], bool] = lambda entry: True
    ) -> list[Entry]:
        """Return products, newest first."""
        await self._catch_up()
        found = (self._entries[each] for each in sorted(self._entries, reverse=True))
        kept = (entry for entry in found if self._fits(entry, which) and may_see(entry))
        return [entry for entry, _ in zip(kept, range(limit), strict=False)]

    async def read(self, product: DataProduct, name: str | None = None) -> bytes:
        """Return a file of the product, the main one when no name is given; NotFound when it has no such file."""
        return await self._blobs.get(_artifact(product, name).sha256)

    async def _catch_up(self) -> None:
        async with self._turn:
            changed = await self.table.since(self._organisation, self._position)
            for entry in changed.entries:
                name = str(entry.product.product_id)
                self._entries[name] = entry
                self._newest[entry.key] = max(name, self._newest.get(entry.key, ""))
                self._index.put(_document(entry))
            self._position = changed.position
            if changed.count < len(self._entries):
                await self._forget_pruned()

    async def _forget_pruned(self) -> None:
        there = {str(each) for each in await self.table.ids(self._organisation)}
        gone = [name for name in self._entries if name not in there]
        self._index.remove(*gone)
        for name in gone:
            del self._entries[name]
        self._newest = {}
        for name, entry in self._entries.items():
            self._newest[entry.key] = max(name, self._newest.get(entry.key, ""))

    def _fits(self, entry: Entry, which: ProductFilter) -> bool:
        product = entry.product
        return (
            (not which.kinds or product.kind in which.kinds)
            and (which.labels or {}).items() <= product.labels.items()
            and (which.since is None or product.made_at >= which.since)
            and (which.until is None or product.made_at < which.until)
            and (which.domains is None or set(entry.domains) <= set(which.domains))
            and (not which.newest or self._newest.get(entry.key) == str(product.product_id))
        )


def _document(entry: Entry) -> Document:
    product = entry.product
    fields = {
        "title": " ".join(every_language(product.title)), "labels": " ".join(product.labels.values()),
        "intent": entry.intent, "text": entry.text,
    }  # fmt: skip
    return Document(str(product.product_id), fields)


def _artifact(product: DataProduct, name: str | None) -> Artifact:
    for artifact in product.artifacts:
        if name is None or artifact.name == name:
            return artifact
    there = ", ".join(artifact.name for artifact in product.artifacts) or "none"
    raise NotFound(f"{product.product_id} has no file {name or 'at all'}; it has: {there}.", name=name)
