"""What executions delivered: found in the ledger, read from the blob store."""

from __future__ import annotations

from collections.abc import Sequence

from contracts import Artifact, DataProduct, Event, ExecutionId, ProductId
from runtime.errors import NotFound
from runtime.ledger.port import Store

_PAGE = 1_000


class ProductShelf:
    """The products of one organisation."""

    def __init__(self, store: Store, organisation: str) -> None:
        self._store = store
        self._organisation = organisation

    async def of_execution(self, execution_id: ExecutionId) -> list[DataProduct]:
        """Return what the execution delivered, in order."""
        found: list[DataProduct] = []
        after = 0
        while events := await self._store.ledger.read_execution(execution_id, after=after, limit=_PAGE):
            found += self._products(events)
            after = events[-1].position
        return found

    async def all_products(self) -> list[DataProduct]:
        """Return everything the organisation delivered, oldest first."""
        found: list[DataProduct] = []
        after = 0
        while events := await self._store.ledger.read_all(after=after, limit=_PAGE):
            found += self._products(events)
            after = events[-1].position
        return found

    async def find(
        self, *, kind: str | None = None, words: Sequence[str] = (), labels: dict[str, str] | None = None
    ) -> list[DataProduct]:
        """Return products of that kind with all those labels, whose title or labels hold every word, newest first."""
        wanted = labels or {}
        return [
            product
            for product in reversed(await self.all_products())
            if (kind is None or product.kind == kind)
            and wanted.items() <= product.labels.items()
            and all(word.casefold() in _text_of(product) for word in words)
        ]

    async def get(self, product_id: ProductId) -> DataProduct:
        """Return the product; raise NotFound when this organisation has none of that id."""
        for product in await self.all_products():
            if product.product_id == product_id:
                return product
        raise NotFound(f"There is no {product_id} in {self._organisation}.", id=product_id)

    async def read(self, product: DataProduct, name: str | None = None) -> bytes:
        """Return a file of the product, the main one when no name is given; NotFound when it has no such file."""
        return await self._store.blobs.get(self._artifact(product, name).sha256)

    def _artifact(self, product: DataProduct, name: str | None) -> Artifact:
        for artifact in product.artifacts:
            if name is None or artifact.name == name:
                return artifact
        there = ", ".join(artifact.name for artifact in product.artifacts) or "none"
        raise NotFound(f"{product.product_id} has no file {name or 'at all'}; it has: {there}.", name=name)

    def _products(self, events: Sequence[Event]) -> list[DataProduct]:
        made = [e for e in events if e.type == "product.made" and e.organisation == self._organisation]
        return [DataProduct.read(e.data["product"]) for e in made if e.data is not None]  # type: ignore[arg-type]


def _text_of(product: DataProduct) -> str:
    title = product.title if isinstance(product.title, str) else " ".join(product.title.values())
    return f"{title} {' '.join(product.labels.values())}".casefold()
