"""`memory_search` and `memory_write`: what an order may read and write follows from the order."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from contracts import HolderKind, Json, MemoryHolder, TaskOrder
from memory.memory_capabilities import MemorySearch, MemoryWrite
from memory.recall.recall import MemoryRecall
from memory.records.book import MemoryBook
from memory.records.port import MemoryFilter
from memory.writing.writer import MemoryWriter
from runtime.capabilities.port import CallContext, CallResult
from runtime.errors import InvalidArguments, PermissionRefused
from runtime.ledger.store import SqlStore
from runtime.settings import MemorySettings
from tests.fakes.clock import HandClock
from tests.fakes.memories import ANALYST, ANN, BUSINESS, ORGANISATION, a_draft
from tests.fakes.orders import an_order

pytestmark = pytest.mark.anyio


class Desk:
    """Both capabilities over one book."""

    def __init__(self, store: SqlStore, clock: HandClock) -> None:
        settings = MemorySettings()
        self.clock = clock
        self.book = MemoryBook(store, ORGANISATION, clock=clock, settings=settings)
        recall, writer = MemoryRecall(self.book, settings), MemoryWriter(self.book, clock, settings)
        self._search = MemorySearch(lambda: recall, lambda: self.book)
        self._write = MemoryWrite(lambda: writer, lambda: recall, lambda name: name == "head")

    async def search(self, order: TaskOrder, query: str, **more: Json) -> list[Any]:
        found = await self._search.call({"query": query, **more}, self._context(order))
        assert isinstance(found, CallResult)
        return list(found.output["memories"])

    async def write(self, order: TaskOrder, text: str, key: str = "one", **more: Json) -> dict[str, Any]:
        written = await self._write.call({"text": text, **more}, self._context(order, key))
        return dict(written.output)

    def _context(self, order: TaskOrder, key: str = "one") -> CallContext:
        return CallContext(order, "do", key, 1, self.clock.now())


@pytest.fixture
def desk(sqlite_store: SqlStore, clock: HandClock) -> Desk:
    return Desk(sqlite_store, clock)


def order_of(employee: str = "analyst", *domains: str) -> TaskOrder:
    return an_order(employee=employee, knowledge_scope=domains)


async def test_an_employee_finds_its_own_and_the_businesss_of_its_domains_and_nothing_else(desk: Desk) -> None:
    head = MemoryHolder(kind=HolderKind.AGENT, name="head")
    for holder in (ANALYST, BUSINESS, ANN, head):
        for domain in (None, "sales", "purchasing"):
            text = f"The limit of {holder.name} {domain} is 10."
            await desk.book.add(a_draft(text, holder=holder, domain=domain), by="ann")
    found = await desk.search(order_of("analyst", "sales"), "the limit of")
    assert {(each["whose"], each["domain"]) for each in found} == {
        ("agent", None), ("agent", "sales"), ("business", None), ("business", "sales"),
    }  # fmt: skip
    assert all("head" not in each["text"] for each in found)


async def test_what_is_given_counts_as_read_and_says_why(desk: Desk) -> None:
    record = await desk.book.add(a_draft("Snow closes the runway.", importance=0.5), by="ann")
    desk.clock.advance(86_400)
    [found] = await desk.search(order_of(), "runway snow", until=desk.clock.now().isoformat())
    assert (found["id"], set(found["words"])) == (record.memory_id, {"snow", "runway"})
    assert (await desk.book.get(record.memory_id)).accessed_at == desk.clock.now()
    later = (desk.clock.now() + timedelta(days=1)).isoformat()
    assert await desk.search(order_of(), "runway snow", since=later) == []


async def test_what_is_written_has_its_source_and_is_written_once_per_call(desk: Desk) -> None:
    order = order_of("analyst", "sales")
    written = await desk.write(order, "Oak pays late.", domain="sales", **{"class": "fact"})
    again = await desk.write(order, "Oak pays late.", domain="sales", **{"class": "fact"})
    assert (written["became"], again["became"], again["id"]) == ("written", "there", written["id"])
    [record] = await desk.book.find(MemoryFilter(holders=[ANALYST], domains=["sales"]))
    assert (record.source.order_id, record.source.execution_id) == (order.order_id, order.execution_id)
    assert record.written_by == "employee/analyst"


async def test_what_the_business_knows_is_not_written_again_in_other_words(desk: Desk) -> None:
    await desk.book.add(a_draft("Newark closes its short runway in heavy snow."), by="ann")
    written = await desk.write(order_of(), "As is known, Newark closes its short runway in heavy snow.")
    assert (written["became"], written["id"]) == ("shown_before", None)


async def test_only_who_manages_others_writes_for_the_business(desk: Desk) -> None:
    with pytest.raises(PermissionRefused, match="manages nobody"):
        await desk.write(order_of("analyst"), "Oak pays late.", whose="business")
    assert (await desk.write(order_of("head"), "Oak pays late.", whose="business"))["became"] == "written"
    assert [record.holder for record in await desk.book.find(MemoryFilter())] == [BUSINESS]


async def test_a_domain_that_the_order_has_not_is_refused(desk: Desk) -> None:
    with pytest.raises(InvalidArguments, match="it has: sales"):
        await desk.write(order_of("analyst", "sales"), "Oak pays late.", domain="purchasing")
    with pytest.raises(InvalidArguments, match="from 0 to 1"):
        await desk.write(order_of(), "Oak pays late.", confidence=7)
    assert await desk.book.find(MemoryFilter(every_domain=True)) == []
