"""What a face needs of data products; part of the port `Application`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

from console.views_products import ProductDetail, ProductHit, ProductLineage, ProductRow
from contracts import ProductId
from governance.access import Sight


@dataclass(frozen=True, slots=True)
class ProductsAsked:
    """Which products somebody asks for; what is empty leaves all in that they may see."""

    kinds: Sequence[str] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None
    newest: bool = False
    """Only the newest of each key."""


class ProductsPort(Protocol):
    """What work delivered: reports, decisions, insights. Whoever may see an execution may see what it delivered.

    `sight` is what whoever asks may see; absent, what the system user may see.
    """

    async def products(
        self, folder: Path, asked: ProductsAsked, *, limit: int, sight: Sight | None = None
    ) -> Sequence[ProductRow]:
        """Return products, newest first."""
        ...

    async def search_products(
        self, folder: Path, query: str, asked: ProductsAsked, *, top: int, sight: Sight | None = None
    ) -> Sequence[ProductHit]:
        """Return the products that fit a question best, with why."""
        ...

    async def product_ids(self, folder: Path, *, sight: Sight | None = None) -> Sequence[ProductId]:
        """Return the ids of all products that may be seen, oldest first."""
        ...

    async def product(self, folder: Path, product_id: ProductId, *, sight: Sight | None = None) -> ProductDetail:
        """Return one product with its versions; raise NotFound."""
        ...

    async def product_by_key(self, folder: Path, key: str, *, sight: Sight | None = None) -> ProductDetail:
        """Return the newest product of a key; raise NotFound."""
        ...

    async def product_lineage(
        self, folder: Path, product_id: ProductId, *, picture: bool = False, sight: Sight | None = None
    ) -> ProductLineage:
        """Return where a product came from and what came of it; raise NotFound, also where that was pruned."""
        ...

    async def rebuild_products(self) -> int:
        """Make the table of products again from the ledger; return how many there are."""
        ...
