"""Deliveries: found by what they are about and by key, from a table that is made of the ledger."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from contracts import Artifact, DataProduct, OrderId, ProductId, TaskOrder
from memory.product_capability import ProductSearch
from memory.products.store import ProductFilter, ProductStore
from memory.products.table import ProductTable
from runtime.canonical import sha256
from runtime.capabilities.port import CallContext
from runtime.errors import NotFound
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from tests.fakes.orders import an_order

pytestmark = pytest.mark.anyio
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ORGANISATION = "three-airports"


async def delivered(
    store: SqlStore, title: str, page: str = "", *, organisation: str = ORGANISATION, skill: str = "explain",
    domains: tuple[str, ...] = (), made_at: datetime = NOW, kind: str = "report", asked: bool = True, **labels: str,
) -> DataProduct:  # fmt: skip
    order = an_order(
        organisation=organisation, skill=skill, objective=f"Tell about {title}.", knowledge_scope=domains
    )  # fmt: skip
    text = (page or f"# {title}\n").encode()
    artifact = Artifact(name="report.md", media_type="text/markdown", sha256=sha256(text), size=len(text))
    product = DataProduct(
        product_id=ProductId.new(), execution_id=order.execution_id, order_id=order.order_id, step="tell",
        kind=kind, title=title, labels=labels, made_at=made_at, artifacts=(artifact,),
    )  # fmt: skip
    await _append(store, order, "product.made", {"product": product.to_json()}, text, asked=asked)
    return product


async def _append(
    store: SqlStore, order: TaskOrder, kind: str, data: dict[str, Any], *blobs: bytes, asked: bool = True
) -> None:
    source = f"/organisation/{order.organisation}"
    requested = NewEvent("execution.requested", {"request": {"skill": order.skill, "goal": order.objective}})
    events = (NewEvent("order.accepted", {"order": order.to_json()}), NewEvent(kind, data))
    appends = [Append(order.order_id, events, 0, order.organisation, source, order.execution_id)]
    if asked:
        appends.append(Append(order.execution_id, (requested,), 0, order.organisation, source, order.execution_id))
    await store.ledger.append(*appends, blobs=blobs)


async def ids(store: ProductStore, query: str, **which: Any) -> list[str]:
    return [each.entry.product.product_id for each in await store.search(query, ProductFilter(**which), top=10)]


async def test_a_product_is_found_by_its_words_labels_intent_and_page(store: SqlStore) -> None:
    blizzard = await delivered(store, "Blizzard", "# Blizzard\nNearly all flights of Newark were cancelled.")
    fog = await delivered(store, "Fog", city="Boston", skill="look")
    shelf = ProductStore(store, ORGANISATION)
    assert (await ids(shelf, "cancelled at Newark"))[0] == blizzard.product_id
    assert (await ids(shelf, "boston"))[0] == fog.product_id
    assert await ids(shelf, "volcano") == []
    [hit] = await shelf.search("cancelled flights", top=1)
    assert hit.terms and hit.parts["words"] > 0
    assert await shelf.read(blizzard) == b"# Blizzard\nNearly all flights of Newark were cancelled."
    assert await shelf.of_execution(blizzard.execution_id) == [blizzard]


async def test_chinese_is_found_by_chinese(sqlite_store: SqlStore) -> None:
    product = await delivered(sqlite_store, "纽瓦克机场暴雪报告", "大部分航班被取消。")
    await delivered(sqlite_store, "大雾报告")
    assert (await ids(ProductStore(sqlite_store, ORGANISATION), "航班取消"))[0] == product.product_id


async def test_what_follows_each_other_has_one_key_and_the_newest_is_given(store: SqlStore) -> None:
    old = await delivered(store, "Week 1")
    new = await delivered(store, "Week 2")
    other = await delivered(store, "Week 2", skill="other")
    shelf = ProductStore(store, ORGANISATION)
    key = "report/explain/tell"
    assert (await shelf.by_key(key)).product == new
    assert [each.product for each in await shelf.versions(key)] == [old, new]
    assert set(await ids(shelf, "week", newest=True)) == {new.product_id, other.product_id}
    with pytest.raises(NotFound, match="Nothing was delivered under"):
        await shelf.by_key("report/none")


async def test_filters_leave_only_what_they_name(sqlite_store: SqlStore) -> None:
    old = await delivered(sqlite_store, "Snow in spring", made_at=datetime(2026, 3, 1, tzinfo=UTC), city="Newark")
    new = await delivered(sqlite_store, "Snow in winter", domains=("airports",))
    insight = await delivered(sqlite_store, "Snow is white", kind="insight")
    shelf = ProductStore(sqlite_store, ORGANISATION)
    assert await ids(shelf, "snow", kinds=["insight"]) == [insight.product_id]
    assert await ids(shelf, "snow", labels={"city": "Newark"}) == [old.product_id]
    assert await ids(shelf, "snow", until=datetime(2026, 4, 1, tzinfo=UTC)) == [old.product_id]
    assert old.product_id not in await ids(shelf, "snow", since=datetime(2026, 4, 1, tzinfo=UTC))
    assert new.product_id not in await ids(shelf, "snow", domains=())
    assert new.product_id in await ids(shelf, "snow", domains=("airports", "sales"))
    newest = await shelf.newest(ProductFilter(), limit=2)
    assert [each.product for each in newest] == [insight, new]
    assert await shelf.search("snow", top=9, may_see=lambda entry: False) == []


async def test_what_was_found_out_is_a_product_as_well(sqlite_store: SqlStore) -> None:
    order = an_order(skill="explain")
    finding = {
        "finding_id": "finding/01JB0000000000000000000FND", "execution_id": order.execution_id,
        "order_id": order.order_id, "verdict": "weather", "statement": "Snow was the cause.", "confidence": "high",
    }  # fmt: skip
    await _append(sqlite_store, order, "finding.made", {"finding": finding})
    shelf = ProductStore(sqlite_store, ORGANISATION)
    [hit] = await shelf.search("snow", top=5)
    product = hit.entry.product
    assert (product.kind, product.title, product.labels["verdict"]) == ("insight", "Snow was the cause.", "weather")
    assert product.product_id == "product/01JB0000000000000000000FND"


async def test_another_organisation_sees_none_of_them(sqlite_store: SqlStore) -> None:
    product = await delivered(sqlite_store, "Blizzard")
    shelf = ProductStore(sqlite_store, "harbour")
    assert await ids(shelf, "blizzard") == [] and await shelf.of_execution(product.execution_id) == []
    with pytest.raises(NotFound):
        await shelf.get(product.product_id)


async def test_a_file_that_a_product_does_not_have_is_answered_with_those_it_has(sqlite_store: SqlStore) -> None:
    product = await delivered(sqlite_store, "Blizzard")
    with pytest.raises(NotFound, match=r"it has: report\.md"):
        await ProductStore(sqlite_store, ORGANISATION).read(product, "chart.svg")


async def test_the_table_makes_itself_again_and_what_was_pruned_is_gone(store: SqlStore) -> None:
    gone, stays = await delivered(store, "Snow gone"), await delivered(store, "Snow stays")
    shelf = ProductStore(store, ORGANISATION)
    assert len(await ids(shelf, "snow")) == 2
    assert await ProductTable(store).rebuild() == 2
    await store.ledger.prune({gone.order_id: 2}, reason="old")
    assert await ids(shelf, "snow") == [stays.product_id]
    assert await ids(ProductStore(store, ORGANISATION), "snow") == [stays.product_id]
    await store.ledger.prune({stays.order_id: 2}, reason="old")
    assert await ids(shelf, "snow") == []


async def test_what_nobody_can_read_hides_nothing_else(sqlite_store: SqlStore) -> None:
    order = an_order()
    await _append(sqlite_store, order, "product.made", {"product": {"product_id": "nonsense"}})
    lost = Append(OrderId.new(), (NewEvent("product.made", {"product": {}}),), 0, ORGANISATION, "/test")
    await sqlite_store.ledger.append(lost)
    product = await delivered(sqlite_store, "Snow")
    assert await ids(ProductStore(sqlite_store, ORGANISATION), "snow") == [product.product_id]


async def test_finding_among_hundreds_reads_the_ledger_once(
    sqlite_store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(300):
        await delivered(sqlite_store, f"Report {number}")
    shelf = ProductStore(sqlite_store, ORGANISATION)
    await ids(shelf, "report 7")
    read: list[str] = []
    for name in ("read", "read_all", "read_versions", "read_execution"):
        really = getattr(type(sqlite_store.ledger), name)

        async def counting(self: Any, *args: Any, _really: Any = really, _name: str = name, **more: Any) -> Any:
            read.append(_name)
            return await _really(self, *args, **more)

        monkeypatch.setattr(type(sqlite_store.ledger), name, counting)
    for number in range(50):
        await ids(shelf, f"report {number}")
    assert read == []


async def test_an_employee_finds_what_its_order_may_know(sqlite_store: SqlStore) -> None:
    await delivered(sqlite_store, "Snow of sales", domains=("sales",))
    known = await delivered(sqlite_store, "Snow of airports", domains=("airports",))
    search = ProductSearch(lambda: ProductStore(sqlite_store, ORGANISATION))
    context = CallContext(an_order(knowledge_scope=("airports",)), "do", "key", 1, datetime(2027, 1, 1, tzinfo=UTC))
    output = (await search.call({"query": "snow", "newest": False}, context)).output
    assert [each["id"] for each in output["products"]] == [known.product_id]
    assert output["products"][0]["files"][0]["name"] == "report.md"
