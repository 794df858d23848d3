"""`knowledge_open`: titles first, few texts, counted over crashes and side by side, and nothing of other domains."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from contracts import Ancestor, OrderId, TaskOrder
from memory.knowledge.reading import OPENED
from memory.knowledge.told import ToldReading, ToldResident
from memory.knowledge.tree import KnowledgeTree, read_tree
from memory.knowledge_capability import KnowledgeOpen
from runtime.capabilities.port import CallContext
from runtime.context.blocks import About
from runtime.errors import InvalidArguments
from runtime.ledger.store import SqlStore
from runtime.settings import MemorySettings
from tests.agents.employee.staff import order as an_order
from tests.fakes.clock import HandClock
from tests.stores import clock, sqlite_store

__all__ = ["clock", "sqlite_store"]
pytestmark = pytest.mark.anyio
FIELDS = "---\ntitle: {0}\nupdated: 2026-11-0{1}\nverified: 2000-01-01\nconfidence: 0.8\n---\n\n{2}\n"


def a_tree() -> KnowledgeTree:
    texts = {"knowledge/RESIDENT.md": "- Say the day.\n- [Sales](sales/INDEX.md) — a sale\n"}
    for domain in ("airports", "carriers", "sales"):
        lines = [f"- [{domain} snow {n}](snow-{n}.md) — snow at gate {n}" for n in range(5)]
        texts[f"knowledge/{domain}/INDEX.md"] = "\n".join(lines)
        texts |= {
            f"knowledge/{domain}/snow-{n}.md": FIELDS.format(f"Snow {n}", 1, f"The {domain} word is {domain}{n}.")
            for n in range(5)
        }
    texts["knowledge/INDEX.md"] = "- [Winter](winter.md) — snow anywhere"
    texts["knowledge/winter.md"] = FIELDS.format("Winter", 1, "It is cold.")
    log = [f"- [Storm {n}](storm-{n}.md) — storm {n}" for n in range(5)]
    texts["knowledge/airports/LOG.md"] = "\n".join(log)
    texts |= {f"knowledge/airports/storm-{n}.md": FIELDS.format(f"Storm {n}", n + 1, f"S{n}.") for n in range(5)}
    tree, faults = read_tree(texts)
    assert faults == []
    return tree


TREE = a_tree()


class Reader:
    """An order that reads."""

    def __init__(self, store: SqlStore, clock: HandClock, *domains: str, above: TaskOrder | None = None) -> None:
        self.open = KnowledgeOpen(TREE, store.ledger, MemorySettings(), lambda: None)
        chain = () if above is None else (*above.chain, Ancestor(order_id=above.order_id, employee="head"))
        self.order = an_order().model_copy(
            update={"order_id": OrderId.new(), "knowledge_scope": domains, "chain": chain}
        )  # fmt: skip
        self._store, self._clock, self._calls = store, clock, 0

    async def __call__(self, key: str = "", **arguments: Any) -> dict[str, Any]:
        self._calls += 1
        context = CallContext(self.order, "think", key or f"call-{self._calls}", 1, self._clock.now())
        return dict((await self.open.call(arguments, context)).output)


@pytest.fixture
def reader(sqlite_store: SqlStore, clock: HandClock) -> Reader:
    return Reader(sqlite_store, clock, "airports")


def paths(titles: list[dict[str, Any]]) -> list[str]:
    return [each["path"] for each in titles]


def snow(*numbers: int, domain: str = "airports") -> list[str]:
    return [f"knowledge/{domain}/snow-{n}.md" for n in numbers]


async def test_titles_come_first_and_then_the_texts_of_the_strongest(reader: Reader) -> None:
    told = await reader(query="snow at gate 3")
    assert told["titles"][0] == {
        "path": snow(3)[0], "title": "airports snow 3", "when": "snow at gate 3",
        "strength": told["titles"][0]["strength"],
    }  # fmt: skip
    assert told["bodies"] == [] and told["left"]["texts"] == 3
    opened = await reader(open=snow(1, 3))
    assert paths(opened["bodies"]) == snow(3, 1), "the strongest first"
    body = opened["bodies"][0]
    assert (body["text"], body["stale"], body["verified"]) == ("The airports word is airports3.", True, "2000-01-01")
    assert opened["left"]["texts"] == 1


async def test_a_text_that_no_title_led_to_is_not_opened(reader: Reader) -> None:
    for wanted in (snow(0), ["../../etc/passwd"], ["knowledge/airports/INDEX.md"], snow(0, domain="sales")):
        with pytest.raises(InvalidArguments, match="No title led to"):
            await reader(open=wanted)


async def test_a_fourth_text_needs_a_reason_and_that_is_recorded(reader: Reader, sqlite_store: SqlStore) -> None:
    await reader(query="snow")
    await reader(open=snow(0, 1, 2))
    with pytest.raises(InvalidArguments, match="opened 3 of 3 texts"):
        await reader(open=snow(3))
    assert paths((await reader(open=snow(0)))["bodies"]) == snow(0), "one that is open already costs nothing"
    await reader(open=snow(3), reason="The first three contradict each other.")
    events = [each for each in await sqlite_store.ledger.read_all() if each.type == OPENED]
    assert [(each.data or {}).get("reason") for each in events] == [
        None,
        None,
        "The first three contradict each other.",
    ]
    assert events[-1].execution_id == reader.order.execution_id


async def test_no_more_than_two_indexes_are_read_and_the_others_are_named(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    reader = Reader(sqlite_store, clock, "airports", "carriers", "sales")
    told = await reader(query="snow at gate 1 in airports and carriers")
    assert {path.split("/")[1] for path in paths(told["titles"])} == {"airports", "carriers"}
    assert told["left"] == {"indexes": 0, "texts": 3, "indexes_left_out": ["", "sales"]}
    again = await reader(query="sales snow")
    assert {path.split("/")[1] for path in paths(again["titles"])} == {"airports", "carriers"}


async def test_nothing_of_a_domain_that_the_order_has_not_is_found_in_ten_thousand_questions(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    reader = Reader(sqlite_store, clock, "sales")
    finder = reader.open._finder
    for n in range(10_000):
        found = await finder.find(f"{('airports', 'carriers', 'sales')[n % 3]} snow at gate {n % 7}", ["", "sales"])
        assert {each.domain for each in found} <= {"", "sales"}
    told = await reader(query="airports word snow")
    assert "airports" not in str(told["titles"])


async def test_the_budget_holds_over_a_crash_and_for_calls_side_by_side(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    reader = Reader(sqlite_store, clock, "airports")
    await reader(query="snow")
    first = await reader("same", open=snow(0))
    resumed = Reader(sqlite_store, clock, "airports")
    resumed.order = reader.order
    assert await resumed("same", open=snow(0)) == first, "the same call again is the same"
    done = await asyncio.gather(*(resumed(f"k{n}", open=snow(n)) for n in range(1, 5)), return_exceptions=True)
    assert sum(isinstance(each, InvalidArguments) for each in done) == 2
    assert sum(isinstance(each, dict) for each in done) == 2


async def test_going_on_after_an_interruption_gives_three_titles_of_the_log_and_one_text(reader: Reader) -> None:
    told = await reader(resume=True)
    assert [each["title"] for each in told["titles"]] == ["Storm 4", "Storm 3", "Storm 2"]
    assert [each["text"] for each in told["bodies"]] == ["S4."]


async def test_what_was_opened_is_inherited_by_orders_below_and_told_to_later_steps(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    above = Reader(sqlite_store, clock, "airports")
    await above(query="snow")
    await above(open=snow(0, 1, 2))
    below = Reader(sqlite_store, clock, "airports", above=above.order)
    told = await below(query="storm and snow")
    assert paths(told["inherited"]) == snow(0, 1, 2) and told["left"]["texts"] == 3
    assert paths((await below(open=snow(0)))["bodies"]) == snow(0)
    assert (await below(open=snow(3, 4)))["left"]["texts"] == 1

    block = ToldReading(TREE, sqlite_store.ledger)
    [part] = await block.parts(About(below.order, "think", "Think.", ()))
    assert all(path in part.text for path in snow(0, 1, 2, 3, 4))
    assert await block.parts(About(Reader(sqlite_store, clock).order, "think", "Think.", ())) == ()
    elsewhere = Reader(sqlite_store, clock, "sales", above=above.order)
    assert await block.parts(About(elsewhere.order, "think", "Think.", ())) == ()
    assert (await elsewhere(query="snow"))["inherited"] == []


async def test_the_resident_layer_stands_in_every_prompt_and_cannot_be_left_out(reader: Reader) -> None:
    [part] = await ToldResident(TREE).parts(About(reader.order, "think", "Think.", ()))
    assert part.pinned and "- Say the day." in part.text and "Sales" not in part.text


@pytest.mark.parametrize("arguments", [{}, {"query": "x", "open": ["y"]}, {"query": "  "}, {"open": []}])
async def test_one_thing_is_asked_at_a_time(reader: Reader, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidArguments, match="Give one of"):
        await reader(**arguments)
