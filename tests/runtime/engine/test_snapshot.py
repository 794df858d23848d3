"""What is folded by way of snapshots says the same as the whole stream, wherever segments end and whatever is in it."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contracts import CardId, Event, EventId, EvidenceId, OrderId, PlanDefinition, TaskOrder
from runtime.engine.fold import apply, fold_order
from runtime.engine.recall import read_artifacts, read_units
from runtime.engine.resume import open_view
from runtime.engine.snapshot import mark_taken, take_snapshot
from runtime.engine.states import LIFE, Move, UnitState
from runtime.engine.view import UNREAD, OrderView, UnitKey
from runtime.ledger.port import Snapshot
from tests.fakes.clock import HandClock

AT = HandClock().now()
CARDS = [CardId.new() for _ in range(3)]
SEALS = [EvidenceId.new() for _ in range(3)]
UNITS: tuple[UnitKey, ...] = (("whole", None), ("each", 0), ("each", 1), ("each", 2), ("group", None), ("branch", None))
PLAN = {
    "steps": [
        {"id": "whole", "use": "work"},
        {"id": "each", "use": "work", "for_each": "{{ context.items }}"},
        {"id": "group", "parallel": [{"id": "branch", "use": "work"}]},
    ]
}
Fact = tuple[str, dict[str, Any]]


def result(number: int) -> dict[str, Any]:
    data: dict[str, Any] = {
        "started_at": AT.isoformat(), "seconds": 0.5, "result_sha256": f"{number:064x}", "output": {"n": number},
        "usage": {"steps": 1, "seconds": 0.5}, "use": f"tool{number % 3}",
    }  # fmt: skip
    if number % 3 == 0:
        data["artifacts"] = [{"name": f"f{number}", "media_type": "text/plain", "sha256": "0" * 64, "size": number}]
    if number % 4 == 0:
        data |= {"sealed": [SEALS[number % 3]], "happened": True, "uses": ["below"]}
    return data


def fact(move: Move, number: int, key: UnitKey) -> Fact:
    """Return an event that makes this move; `number` chooses among what it may carry."""
    unit = {"step": key[0], "index": key[1]}
    problem = {"code": "X", "category": "business", "message": f"no {number}"}
    failed = {**unit, "problem": problem, "final": move is Move.GIVE_UP}
    if number % 3 == 1:
        failed |= {"usage": {"seconds": 0.25}, "sealed": [SEALS[number % 3]], "happened": number % 2 == 0}
    if number % 5 == 4 and move is Move.GIVE_UP:
        failed |= {"result": result(number)}
    hashes = {"arguments_sha256": "0" * 64, "capability_sha256": "1" * 64}
    match move:
        case Move.DISPATCH:
            return "step.dispatched", {**unit, "order_id": "order/01J00000000000000000000000", "order": {}}
        case Move.INTEND:
            return "effect.intended", {**unit, **hashes, "key": f"k{number}", "use": "pay", "card": None}
        case Move.WAIT:
            held = {"held": result(number)} if number % 4 == 1 else {}
            return "step.waiting", {**unit, "ids": [CARDS[number % 3]], "in_doubt": number % 2 == 0, **held}
        case Move.FINISH:
            return "step.finished", {**unit, "state": "done", **result(number)}
        case Move.SKIP:
            return "step.skipped", {**unit, "why": f"because {number}"}
    return "step.failed", failed


@st.composite
def histories(draw: st.DrawFn) -> list[Fact]:
    """Any events that a stream may hold, in any order that the life of its units allows."""
    accepted = {
        "order_id": OrderId.new(), "execution_id": "execution/01J00000000000000000000000", "organisation": "acme",
        "employee": "head", "issued_by": "ann", "objective": "Do it.", "plan": PlanDefinition.model_validate(PLAN),
        "requested_by": "ann", "trace_id": "0" * 32, "context": {"items": [1, 2, 3]},
    }  # fmt: skip
    facts: list[Fact] = [("order.accepted", {"order": TaskOrder.model_validate(accepted).to_json()})]
    view = OrderView()
    for number in range(draw(st.integers(0, 25))):
        for event in events(facts)[view.version :]:
            apply(view, event)
        kind = draw(st.integers(0, 9))
        key = draw(st.sampled_from(UNITS))
        moves = [move for (state, move) in LIFE if state is view.state(key) and move is not Move.REOPEN]
        if kind == 0:
            facts.append(("order.reopened", {"from": "failed"}))
        elif kind == 1:
            facts.append(("compensation.intended", {"step": key[0], "index": key[1], "key": f"u{number % 4}"}))
        elif kind == 2:
            facts.append(("compensation.finished", {"step": key[0], "index": key[1], "key": f"u{number}", "ok": True}))
        elif kind == 3 and view.state(key) is UnitState.PENDING:
            revised = {"revision": view.revisions + 1, "step": key[0], "index": key[1], "change": "again"}
            facts.append(("plan.revised", revised))
        elif kind == 4:
            facts.append(("something.else", {"step": key[0]}))
        elif moves:
            facts.append(fact(draw(st.sampled_from(moves)), number, key))
    return facts


def events(facts: Sequence[Fact]) -> list[Event]:
    return [
        Event(
            id=EventId.new(), source="/test", type=kind, subject="order/x", time=AT, data=data, organisation="acme",
            stream_version=number, position=number, payload_sha256="0" * 64, chain_sha256="0" * 64,
        )
        for number, (kind, data) in enumerate(facts, start=1)
    ]  # fmt: skip


class Stream:
    """A ledger with one stream, whose events and snapshots are in memory; counts the events that were read."""

    def __init__(self, stored: list[Event], snapshots: list[Snapshot]) -> None:
        self.stored = stored
        self.segments = snapshots
        self.read_count = 0

    async def snapshots(self, stream: str) -> list[Snapshot]:
        return self.segments

    async def read(self, stream: str, *, after_version: int = 0) -> list[Event]:
        return self._counted(self.stored[after_version:])

    async def read_versions(self, stream: str, versions: Sequence[int]) -> list[Event]:
        return self._counted([event for event in self.stored if event.stream_version in versions])

    def _counted(self, found: list[Event]) -> list[Event]:
        self.read_count += len(found)
        return found


def segmented(stored: list[Event], ends: set[int]) -> list[Snapshot]:
    """Return the snapshots that a writer takes which went on from its snapshots again and again."""
    view, segments = OrderView(), list[Snapshot]()
    for event in stored:
        apply(view, event)
        if event.stream_version in ends:
            segments.append(take_snapshot(view, "order/x"))
            mark_taken(view)
    return segments


async def reopened(stream: Stream) -> OrderView:
    ledger: Any = stream
    return await open_view(ledger, "order/x")


def says(view: OrderView) -> dict[str, Any]:
    """Return everything a view answers without its results."""
    steps = ("whole", "each", "group", "branch")
    names = ("order", "accepted_at", "version", "allocation", "revisions", "undone", "report", "reopened", "happened")
    return {
        **{name: getattr(view, name) for name in names},
        "states": {key: view.state(key) for key in UNITS},
        "whole": {step: view.state_of(step) for step in steps},
        "failed": {step: view.part_failed(step) for step in steps},
        "usage": (view.usage.steps, round(view.usage.seconds, 6)),
        "uses": view.uses,
        "done": view.done,
        "size": view.size,
        "waiting": view.waiting_for,
        "intents": [(unit.step, unit.index) for unit in view.intents],
        "changed": view.changed_the_world,
        "artifacts": dict(sorted(view.artifacts.items())),
        "sealed": dict(sorted(view.sealed.items())),
        "why": view.unit("whole").why,
        "open": {key: unit for key, unit in view.units.items() if not unit.state.settled},
        "given_up": {key: unit for key, unit in view.units.items() if unit.state is UnitState.FAILED},
    }


async def compared(facts: list[Fact], ends: set[int]) -> None:
    stored = events(facts)
    whole = fold_order(stored)
    again = await reopened(Stream(stored, segmented(stored, ends)))
    await read_artifacts(again)

    assert says(again) == says(whole)

    done = [key for key in UNITS if whole.state(key) in (UnitState.DONE, UnitState.SKIPPED)]
    await read_units(again, done)
    assert {key: again.unit(*key).result for key in done} == {key: whole.unit(*key).result for key in done}


@settings(max_examples=120, deadline=None)
@given(histories(), st.sets(st.integers(1, 25)))
@example([], {1})
def test_it_says_the_same_wherever_segments_end(facts: list[Fact], ends: set[int]) -> None:
    asyncio.run(compared(facts, ends))


@settings(max_examples=40, deadline=None)
@given(histories(), st.sets(st.integers(1, 25), min_size=2), st.data())
def test_segments_may_be_lost_damaged_or_of_another_form(
    facts: list[Fact], ends: set[int], data: st.DataObject
) -> None:
    stored, left = events(facts), list[Snapshot]()
    for segment in segmented(stored, ends):
        newer = json.dumps({**json.loads(segment.data), "format": 99}).encode()
        form = data.draw(st.sampled_from([segment.data, segment.data, segment.data[:-3], newer, None]))
        left += [] if form is None else [dataclasses.replace(segment, data=form)]

    again = asyncio.run(reopened(Stream(stored, left)))

    asyncio.run(read_artifacts(again))
    assert says(again) == says(fold_order(stored))


def many(count: int) -> list[Event]:
    return events([fact(Move.FINISH, 1, ("each", index)) for index in range(count)])


@pytest.mark.anyio
async def test_going_on_reads_no_event_of_a_finished_step_that_a_segment_tells_of() -> None:
    stored = many(250)
    stream = Stream(stored, segmented(stored, {100, 200}))

    view = await reopened(stream)

    assert stream.read_count == 50
    assert view.state(("each", 3)) is UnitState.DONE
    assert view.unit("each", 3).result is UNREAD


@pytest.mark.anyio
async def test_a_result_that_was_not_read_cannot_be_taken_for_none() -> None:
    stored = many(100)
    view = await reopened(Stream(stored, segmented(stored, {100})))

    given = view.unit("each", 3).result
    assert given is not None
    with pytest.raises(RuntimeError, match="output"):
        _ = given.output


@pytest.mark.anyio
async def test_a_result_whose_payload_was_erased_is_none() -> None:
    stored = many(100)
    segments = segmented(stored, {100})
    stored[3] = stored[3].model_copy(update={"data": None})
    view = await reopened(Stream(stored, segments))

    await read_units(view, [("each", 3), ("each", 4)])

    assert view.unit("each", 3).result is None
    assert view.unit("each", 4).result is not None


CALL = {"step": "whole", "index": None, "call": "whole::1:1"}


@pytest.mark.parametrize("ends", [{1}, {3}, {4}, {5}, {3, 4}, {4, 5}, {1, 2, 3, 4, 5}])
@pytest.mark.parametrize("finished", [True, False])
def test_a_finished_conversation_with_a_call_in_doubt_stays_whole_until_somebody_knows(
    ends: set[int], finished: bool
) -> None:
    hashes = {"arguments_sha256": "0" * 64, "capability_sha256": "1" * 64}
    calls = [{"id": CALL["call"], "name": "pay", "arguments": {}}]
    known = ("call.finished", {**CALL, **result(9), "use": "pay"})
    facts = [
        ("model.answered", {"step": "whole", "index": None, "answer": 1, "calls": calls, "usage": {"seconds": 1.0}}),
        ("call.intended", {**CALL, **hashes, "key": "k", "use": "pay"}),
        fact(Move.FINISH, 1, ("whole", None)),
        ("something.else", {}),
        *([known, ("something.else", {})] if finished else []),
    ]

    asyncio.run(compared(facts, ends))

    stored = events(facts)
    whole, again = fold_order(stored), asyncio.run(reopened(Stream(stored, segmented(stored, ends))))
    open_calls = [
        [call.id for unit in view.units.values() if unit.react for call in unit.react.calls if call.in_doubt]
        for view in (whole, again)
    ]
    assert open_calls[0] == open_calls[1] == ([] if finished else [CALL["call"]])
    assert again.answers == whole.answers == 1


def test_a_segment_does_not_grow_with_history() -> None:
    stored = many(3_000)
    sizes = [len(segment.data) for segment in segmented(stored, set(range(100, 3_001, 100)))]

    assert sizes[-1] < 1.1 * sizes[2]
    assert sizes[-1] < 1_000


def test_a_segment_holds_nothing_of_what_a_step_gave() -> None:
    facts = [("step.finished", {"step": "a", "index": None, **result(3), "output": {"name": "Ada"}})]
    (segment,) = segmented(events(facts), {1})

    assert b"Ada" not in segment.data and b"f3" not in segment.data
