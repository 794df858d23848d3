import pytest

from contracts import Artifact, DataProduct, ExecutionId, OrderId, ProductId
from memory.products import ProductShelf
from runtime.canonical import sha256
from runtime.errors import NotFound
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from tests.governance.cards import NOW

pytestmark = pytest.mark.anyio


async def delivered(store: SqlStore, title: str, organisation: str = "airports", **fields: str) -> DataProduct:
    text = f"# {title}\n".encode()
    product = DataProduct(
        product_id=ProductId.new(), execution_id=ExecutionId.new(), order_id=OrderId.new(), step="tell",
        kind=fields.pop("kind", "report"), title=title, labels=fields, made_at=NOW,
        artifacts=(Artifact(name="report.md", media_type="text/markdown", sha256=sha256(text), size=len(text)),),
    )  # fmt: skip
    made = NewEvent("product.made", {"product": product.to_json()})
    append = Append(product.order_id, (made,), 0, organisation, f"/organisation/{organisation}", product.execution_id)
    await store.ledger.append(append, blobs=(text,))
    return product


async def test_a_product_is_found_by_its_execution_and_read(sqlite_store: SqlStore) -> None:
    product = await delivered(sqlite_store, "Blizzard")
    await delivered(sqlite_store, "Fog")
    shelf = ProductShelf(sqlite_store, "airports")
    assert await shelf.of_execution(product.execution_id) == [product]
    assert await shelf.read(product) == await shelf.read(product, "report.md") == b"# Blizzard\n"
    assert await shelf.get(product.product_id) == product


async def test_products_are_found_by_words_labels_and_kind_newest_first(sqlite_store: SqlStore) -> None:
    old = await delivered(sqlite_store, "Blizzard at EWR", skill="explain")
    new = await delivered(sqlite_store, "blizzard again", skill="explain")
    await delivered(sqlite_store, "Blizzard in pictures", kind="insight", skill="draw")
    shelf = ProductShelf(sqlite_store, "airports")
    assert await shelf.find(words=["BLIZZARD"], labels={"skill": "explain"}) == [new, old]
    assert await shelf.find(kind="insight", words=["ewr"]) == []


async def test_another_organisation_sees_none_of_them(sqlite_store: SqlStore) -> None:
    product = await delivered(sqlite_store, "Blizzard")
    shelf = ProductShelf(sqlite_store, "harbour")
    assert await shelf.of_execution(product.execution_id) == []
    with pytest.raises(NotFound):
        await shelf.get(product.product_id)


async def test_a_file_that_a_product_does_not_have_is_answered_with_those_it_has(sqlite_store: SqlStore) -> None:
    product = await delivered(sqlite_store, "Blizzard")
    with pytest.raises(NotFound, match=r"it has: report\.md"):
        await ProductShelf(sqlite_store, "airports").read(product, "chart.svg")
