"""`http.get` and `http.send` on the engine's road: gated, sent once, odd and large answers stored (A6, D16, X8)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from contracts import OrderState
from runtime.capabilities.connections import read_connection
from runtime.capabilities.secrets import Secrets
from runtime.capabilities.web.capability import Web, web_capabilities
from runtime.ledger.store import SqlStore
from runtime.settings import HttpSettings
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.http_service import Answer, Asked, HttpService
from tests.fakes.model import PlayedModel, calls, done

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def serving(
    store: SqlStore, clock: HandClock, answer: Callable[[Asked], Answer]
) -> AsyncIterator[tuple[World, HttpService]]:
    """Give a world that reaches one server, and the server."""
    server = HttpService(answer)
    declared = {"kind": "hosts", "hosts": [f"127.0.0.1:{server.server_port}"], "allow_private": True}
    web = Web({"here": read_connection(declared)}, HttpSettings(timeout_s=10), Secrets({}, Path("/nowhere")))
    try:
        yield World(store, clock, *(cast(Tool, each) for each in web_capabilities(web))), server
    finally:
        await web.close()
        server.stop()


def send(server: HttpService, **more: Any) -> dict[str, Any]:
    return {"id": "do", "use": "http.send", "with": {"url": f"{server.address}/in", "body": {"n": 1}, **more}}


def ok(asked: Asked) -> Answer:
    return Answer(value={"ok": True})


async def test_nothing_is_sent_before_somebody_said_yes_nor_after_a_no(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    async with serving(sqlite_store, clock, ok) as (world, server):
        world.gate.ask = True
        order = world.order(send(server))
        assert ((await world.run(order)).state, server.asked) == (OrderState.WAITING, [])
        (card,) = world.gate.cards
        world.gate.decide(card, False)

        denied = await world.run(order)
        assert (denied.state, server.asked) == (OrderState.FAILED, [])


async def test_a_model_s_call_passes_the_same_gate(sqlite_store: SqlStore, clock: HandClock) -> None:
    async with serving(sqlite_store, clock, ok) as (world, server):
        world.gate.ask = True
        world.model = PlayedModel(calls(("http.send", {"url": server.address, "body": 1})), done(n=1))
        step = {"id": "think", "react": "Send.", "tools": ["http.get", "http.send"], "gives": {"n": "integer"}}
        order = world.order(step)
        assert ((await world.run(order)).state, server.asked) == (OrderState.WAITING, [])
        (card,) = world.gate.cards
        world.gate.decide(card, True)

        assert (await world.run(order)).state is OrderState.DONE
        assert [asked.method for asked in server.asked] == ["POST"]


async def test_an_answer_that_is_lost_leaves_it_to_a_person_and_nothing_is_sent_again(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    async with serving(sqlite_store, clock, lambda asked: Answer(hang_up=True)) as (world, server):
        order = world.order(send(server))
        report = await world.run(order)
        assert (report.state, report.waiting_for) == (OrderState.WAITING, tuple(world.gate.doubts))
        (card,) = world.gate.doubts
        world.gate.decide(card, True)

        assert (await world.run(order)).output == {"confirmed_by_person": True}
        assert len(server.asked) == 1


ODD = b'{"a": "x\\u0000\\ud800y", "n": 9223372036854775808, "f": NaN, "deep": [[{"\\u0000": 1}]]}'


async def test_odd_json_is_stored_by_every_store_and_handed_on(store: SqlStore, clock: HandClock) -> None:
    async with serving(store, clock, lambda asked: Answer(raw=ODD)) as (world, server):
        world.tools["echo"] = Tool("echo", lambda a, c: dict(a))
        read = {"id": "read", "use": "http.get", "with": {"url": server.address}}
        order = world.order(read, {"id": "echo", "use": "echo", "with": {"v": "{{ read.json }}"}})
        report = await world.run(order)

        kept = {"a": "x␀\ufffdy", "n": 2**63, "f": None, "deep": [[{"␀": 1}]]}
        assert (report.state, report.output) == (OrderState.DONE, {"v": kept})
        assert await world.run(order) == report


async def test_two_megabytes_are_kept_apart_and_a_picture_is_an_artifact(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    def answer(asked: Asked) -> Answer:
        if asked.path == "/plan.png":
            return Answer(raw=b"\x89PNG\r\n\0", media_type="image/png")
        return Answer(raw=b"x" * 2_000_000, media_type="text/plain")

    async with serving(sqlite_store, clock, answer) as (world, server):
        get = [
            {"id": name, "use": "http.get", "with": {"url": f"{server.address}/{path}"}}
            for name, path in (("long", "long"), ("plan", "plan.png"))
        ]
        order = world.order(*get)
        report = await world.run(order)

        events = await sqlite_store.ledger.read(str(order.order_id))
        assert report.state is OrderState.DONE
        assert max(len(event.model_dump_json()) for event in events) < 5_000
        (artifact,) = report.artifacts
        assert await sqlite_store.blobs.get(artifact.sha256) == b"\x89PNG\r\n\0"
