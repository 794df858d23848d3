from __future__ import annotations

import asyncio
from typing import Any

import pytest

from contracts import Effect, OrderState
from runtime.capabilities.port import CallResult
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import ScriptedModel, calls, done

pytestmark = pytest.mark.anyio
BOOK: dict[str, Any] = {
    "id": "trip",
    "react": "Book.",
    "tools": ["book", "hang"],
    "compensate": {"use": "cancel", "with": {"id": "{{ trip.id }}"}},
}


class Desk:
    """Bookings are written down, and so is what takes them back."""

    def __init__(self, store: SqlStore, clock: HandClock, *answers: Any, can_look_up: bool = True) -> None:
        self.done: list[str] = []
        self.hanging = asyncio.Event()
        self.world = World(
            store,
            clock,
            Tool("book", self._book, Effect.WRITE, can_look_up=can_look_up),
            Tool("cancel", lambda a, c: self.done.append(f"cancel {a['id']}") or {}, Effect.WRITE),
            Tool("hang", self._hang),
        )
        self.world.model = ScriptedModel(*answers)

    async def cancelled(self, order: Any) -> Any:
        running = asyncio.ensure_future(self.world.run(order))
        await asyncio.wait_for(self.hanging.wait(), 60)
        self.world.cancelled = True
        return await asyncio.wait_for(running, 60)

    async def _book(self, arguments: Any, context: Any) -> dict[str, Any]:
        self.done.append(f"book {arguments['n']}")
        if arguments.get("hangs"):
            self.world.tools["book"].happened[context.key] = CallResult(output={"id": arguments["n"]})
            await self._hang(arguments, context)
        return {"id": arguments["n"]}

    async def _hang(self, arguments: Any, context: Any) -> None:
        self.hanging.set()
        await asyncio.Event().wait()


def book(*numbers: int, **more: Any) -> Any:
    return calls(*(("book", {"n": n, **more}) for n in numbers))


async def test_effects_of_an_unfinished_conversation_are_taken_back_the_last_one_first(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    desk = Desk(sqlite_store, clock, book(1, 2), book(3), calls(("hang", {})))

    report = await desk.cancelled(desk.world.order(BOOK))

    assert report.state is OrderState.CANCELLED
    assert desk.done == ["book 1", "book 2", "book 3", "cancel 3", "cancel 2", "cancel 1"]
    assert len(desk.world.tools["cancel"].keys) == 3


async def test_effects_of_a_finished_conversation_are_taken_back_each(sqlite_store: SqlStore, clock: HandClock) -> None:
    desk = Desk(sqlite_store, clock, book(1, 2), done(ok=True))

    await desk.cancelled(desk.world.order(BOOK, {"id": "stuck", "use": "hang", "after": ["trip"]}))

    assert desk.done == ["book 1", "book 2", "cancel 2", "cancel 1"]


async def test_an_effect_whose_own_result_says_too_little_is_taken_back_by_the_output_of_its_step(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    desk = Desk(sqlite_store, clock, book(1), done(booking=7))
    step = {**BOOK, "compensate": {"use": "cancel", "with": {"id": "{{ trip.booking }}"}}}

    await desk.cancelled(desk.world.order(step, {"id": "stuck", "use": "hang", "after": ["trip"]}))

    assert desk.done == ["book 1", "cancel 7"]


async def test_a_conversation_without_an_effect_has_nothing_to_take_back(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    desk = Desk(sqlite_store, clock, done(ok=True))

    await desk.cancelled(desk.world.order(BOOK, {"id": "stuck", "use": "hang", "after": ["trip"]}))

    assert desk.done == []


async def test_an_effect_met_in_the_middle_is_looked_up_and_taken_back(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    desk = Desk(sqlite_store, clock, book(1, hangs=True))

    report = await desk.cancelled(desk.world.order(BOOK))

    assert report.state is OrderState.CANCELLED and desk.done == ["book 1", "cancel 1"]


async def test_an_effect_that_takes_place_after_the_cancel_is_found_and_taken_back(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    desk = Desk(sqlite_store, clock, book(1, hangs=True))
    known: list[str] = []

    def commit() -> None:
        desk.world.tools["book"].happened.update({key: CallResult(output={"id": 1}) for key in known})

    async def send_and_hang(arguments: Any, context: Any) -> None:
        known.append(context.key)
        await desk._hang(arguments, context)

    desk.world.tools["book"] = Tool("book", send_and_hang, Effect.WRITE, can_look_up=True)
    desk.world.meanwhile = commit

    report = await desk.cancelled(desk.world.order(BOOK))

    assert report.state is OrderState.CANCELLED
    assert (desk.done, desk.world.waits) == (["cancel 1"], [desk.world.settings.settle_s])


@pytest.mark.parametrize("happened", [True, False])
async def test_an_effect_that_only_people_can_tell_about_waits_for_them_and_is_then_taken_back(
    sqlite_store: SqlStore, clock: HandClock, happened: bool
) -> None:
    desk = Desk(sqlite_store, clock, book(1, hangs=True), can_look_up=False)
    order = desk.world.order({**BOOK, "compensate": {"use": "cancel", "with": {"id": 9}}})

    (card,) = (await desk.cancelled(order)).waiting_for
    desk.world.gate.decide(card, happened)
    report = await desk.world.run(order)

    assert report.state is OrderState.CANCELLED
    assert desk.done == ["book 1", *(["cancel 9"] if happened else [])]


async def test_an_effect_whose_way_back_needs_its_lost_result_is_told_and_stands(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    desk = Desk(sqlite_store, clock, book(1, hangs=True), can_look_up=False)
    order = desk.world.order(BOOK)

    (card,) = (await desk.cancelled(order)).waiting_for
    desk.world.gate.decide(card, True)
    report = await desk.world.run(order)

    assert desk.done == ["book 1"]
    assert "could not be taken back: 1" in report.error.message  # type: ignore[union-attr]
