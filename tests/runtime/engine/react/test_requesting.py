"""The time of a request is its own: waiting for its turn is not, is seen, and ends with the order."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from contracts import Limit, OrderState
from runtime.engine.react import signs
from runtime.ledger.port import Fragment
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import done
from tests.fakes.openai_server.fixture import openai_server
from tests.fakes.openai_server.script import held
from tests.fakes.openai_server.server import MODEL, OpenAIServer
from tests.runtime.engine.react.over_http import asking

__all__ = ["openai_server"]
pytestmark = pytest.mark.anyio
THINK: dict[str, Any] = {"id": "think", "react": "How many?", "gives": {"n": "integer"}}


class FullHouse:
    """A limiter that has no room before the test says so."""

    def __init__(self) -> None:
        self.room, self.came = asyncio.Event(), asyncio.Event()
        self.waited_s = 0.0

    async def acquire(self) -> str:
        self.came.set()
        began = time.perf_counter()
        await self.room.wait()
        self.waited_s = time.perf_counter() - began
        return "room"

    async def release(self, taken: str) -> None:
        self.room.clear()


@pytest.fixture
def house() -> FullHouse:
    return FullHouse()


@pytest.fixture
async def world(
    sqlite_store: SqlStore, clock: HandClock, openai_server: OpenAIServer, house: FullHouse
) -> AsyncIterator[World]:
    look = Tool("look", lambda a, c: {"late": 3})
    async with asking(sqlite_store, clock, openai_server.base_url, look, stalled_s=20, limiter=house) as made:
        yield made


async def signs_in(world: World, so_many: int) -> list[Fragment]:
    """Return what was streamed, once there is so much."""
    async with asyncio.timeout(10):
        while len(found := await world.store.fragments.read()) < so_many:  # noqa: ASYNC110  (nothing tells of a flush)
            await asyncio.sleep(0.01)
    return found


async def test_waiting_for_room_is_not_the_time_of_the_step(
    world: World, house: FullHouse, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signs, "TOLD_AFTER_S", 4.2)  # longer than the step may take
    openai_server.plays(done(n=1))
    began = time.perf_counter()
    running = asyncio.create_task(world.run(world.order({**THINK, "timeout_s": 4})))
    (sign,) = await signs_in(world, 1)
    house.room.set()
    report = await running
    elapsed_s = time.perf_counter() - began

    assert (sign.type, sign.data["model"]) == ("model.queued", MODEL)
    assert report.state is OrderState.DONE
    assert report.usage.seconds <= elapsed_s - house.waited_s


async def test_the_step_has_its_time_once_there_is_room(
    world: World, house: FullHouse, openai_server: OpenAIServer
) -> None:
    openai_server.plays(held(done(n=1)))
    house.room.set()
    report = await world.run(world.order({**THINK, "timeout_s": 0.2}))

    assert report.error is not None and report.error.code == "CAPABILITY_TIMEOUT"


async def test_whoever_waits_for_room_can_be_cancelled_and_has_paid_nothing(
    world: World, house: FullHouse, openai_server: OpenAIServer
) -> None:
    order = world.order(THINK)
    running = asyncio.create_task(world.run(order))
    await house.came.wait()
    world.cancelled = True
    report = await running

    assert (report.state, openai_server.count()) == (OrderState.CANCELLED, 0)
    assert report.usage.tokens_in == report.usage.tokens_out == 0
    assert "model.stopped" not in await world.kinds(order)


async def test_the_deadline_of_the_order_ends_the_waiting(
    world: World, clock: HandClock, openai_server: OpenAIServer
) -> None:
    report = await world.run(world.order(THINK, deadline=clock.now() + timedelta(seconds=0.2)))

    assert report.state is OrderState.PARTIAL and report.error is not None
    assert report.error.facts["limit"] == Limit.DEADLINE.value
    assert openai_server.count() == 0


async def test_a_model_that_takes_its_time_is_told_to_be_asked(
    world: World, clock: HandClock, house: FullHouse, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signs, "TOLD_AFTER_S", 0.05)
    openai_server.plays(held(done(n=1)))
    order = world.order(THINK)
    running = asyncio.create_task(world.run(order))
    await signs_in(world, 1)
    house.room.set()
    queued, asked = await signs_in(world, 2)
    openai_server.release()
    await running

    assert [queued.type, asked.type] == ["model.queued", "model.asked"]
    assert asked.data == {
        "step": "think", "index": None, "role": "reason", "model": MODEL, "since": clock.now().isoformat(), "version": 1
    }  # fmt: skip
    assert (asked.stream, asked.execution_id) == (str(order.order_id), order.execution_id)


async def test_an_answer_that_comes_soon_writes_nothing_beside_itself(
    world: World, house: FullHouse, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signs, "TOLD_AFTER_S", 600)
    openai_server.plays(done(n=1))
    house.room.set()
    await world.run(world.order(THINK))
    await world.store.fragments.flush()

    assert await world.store.fragments.read() == []
