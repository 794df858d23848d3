"""Events over HTTP: none missed, none twice, the end always told, and no reader in anybody's way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from console.api import end_streams
from console.api.readers import ReaderOfAll
from contracts import ExecutionId, TokenId
from runtime.ledger.port import Append, NewEvent
from tests.console.api.conftest import Served, serve

pytestmark = pytest.mark.anyio


@dataclass
class Told:
    """One server-sent event, as an EventSource would see it."""

    name: str
    id: int | None
    data: Any


async def told(lines: AsyncIterator[str]) -> AsyncIterator[Told]:
    """Read server-sent events; what bears an id and no data is told too, as `""`."""
    name, last, data = "message", None, None
    async for line in lines:
        key, _, value = line.partition(": ")
        match key:
            case "event":
                name = value
            case "id":
                last = int(value)
            case "data":
                data = json.loads(value)
            case "" if last is not None or data is not None:
                yield Told(name if data is not None else "", last, data)
                name, last, data = "message", None, None


@asynccontextmanager
async def following(
    served: Served, path: str, *, token: str | None = None, last: int | None = None
) -> AsyncIterator[AsyncIterator[Told]]:
    """Open a stream of events."""
    more = {} if last is None else {"last_event_id": str(last)}
    async with asyncio.timeout(30), served.client(token, **more) as client, client.stream("GET", path) as response:
        assert response.status_code == 200, await response.aread()
        assert response.headers["content-type"].startswith("text/event-stream")
        async with aclosing(told(response.aiter_lines())) as events:
            yield events


async def positions(events: AsyncIterator[Told], count: int | None = None) -> list[int]:
    """Take the positions of messages, as many or until the stream ends."""
    taken: list[int] = []
    async for each in events:
        if each.name == "message":
            taken.append(each.id or 0)
            if len(taken) == count:
                break
    return taken


async def happen(served: Served, execution_id: ExecutionId, count: int, *, size: int = 10) -> list[int]:
    """Let another process commit events of the execution; return their positions."""
    stream = f"order/{execution_id.ulid}"
    version = len(await served.store.ledger.read(stream))
    stored: list[int] = []
    for first in range(0, count, 100):
        facts = [NewEvent("step.finished", {"n": n, "text": "x" * size}) for n in range(first, min(first + 100, count))]
        events = await served.store.ledger.append(
            Append(stream, facts, version + first, "desk", "/organisation/desk", execution_id=execution_id)
        )
        stored += [event.position for event in events]
    return stored


async def test_an_execution_is_told_from_its_start_to_its_end(served: Served) -> None:
    execution_id = await served.submit()
    async with following(served, f"/executions/{execution_id.ulid}/events") as events:
        running = asyncio.create_task(_answer_and_end(served, execution_id))
        all_told = [each async for each in events]
        await running
    stored = await served.store.ledger.read_execution(execution_id)

    messages = [each for each in all_told if each.name == "message"]
    assert [each.data for each in messages] == [event.to_json() for event in stored]
    assert [each.id for each in messages] == [event.position for event in stored]
    assert (all_told[-1].name, all_told[-1].data) == ("end", {"state": "done"})


async def _answer_and_end(served: Served, execution_id: ExecutionId) -> None:
    await served.run(execution_id)
    (question,) = await served.application.questions()
    await served.application.answer(question.question_id, "monday", by="clerk")
    await served.run(execution_id)


async def test_a_reader_that_comes_back_misses_nothing_and_gets_nothing_twice(served: Served) -> None:
    execution_id = await served.submit()
    path = f"/executions/{execution_id.ulid}/events"
    happening = asyncio.create_task(happen(served, execution_id, 300))
    seen: list[int] = []
    for take in (1, 7, 50, 120):  # the connection is lost after so many events
        async with following(served, path, last=seen[-1] if seen else None) as events:
            seen += await positions(events, take)
    await happening
    await served.application.request_cancel(execution_id, by=None)
    await served.run(execution_id)
    async with following(served, path, last=seen[-1]) as events:
        seen += await positions(events)

    assert seen == [event.position for event in await served.store.ledger.read_execution(execution_id)]


async def test_an_execution_that_has_ended_sends_a_reader_away_who_has_seen_all(served: Served) -> None:
    execution_id = await served.submit()
    await served.application.request_cancel(execution_id, by=None)
    await served.run(execution_id)
    last = (await served.store.ledger.read_execution(execution_id))[-1].position
    async with served.client(last_event_id=str(last)) as client:
        assert (await client.get(f"/executions/{execution_id.ulid}/events")).status_code == 204
    async with following(served, f"/executions/{execution_id.ulid}/events", last=last - 1) as events:
        assert [each.name async for each in events] == ["", "message", "end"]


async def test_one_that_was_taken_up_again_is_told_past_its_first_end(served: Served) -> None:
    execution_id = await served.submit()
    await _record(served, execution_id, "execution.started", {"holder": "a"})
    await _record(served, execution_id, "execution.finished", {"report": _report(execution_id, "failed")})
    await _record(served, execution_id, "execution.reopened", {"by": "planner"})
    async with following(served, f"/executions/{execution_id.ulid}/events") as events:
        assert len(await positions(events, 4)) == 4
        await _record(served, execution_id, "execution.finished", {"report": _report(execution_id, "done")})
        rest = [(each.name, each.data) async for each in events if each.name]

    assert rest[-1] == ("end", {"state": "done"})
    assert len(rest) == 2


async def test_everything_begins_now_and_holds_what_other_processes_commit(served: Served) -> None:
    execution_id = await served.submit()
    async with following(served, "/events") as events:
        opening = await anext(events)
        assert (opening.name, opening.id) == ("", await served.store.ledger.head())
        stored = await happen(served, execution_id, 5)
        assert await positions(events, 5) == stored


async def test_everything_is_told_after_a_cursor_in_the_query_or_the_header(served: Served) -> None:
    execution_id = await served.submit()
    stored = await happen(served, execution_id, 170)  # more than a page
    async with following(served, "/events?after=0") as events:
        assert await positions(events, stored[-1]) == list(range(1, stored[-1] + 1))
    async with following(served, "/events?after=0", last=stored[-2]) as events:
        assert await positions(events, 1) == stored[-1:]


async def test_only_types_that_fit_are_told(served: Served) -> None:
    execution_id = await served.submit()
    await happen(served, execution_id, 20)
    async with following(served, "/events?after=0&type=execution.*") as events:
        assert [(await anext(events)).name, (await anext(events)).data["type"]] == ["", "execution.requested"]
    async with served.client() as client:
        assert (await client.get("/events?type=Step")).status_code == 422


async def test_a_person_hears_of_the_own_organisation_only_and_of_no_tokens(served: Served) -> None:
    token = await served.token("planner")
    await served.store.ledger.append(
        Append("order/other", [NewEvent("step.finished", {})], 0, "elsewhere", "/organisation/elsewhere")
    )
    execution_id = await served.submit()
    async with following(served, "/events?after=0", token=token) as events:
        types = [(await anext(events)).data["type"] for _ in range(0)]
        async for each in events:
            if each.name == "message":
                types.append((each.data["organisation"], each.data["type"]))
                if each.data.get("execution_id") == execution_id:
                    break

    assert set(types) == {("desk", "execution.requested"), ("desk", "request.claimed")}


@pytest.mark.parametrize("cursor", ["999999", "-1", "x", str(2**63)])
async def test_a_cursor_that_this_ledger_never_gave_is_refused(served: Served, cursor: str) -> None:
    async with served.client(last_event_id=cursor) as client:
        response = await client.get("/events")

    assert response.status_code == 422
    assert response.json()["code"] == ("CURSOR_AHEAD" if cursor == "999999" else "INVALID_REQUEST")


async def test_a_cursor_older_than_what_was_pruned_gets_a_gap_then_a_snapshot(served: Served) -> None:
    execution_id = await served.submit()
    await happen(served, execution_id, 10)
    kept = await served.submit()
    await served.store.ledger.prune({execution_id: 1, f"order/{execution_id.ulid}": 10}, reason="test")
    horizon, head = await served.store.ledger.horizon(), await served.store.ledger.head()
    async with following(served, "/events", last=3) as events:
        opening, gap, snapshot = [await anext(events) for _ in range(3)]
        stored = await happen(served, kept, 3)
        after = await positions(events, 3)

    assert (opening.name, gap.name, gap.data) == ("", "gap", {"after": 3, "through": horizon, "reason": "pruned"})
    assert (snapshot.name, snapshot.id, snapshot.data["position"]) == ("snapshot", head, head)
    assert snapshot.data["executions"][0]["execution_id"] == kept
    assert execution_id not in json.dumps(snapshot.data)
    assert after == stored
    async with following(served, "/events", last=horizon) as events:
        assert {each.name async for each in _first(events, 4)} == {"", "message"}


async def test_a_reader_that_slept_while_what_came_next_was_pruned_is_told_of_the_gap(tmp_path: Path) -> None:
    async with serve(tmp_path, keep_alive_s=3_600) as served:  # silence is told to nobody
        principal = await served.application.authenticate(served.admin)
        assert principal is not None
        reader = ReaderOfAll(served.desk, principal, lambda _type: True, await served.store.ledger.head())
        with served.desk.feed.reading():
            async with aclosing(reader.chunks()) as chunks:
                opening = await anext(chunks)
                execution_id = await served.submit()
                first = await anext(chunks)  # from now on the reader sleeps
                await happen(served, execution_id, 10)
                await served.store.ledger.prune({f"order/{execution_id.ulid}": 10}, reason="test")
                rest = await anext(chunks)

    assert opening.startswith(b"retry: ")
    assert b"execution.requested" in first
    assert rest.startswith(b"event: gap")


async def _first(events: AsyncIterator[Told], count: int) -> AsyncIterator[Told]:
    for _ in range(count):
        yield await anext(events)


async def test_a_reader_whose_execution_is_pruned_meanwhile_is_told_of_the_gap(served: Served) -> None:
    execution_id = await served.submit()
    async with following(served, f"/executions/{execution_id.ulid}/events") as events:
        await positions(events, 1)
        await served.store.ledger.prune({execution_id: 1}, reason="test")
        names = [each.name async for each in events if each.name]

    assert names == ["gap", "end"]


async def test_that_an_execution_was_pruned_is_noticed_however_busy_the_ledger_is(served: Served) -> None:
    execution_id, busy = await served.submit(), await served.submit()
    async with following(served, f"/executions/{execution_id.ulid}/events") as events:
        await positions(events, 1)
        assert (await anext(events)).name == ""  # it has looked, and found that it goes on
        await served.store.ledger.prune({execution_id: 1}, reason="test")
        others = asyncio.create_task(_for_ever(served, busy))
        names = [each.name async for each in events if each.name]
        others.cancel()

    assert names == ["gap", "end"]


async def _for_ever(served: Served, execution_id: ExecutionId) -> None:
    while True:
        await happen(served, execution_id, 1)


async def test_a_silent_stream_says_that_it_lives_and_where_it_stands(served: Served) -> None:
    async with following(served, "/events") as events:
        opening, silence = await anext(events), await anext(events)

    assert (silence.name, silence.id) == ("", opening.id)


async def test_a_reader_that_sleeps_gets_everything_when_it_wakes_and_the_end(served: Served) -> None:
    execution_id = await served.submit()
    reader, writer = await asyncio.open_connection(*served.url.removeprefix("http://").split(":"), limit=4_096)
    request = (
        f"GET /api/v1/executions/{execution_id.ulid}/events HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {served.admin}\r\nConnection: close\r\n\r\n"
    )
    writer.write(request.encode())
    await writer.drain()
    stored = await happen(served, execution_id, 3_000, size=4_000)  # far more than all buffers between hold
    await served.application.request_cancel(execution_id, by=None)
    await served.run(execution_id)

    async with asyncio.timeout(60):
        whole = await reader.read(-1)
    writer.close()

    assert all(f"\nid: {position}\n".encode() in whole for position in (*stored[:3], *stored[-3:]))
    assert whole.count(b'"type":"step.finished"') == 3_000
    assert b"event: end\n" in whole
    assert whole.endswith(b"0\r\n\r\n")


async def test_the_end_is_told_at_once_and_not_with_the_next_silence(tmp_path: Path) -> None:
    async with serve(tmp_path, keep_alive_s=3_600) as served:
        execution_id = await served.submit()
        async with following(served, f"/executions/{execution_id.ulid}/events") as events:
            await positions(events, 1)
            await served.application.request_cancel(execution_id, by=None)
            await served.run(execution_id)
            assert [each.name async for each in events][-1] == "end"


async def test_the_stream_of_a_revoked_token_ends(served: Served) -> None:
    token = await served.token("planner")
    async with following(served, "/events", token=token) as events:
        await anext(events)
        await served.application.revoke_token(TokenId(f"token/{token.split('_')[1]}"))
        assert [each.name async for each in events if each.name] == ["end"]


async def test_a_server_that_stops_ends_its_streams_and_another_goes_on(served: Served) -> None:
    execution_id = await served.submit()
    seen: list[int] = []
    async with following(served, "/events?after=0") as events:
        seen += await positions(events, 3)
        await end_streams(served.api)
        seen += await positions(events)  # it ends, properly
    stored = await happen(served, execution_id, 2)

    assert seen == list(range(1, stored[0]))
    async with httpx.AsyncClient(base_url=served.url) as client:
        assert (await client.get("/readyz")).json()["code"] == "NOT_READY"
        assert (await client.get("/healthz")).status_code == 200


async def test_more_readers_than_are_served_are_told_to_come_later(tmp_path: Path) -> None:
    async with serve(tmp_path, readers=2) as served:
        async with following(served, "/events") as one, following(served, "/events") as two:
            await anext(one), await anext(two)
            async with served.client() as client:
                response = await client.get("/events")
        assert (response.status_code, response.json()["code"]) == (503, "TOO_MANY_READERS")
        assert response.headers["retry-after"] == "5"
        async with following(served, "/events") as three:
            await anext(three)


async def _record(served: Served, execution_id: ExecutionId, event_type: str, data: dict[str, Any]) -> None:
    version = len(await served.store.ledger.read(execution_id))
    await served.store.ledger.append(
        Append(
            execution_id, [NewEvent(event_type, data)], version, "desk", "/organisation/desk", execution_id=execution_id
        )
    )


def _report(execution_id: ExecutionId, state: str) -> dict[str, Any]:
    from contracts import OrderId, OrderState, StatusReport

    return StatusReport(order_id=OrderId(f"order/{execution_id.ulid}"), state=OrderState(state)).to_json()
