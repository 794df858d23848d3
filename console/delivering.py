"""Data products as people look at them, by what each may see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from console.folders import folder_of
from console.ports_products import ProductsAsked
from console.resources import Resources
from console.seeing import Seeing
from console.views_products import LineageNode, ProductDetail, ProductHit, ProductLineage, ProductRow
from contracts import Name, ProductId
from governance.access import Sight
from runtime.errors import NotFound

if TYPE_CHECKING:
    from memory.products.entry import Entry
    from memory.products.lineage import LineageStep
    from memory.products.store import ProductFilter, ProductStore


class Delivering:
    """The port `ProductsPort`."""

    _resources: Resources
    _seeing: Seeing

    @cached_property
    def _shelves(self) -> dict[Name, ProductStore]:
        """Kept from request to request: what searches knows what it has read."""
        return {}

    async def products(
        self, folder: Path, asked: ProductsAsked, *, limit: int, sight: Sight | None = None
    ) -> Sequence[ProductRow]:
        """Return products, newest first; see the port."""
        store, sees = await self._opened(folder, sight)
        which = await self._products_asked(folder, asked)
        return [_row(each) for each in await store.newest(which, limit=limit, may_see=sees)]

    async def search_products(
        self, folder: Path, query: str, asked: ProductsAsked, *, top: int, sight: Sight | None = None
    ) -> Sequence[ProductHit]:
        """Return the products that fit best; see the port."""
        store, sees = await self._opened(folder, sight)
        found = await store.search(query, await self._products_asked(folder, asked), top=top, may_see=sees)
        return [ProductHit(_row(each.entry), each.score, each.parts, each.terms) for each in found]

    async def product_ids(self, folder: Path, *, sight: Sight | None = None) -> Sequence[ProductId]:
        """Return the ids of all that may be seen; see the port."""
        store, sees = await self._opened(folder, sight)
        found = await store.newest(await self._products_asked(folder, ProductsAsked()), limit=10**9, may_see=sees)
        return [each.product.product_id for each in reversed(found)]

    async def product(self, folder: Path, product_id: ProductId, *, sight: Sight | None = None) -> ProductDetail:
        """Return one product; see the port."""
        store, sees = await self._opened(folder, sight)
        return await self._detail(store, await _seen(store, product_id, sees), sees)

    async def product_by_key(self, folder: Path, key: str, *, sight: Sight | None = None) -> ProductDetail:
        """Return the newest of a key; see the port."""
        store, sees = await self._opened(folder, sight)
        seen = [each for each in await store.versions(key) if sees(each)]
        if not seen:
            raise NotFound(f"Nothing was delivered under `{key}`.", key=key)
        return await self._detail(store, seen[-1], sees)

    async def product_lineage(
        self, folder: Path, product_id: ProductId, *, picture: bool = False, sight: Sight | None = None
    ) -> ProductLineage:
        """Return where a product came from; see the port."""
        from memory.products.lineage import lineage_of
        from memory.products.picture import draw

        store, sees = await self._opened(folder, sight)
        entry = await _seen(store, product_id, sees)
        found = await lineage_of(await self._resources.store(), entry)
        return ProductLineage(
            found.product_id, found.execution_id, found.goal, found.organisation_sha256, found.skill,
            found.plan_sha256, _node(found.step), [_node(each) for each in found.upstream],
            [_node(each) for each in found.downstream], found.edges, draw(found) if picture else None,
        )  # fmt: skip

    async def rebuild_products(self) -> int:
        """Make the table again; see the port."""
        from memory.products.table import ProductTable

        self._shelves.clear()
        return await ProductTable(await self._resources.store()).rebuild()

    async def _opened(self, folder: Path, sight: Sight | None) -> tuple[ProductStore, Callable[[Entry], bool]]:
        from memory.products.store import ProductStore

        organisations = await self._resources.organisations()
        organisation, _ = await organisations.current(folder_of(folder))
        store = self._shelves.get(organisation.name)
        if store is None:
            embedder = organisations.embedder(organisation)
            store = self._shelves[organisation.name] = ProductStore(
                await self._resources.store(), organisation.name, embedder
            )
        bounds = self._seeing.in_folder(folder) if sight is None else sight
        return store, lambda entry: bounds.sees_skill(entry.skill or None)

    async def _products_asked(self, folder: Path, asked: ProductsAsked) -> ProductFilter:
        """Return the filter; a moment without a zone is local time of the organisation."""
        from memory.products.store import ProductFilter

        organisation, _ = await (await self._resources.organisations()).current(folder_of(folder))
        since, until = (
            each.replace(tzinfo=organisation.zone) if each is not None and each.tzinfo is None else each
            for each in (asked.since, asked.until)
        )  # fmt: skip
        return ProductFilter(asked.kinds, asked.labels, since, until, newest=asked.newest)

    async def _detail(self, store: ProductStore, entry: Entry, sees: Callable[[Entry], bool]) -> ProductDetail:
        product = entry.product
        content = None
        if product.artifacts and product.artifacts[0].media_type.startswith("text/"):
            try:
                content = (await store.read(product)).decode("utf-8", errors="replace")
            except NotFound:  # its bytes were taken away; what it was stays
                content = None
        versions = [each.product.product_id for each in await store.versions(entry.key) if sees(each)]
        return ProductDetail(_row(entry), versions, content)


async def _seen(store: ProductStore, product_id: ProductId, sees: Callable[[Entry], bool]) -> Entry:
    entry = await store.get(product_id)
    if not sees(entry):
        raise NotFound(f"There is no {product_id} here.", id=product_id)
    return entry


def _row(entry: Entry) -> ProductRow:
    return ProductRow(entry.product, entry.key, entry.employee, entry.intent, entry.text)


def _node(step: LineageStep) -> LineageNode:
    return LineageNode(
        step.id, step.employee, step.step, step.use, step.output_sha256, step.query_sha256, step.data_sha256,
        step.metric, step.metric_version, step.deliveries, step.card,
    )  # fmt: skip
