"""`product_search`: an employee finds what the organisation has delivered before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from contracts import Json
from memory.memory_specs import PRODUCTS
from runtime.canonical import clean
from runtime.capabilities.port import CallContext, CallResult

if TYPE_CHECKING:
    from memory.products.store import ProductFound, ProductStore

_TOP = 5
_EXCERPT = 400


class ProductSearch:
    """Finds reports, decisions and insights of which the order may know: those of its domains and of none."""

    spec = PRODUCTS

    def __init__(self, store: Callable[[], ProductStore]) -> None:
        self._store = store

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Return the few that fit best, with what they say in short and where the whole can be read."""
        from memory.products.store import ProductFilter  # it imports SQLAlchemy

        kinds, since = arguments.get("kinds"), arguments.get("since")
        which = ProductFilter(
            kinds=[str(each) for each in kinds] if isinstance(kinds, list) else (),
            since=None if since is None else datetime.fromisoformat(str(since)), until=context.known_at,
            domains=context.order.knowledge_scope, newest=bool(arguments.get("newest", True)),
        )  # fmt: skip
        found = await self._store().search(str(arguments["query"]), which, top=_TOP)
        return CallResult({"products": [_told(each) for each in found], "found": len(found)})


def _told(found: ProductFound) -> Json:
    entry, product = found.entry, found.entry.product
    return clean(
        {
            "id": product.product_id, "kind": product.kind, "title": product.title, "key": entry.key,
            "labels": product.labels, "made_at": product.made_at, "says": entry.text[:_EXCERPT],
            "score": round(found.score, 3), "words": list(found.terms),
            "files": [artifact.model_dump(include={"name", "sha256", "size"}) for artifact in product.artifacts],
        }
    )  # fmt: skip
