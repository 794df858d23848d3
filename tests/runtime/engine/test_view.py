from __future__ import annotations

from typing import Any

import pytest

from contracts import CardId, Event, EventId, NodeId, SlotAllocation, SlotId
from runtime.engine.fold import fold_order
from runtime.engine.states import IllegalMove, UnitState
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World

CARD = CardId.new()


def events(*facts: tuple[str, dict[str, Any]]) -> list[Event]:
    """Return a stream with these events, by type and data."""
    at = HandClock().now()
    return [
        Event(
            id=EventId.new(), source="/test", type=kind, subject="order/x", time=at, data=data, organisation="acme",
            stream_version=number, position=number, payload_sha256="0" * 64, chain_sha256="0" * 64,
        )
        for number, (kind, data) in enumerate(facts, start=1)
    ]  # fmt: skip


def finished(step: str, index: int | None = None) -> tuple[str, dict[str, Any]]:
    data = {"started_at": "2013-02-08T22:00:00+00:00", "seconds": 1, "result_sha256": "0" * 64, "output": {}}
    return "step.finished", {"step": step, "index": index, **data, "usage": {"steps": 1, "seconds": 1.0}}


def test_a_step_with_repetitions_is_as_far_as_they_are() -> None:
    waiting = ("step.waiting", {"step": "a", "index": 1, "ids": [str(CARD)]})
    view = fold_order(events(finished("a", 0), waiting))

    assert view.state_of("a") is UnitState.WAITING
    assert view.waiting_for == (str(CARD),)
    assert [unit.index for unit in view.repetitions("a")] == [0, 1]


def test_a_step_is_failed_once_a_repetition_is_and_no_other_is_under_way() -> None:
    problem = {"code": "X", "category": "business", "message": "no"}
    refused = ("step.failed", {"step": "a", "index": 1, "problem": problem, "final": True})
    waiting = ("step.waiting", {"step": "a", "index": 2, "ids": [str(CARD)]})

    assert fold_order(events(finished("a", 0), refused)).state_of("a") is UnitState.FAILED
    assert fold_order(events(finished("a", 0), refused, waiting)).state_of("a") is UnitState.WAITING


def test_what_is_spent_adds_up() -> None:
    view = fold_order(events(finished("a"), finished("b", 0), finished("b", 1)))

    assert (view.usage.steps, view.usage.seconds, view.version) == (3, 3.0, 3)


def test_a_step_finished_twice_is_a_damaged_stream() -> None:
    with pytest.raises(IllegalMove):
        fold_order(events(finished("a"), finished("a")))


def test_erased_and_unknown_events_are_passed_over() -> None:
    stream = [event.model_copy(update={"data": None}) for event in events(finished("a"))]

    assert fold_order([*stream, *events(("step.sang", {"step": "a"}))]).units == {}


@pytest.mark.anyio
async def test_the_slot_is_part_of_the_view(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, Tool("make", lambda a, c: {}))
    order = world.order({"id": "a", "use": "make"})
    slot = SlotAllocation(
        slot_id=SlotId.new(), node_id=NodeId.new(), order_id=order.order_id, driver="rlimits",
        lease_expires_at=clock.now(), fence=1,
    )  # fmt: skip

    await world.engine().run(order, allocation=slot)
    view = await world.view(order)

    assert view.allocation == slot
