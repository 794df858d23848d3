"""D14: what does not fit where it belongs goes elsewhere, or is told in words; nothing is tried for ever."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contracts import Effect, OrderState
from runtime.errors import BusinessRefusal, NotStorable
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import ScriptedModel, calls, done

pytestmark = pytest.mark.anyio
NINE_MB = "x" * 9_000_000
"""More than an event holds."""


def deep(levels: int) -> Any:
    """Return a value nested so deeply."""
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


async def test_an_effect_with_large_arguments_is_carried_out_and_announced_by_reference(
    store: SqlStore, clock: HandClock
) -> None:
    pay = Tool("pay", lambda a, c: {"n": len(a["v"])}, Effect.WRITE)
    world = World(store, clock, Tool("big", lambda a, c: {"text": NINE_MB}), pay)
    order = world.order({"id": "a", "use": "big"}, {"id": "b", "use": "pay", "with": {"v": "{{ a.text }}"}})

    report = await world.run(order)

    assert (report.state, report.output) == (OrderState.DONE, {"n": len(NINE_MB)})
    events = await store.ledger.read(str(order.order_id))
    (intent,) = [event.data for event in events if event.type == "effect.intended" and event.data]
    assert json.loads(await store.blobs.get(str(intent["stored_sha256"]))) == {"v": NINE_MB}
    assert await store.ledger.verify() == []


async def test_a_model_may_send_large_arguments_too(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, Tool("pay", lambda a, c: {"n": len(a["v"])}, Effect.WRITE))
    world.model = ScriptedModel(calls(("pay", {"v": NINE_MB})), done(n=1))

    report = await world.run(world.order({"id": "a", "react": "Pay.", "tools": ["pay"]}))

    assert (report.state, report.output) == (OrderState.DONE, {"n": 1})
    assert await sqlite_store.ledger.verify() == []


async def test_an_output_that_no_report_can_carry_is_told_and_its_step_is_kept(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, Tool("big", lambda a, c: {"text": NINE_MB}))
    order = world.order({"id": "a", "use": "big"})

    report = await world.run(order)

    assert report.error is not None and (report.state, report.error.code) == (OrderState.FAILED, "NOT_STORABLE")
    assert "9,000,0" in report.error.message and "`gives`" in report.error.message
    assert (await world.view(order)).unit("a").result is not None


async def test_an_order_too_large_for_the_ledger_is_refused_in_words(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, Tool("echo", lambda a, c: {}))

    with pytest.raises(NotStorable, match=r"order\.accepted"):
        await world.run(world.order({"id": "a", "use": "echo"}, inputs={"text": NINE_MB}))


async def test_the_receipt_of_an_effect_is_stored_however_deep_its_way_back_is_nested(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    pay = Tool("pay", lambda a, c: {"deep": deep(200)}, Effect.WRITE)
    world = World(sqlite_store, clock, pay)
    undo = {"use": "pay", "with": {"deep": "{{ a.deep }}"}}

    report = await world.run(world.order({"id": "a", "use": "pay", "compensate": undo}, plan={"gives": {"n": 1}}))

    assert report.state is OrderState.DONE and len(pay.calls) == 1


async def test_the_words_of_an_error_are_cut_where_they_never_end(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, Tool("talk", lambda a, c: BusinessRefusal("no " * 1_000_000)))

    report = await world.run(world.order({"id": "a", "use": "talk"}))

    assert report.error is not None and len(report.error.message) < 5_000
    assert "3,000,000 characters" in report.error.message
