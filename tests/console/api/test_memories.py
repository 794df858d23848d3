"""Memories over HTTP: written, found, corrected and forgotten, each by whoever may."""

from __future__ import annotations

from typing import Any

import pytest

from contracts import HolderKind, MemoryHolder
from memory.records.book import MemoryBook
from runtime.clock import SystemClock
from runtime.ledger.store import SqlStore
from runtime.settings import MemorySettings
from tests.console.api.conftest import Served
from tests.fakes.memories import a_draft

pytestmark = pytest.mark.anyio
SNOW = {"text": "Newark closes its short runway in snow."}


async def written(served: Served, person: str, **body: Any) -> str:
    async with served.client(await served.token(person)) as client:
        answer = await client.post("/memories", json={**SNOW, **body})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["memory"]["record"]["memory_id"]).partition("/")[2]


async def test_what_a_person_writes_is_found_with_the_reason_and_counts_as_read(served: Served) -> None:
    ulid = await written(served, "planner")
    async with served.client(await served.token("planner")) as client:
        found = (await client.get("/memories/search", params={"q": "runway in snow"})).json()
        shown = (await client.get(f"/memories/{ulid}")).json()
    [hit] = found["hits"]
    assert hit["memory"]["record"]["text"] == SNOW["text"]
    assert set(hit["terms"]) == {"runway", "snow"}
    assert [each["event"] for each in shown["history"]] == ["memory.written", "memory.read"]


async def test_nobody_sees_what_is_remembered_of_another(served: Served) -> None:
    ulid = await written(served, "planner")
    for person in ("clerk", "guest"):
        async with served.client(await served.token(person)) as client:
            listed = (await client.get("/memories")).json()["memories"]
            searched = (await client.get("/memories/search", params={"q": "runway"})).json()["hits"]
            answers = [
                await client.get(f"/memories/{ulid}"),
                await client.patch(f"/memories/{ulid}", json={"text": "x", "version": 1}),
                await client.post(f"/memories/{ulid}/erase", json={"reason": "x"}),
            ]
        assert (listed, searched) == ([], [])
        assert [(each.status_code, each.json()["code"]) for each in answers] == [(404, "NOT_FOUND")] * 3


async def test_the_business_is_read_by_all_and_changed_by_whoever_operates_it(served: Served) -> None:
    ulid = await written(served, "planner", whose="business")
    async with served.client(await served.token("clerk")) as client:
        seen = await client.get(f"/memories/{ulid}")
        refused = await client.post(f"/memories/{ulid}/withdraw", json={})
        wrote = await client.post("/memories", json={**SNOW, "whose": "business"})
    assert (seen.status_code, refused.status_code, wrote.status_code) == (200, 403, 403)
    async with served.client(await served.token("planner")) as client:
        withdrawn = await client.post(f"/memories/{ulid}/withdraw", json={"reason": "old"})
        again = await client.post(f"/memories/{ulid}/withdraw", json={})
    assert withdrawn.json()["record"]["state"] == "withdrawn"
    assert (again.status_code, again.json()["code"]) == (409, "MEMORY_PAST")


async def test_a_correction_of_an_older_version_is_refused(served: Served) -> None:
    ulid = await written(served, "planner")
    async with served.client(await served.token("planner")) as client:
        first = await client.patch(f"/memories/{ulid}", json={"text": "It closes both.", "version": 1})
        second = await client.patch(f"/memories/{ulid}", json={"text": "It closes none.", "version": 1})
        undone = await client.post(f"/memories/{ulid}/undo", json={})
    assert (first.status_code, first.json()["record"]["version"]) == (200, 2)
    assert (second.status_code, second.json()["code"]) == (409, "VERSION_CONFLICT")
    assert undone.json()["record"]["text"] == SNOW["text"]


