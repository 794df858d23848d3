"""What is told of an execution is read once, and never what was erased."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from console.notes import BranchFailure, NotOffered
from console.told import Tellings, all_told
from contracts import Event, ExecutionId, ExecutionRequest
from runtime.executor.record import Record
from runtime.executor.view import ExecutionView
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import World
from tests.stores import clock, sqlite_store

__all__ = ["clock", "sqlite_store"]
pytestmark = pytest.mark.anyio
USAGE = {"schema_version": "1.0", "seconds": 2.0, "steps": 1}


async def requested(store: SqlStore) -> ExecutionView:
    record = Record(store.ledger)
    request = ExecutionRequest(organisation="desk", goal="Count", requested_by="planner")
    submitted = await record.request(request, "a" * 64, Path("desk"), ())
    return await record.view(submitted.execution_id)


async def happen(store: SqlStore, view: ExecutionView, *facts: NewEvent) -> tuple[Event, ...]:
    stream = f"order/{view.execution_id.ulid}"
    version = len(await store.ledger.read(stream))
    return await store.ledger.append(Append(stream, facts, version, "desk", "/x", execution_id=view.execution_id))


def step() -> NewEvent:
    return NewEvent("step.finished", {"use": "count", "usage": USAGE})


async def test_only_what_is_new_is_read(sqlite_store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    view, tellings, asked = await requested(sqlite_store), Tellings(), []
    read = sqlite_store.ledger.read_execution

    async def watched(execution_id: ExecutionId, **more: Any) -> list[Event]:
        asked.append(more["after"])
        return await read(execution_id, **more)

    monkeypatch.setattr(sqlite_store.ledger, "read_execution", watched)
    (first,) = await happen(sqlite_store, view, step())
    before = await tellings.of(sqlite_store, view)
    (second,) = await happen(sqlite_store, view, step())
    after = await tellings.of(sqlite_store, view)

    assert (before.usage.seconds, after.usage.seconds) == (2, 4)
    assert after == await all_told(sqlite_store, view)
    assert asked[:4] == [0, first.position, first.position, second.position]


async def test_what_was_erased_is_told_no_more(sqlite_store: SqlStore) -> None:
    view, tellings = await requested(sqlite_store), Tellings()
    await happen(sqlite_store, view, step(), step())
    assert (await tellings.of(sqlite_store, view)).usage.steps == 2
    await sqlite_store.ledger.erase(f"order/{view.execution_id.ulid}", 1)

    assert (await tellings.of(sqlite_store, view)).usage.steps == 1
    assert (await tellings.of(sqlite_store, view)).usage.steps == 1


async def test_only_the_last_that_were_asked_for_are_kept(
    sqlite_store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.told._KEPT", 2)
    views, tellings = [await requested(sqlite_store) for _ in range(3)], Tellings()
    for view in views:
        await tellings.of(sqlite_store, view)

    assert list(tellings._kept) == [views[1].execution_id, views[2].execution_id]


GROUP = {"id": "look", "parallel": [{"id": "total", "use": "count"}, {"id": "fine", "use": "count"}]}
PROBLEM = {"schema_version": "1.0", "code": "SQL_ERROR", "category": "unknown", "message": "No such table: sales."}


def ended(type_: str, step: str = "total", **more: Any) -> NewEvent:
    return NewEvent(type_, {"step": step, "index": None, "seconds": 0.0, **more})


async def accepted(store: SqlStore, view: ExecutionView, clock: HandClock) -> None:
    order = World(store, clock).order(GROUP)
    await happen(store, view, NewEvent("order.accepted", {"order": order.to_json()}))


async def test_a_branch_that_failed_for_good_is_told_until_it_ends_in_another_way(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    view, tellings = await requested(sqlite_store), Tellings()
    await accepted(sqlite_store, view, clock)
    await happen(sqlite_store, view, ended("step.failed", final=False, problem=PROBLEM))
    assert (await tellings.of(sqlite_store, view)).failed_branches == ()

    await happen(sqlite_store, view, ended("step.failed", final=True, problem=PROBLEM))
    told = await tellings.of(sqlite_store, view)
    assert told.failed_branches == (BranchFailure("look/total", "SQL_ERROR", "No such table: sales."),)

    await happen(sqlite_store, view, ended("step.finished", use="count"))
    assert (await tellings.of(sqlite_store, view)).failed_branches == ()


async def test_of_branches_inside_each_other_the_outermost_is_told(sqlite_store: SqlStore, clock: HandClock) -> None:
    view = await requested(sqlite_store)
    inner = {"id": "inner", "parallel": [{"id": "a", "use": "count"}, {"id": "b", "use": "count"}]}
    order = World(sqlite_store, clock).order({"id": "all", "parallel": [inner, {"id": "c", "use": "count"}]})
    await happen(sqlite_store, view, NewEvent("order.accepted", {"order": order.to_json()}))
    failures = [ended("step.failed", step, final=True, problem=PROBLEM) for step in ("a", "b")]

    await happen(sqlite_store, view, *failures)
    told = await all_told(sqlite_store, view)
    assert [each.branch for each in told.failed_branches] == ["all/inner/a", "all/inner/b"]

    await happen(sqlite_store, view, ended("step.failed", "inner", final=True, problem=PROBLEM))
    told = await all_told(sqlite_store, view)
    assert [each.branch for each in told.failed_branches] == ["all/inner"]


async def test_options_that_were_not_offered_are_told_from_the_card_or_from_the_step(sqlite_store: SqlStore) -> None:
    view = await requested(sqlite_store)
    entry = {"option": "half", "reason": "forbidden", "use": "till.discount", "rule": "limit", "why": "At most 30."}
    facts = {"n": {"value": 1}, "not offered: half": {"value": "At most 30.", "source": "rules/limit.yaml", **entry}}
    old = {"not offered: half": {"value": "At most 30.", "source": "rules/limit.yaml"}}
    for each in (facts, old):
        await happen(sqlite_store, view, NewEvent("card.raised", {"card": {"facts": each}}))
    await happen(sqlite_store, view, NewEvent("options.left_out", {"not_offered": [entry]}))

    left_out = list((await all_told(sqlite_store, view)).not_offered)
    assert left_out == [
        NotOffered("half", "forbidden", "till.discount", "limit", "At most 30."),
        NotOffered("half", "forbidden", None, "limit", "At most 30."),
    ]