async def test_lists_come_page_by_page(served: Served) -> None:
    assert isinstance(served.store, SqlStore)
    book = MemoryBook(served.store, "desk", clock=SystemClock(), settings=MemorySettings())
    business = MemoryHolder(kind=HolderKind.BUSINESS, name="desk")
    made = await book.add_many([a_draft(f"Fact {n}.", holder=business) for n in range(5)], by="planner")
    found, after = list[str](), None
    async with served.client(await served.token("clerk")) as client:
        while True:
            query = {"limit": 2, **({"after": after} if after else {})}
            page = (await client.get("/memories", params=query)).json()
            found += [each["record"]["memory_id"] for each in page["memories"]]
            after = page.get("next")
            if after is None:
                break
    assert found == sorted(str(record.memory_id) for record in made)


async def test_the_words_of_an_erased_one_are_gone_and_why_has_to_be_said(served: Served) -> None:
    ulid = await written(served, "planner")
    async with served.client(await served.token("planner")) as client:
        silent = await client.post(f"/memories/{ulid}/erase", json={})
        erased = await client.post(f"/memories/{ulid}/erase", json={"reason": "asked for"})
        shown = await client.get(f"/memories/{ulid}")
    assert (silent.status_code, erased.status_code, erased.json()) == (422, 200, None)
    assert shown.status_code == 404
    assert "runway" not in repr([event.data for event in await served.store.ledger.read(f"memory/{ulid}")])


async def test_a_day_has_one_cycle(served: Served) -> None:
    await written(served, "planner")
    async with served.client(await served.token("planner")) as client:
        held = [(await client.post("/memories/cycle", json={})).json()["held"] for _ in range(2)]
    assert held == [True, False]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"text": ""}, "INVALID_REQUEST"),
        ({"text": " \n"}, "INVALID_ARGUMENTS"),
        ({**SNOW, "whose": "nobody-here"}, "INVALID_ARGUMENTS"),
        ({**SNOW, "importance": 7}, "INVALID_REQUEST"),
        ({**SNOW, "mood": "good"}, "INVALID_REQUEST"),
    ],
)
async def test_what_cannot_be_remembered_so_is_refused(served: Served, body: dict[str, Any], code: str) -> None:
    async with served.client(await served.token("planner")) as client:
        answer = await client.post("/memories", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, code)


async def test_what_a_conversation_begins_with_holds_nothing_of_anybody_else(served: Served) -> None:
    await written(served, "planner")
    async with served.client(await served.token("planner")) as client:
        told = (await client.post("/memories/consolidation", json={})).json()["shelves"]
        pages = (await client.get("/memories/auto")).json()["pages"]
    assert [(each["holder"]["name"], each["outcome"], each["requests"]) for each in told] == [("planner", "told", 0)]
    assert [page["text"] for page in pages] == [f"## Environment\n- {SNOW['text']}"]
    async with served.client(await served.token("clerk")) as client:
        assert (await client.post("/memories/consolidation", json={})).json()["shelves"] == []
        assert (await client.get("/memories/auto")).json()["pages"] == []


async def test_a_profile_is_ones_own(served: Served) -> None:
    async with served.client(await served.token("planner")) as client:
        told = (await client.put("/me/profile", json={"trait": "format", "value": "table"})).json()
        assert (told["person"], told["guidance"]) == ("planner", "Put figures into a table.")
        assert (await client.put("/me/profile", json={"trait": "topic", "value": "CFO"})).status_code == 422
    async with served.client(await served.token("clerk")) as client:
        assert (await client.get("/me/profile")).json()["traits"] == []
        refused = await client.post("/people/planner/erasure", json={"sure": True, "reason": "x"})
        assert refused.status_code == 403
    async with served.client(await served.token("planner")) as client:
        looked = (await client.post("/people/planner/erasure", json={})).json()
        assert (looked["done"], looked["profile"]) == (False, 1)
        done = (await client.post("/people/planner/erasure", json={"sure": True, "reason": "asked for"})).json()
        assert done["done"] and (await client.get("/me/profile")).json()["traits"] == []
