"""Counts of the whole ledger are kept: over processes, beside pruning, and each event counts once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from contracts import ExecutionId, OrderId
from runtime.corrections import Guard, Occasion, Series, Tallied, Tally
from runtime.corrections import tally as tally_module
from runtime.ledger import open_store
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio
ANSWERS = Series(Occasion.ANSWERS, "acme", "small")
ODD = Series(Guard.UNKNOWN_TOOL, "acme", "small")


def answered(number: int = 2) -> NewEvent:
    return NewEvent("model.answered", {"step": "think", "answer": number, "calls": [], "facts": {}})


def made_up() -> NewEvent:
    return NewEvent("call.failed", {"problem": {"code": "UNKNOWN_TOOL", "category": "invalid_arguments"}})


async def executed(store: SqlStore, *events: NewEvent, model: str = "small", ended: str = "") -> tuple[str, str]:
    execution, order = ExecutionId.new(), OrderId.new()
    begun = NewEvent("execution.requested", {"models": {"reason": model}})
    last = [NewEvent(ended, {})] if ended else []
    for stream, told in ((execution, [begun, *last]), (order, events)):
        await store.ledger.append(Append(str(stream), told, 0, "acme", "/test", execution_id=execution))
    return str(execution), str(order)


async def counts(store: SqlStore, clock: HandClock, **how: Any) -> Tallied:
    return await Tally(store.ledger).read(clock.now(), **how)


async def test_each_process_tells_the_same_and_counts_no_event_again(store: SqlStore, clock: HandClock) -> None:
    await executed(store, answered(), answered(), made_up())
    first = Tally(store.ledger)
    assert (await first.read(clock.now())).ever[ANSWERS] == 2
    await executed(store, answered())

    later, other = await first.read(clock.now()), await counts(store, clock)

    assert later.ever == other.ever
    assert (other.ever[ANSWERS], other.ever[ODD]) == (3, 1)


async def test_of_two_that_count_at_once_each_ends_with_all(store: SqlStore, clock: HandClock) -> None:
    both = Tally(store.ledger), Tally(store.ledger)
    for _ in range(3):
        await executed(store, answered(), made_up())
        found = await asyncio.gather(*(each.read(clock.now()) for each in both))
        assert found[0].ever == found[1].ever

    assert (await counts(store, clock)).ever[ANSWERS] == 3


async def test_what_was_counted_stays_when_its_execution_is_pruned(sqlite_store: SqlStore, clock: HandClock) -> None:
    execution, order = await executed(sqlite_store, answered(), made_up())
    await counts(sqlite_store, clock)
    await sqlite_store.ledger.prune({execution: 1, order: 2}, reason="a test")

    assert (await counts(sqlite_store, clock)).ever[ODD] == 1


async def test_models_are_told_apart_by_what_the_execution_was_pinned_to(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    await executed(sqlite_store, answered())
    await executed(sqlite_store, answered(), model="large")

    found = (await counts(sqlite_store, clock)).ever

    assert (found[ANSWERS], found[ANSWERS._replace(model="large")]) == (1, 1)


async def test_what_happened_elsewhere_and_was_imported_does_not_count(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    await executed(sqlite_store, answered(), ended="execution.imported")

    assert (await counts(sqlite_store, clock)).ever == {}


async def test_a_payload_that_was_erased_counts_nothing(sqlite_store: SqlStore, clock: HandClock) -> None:
    _, order = await executed(sqlite_store, answered(), answered())
    await sqlite_store.ledger.erase(order, 1)

    assert (await counts(sqlite_store, clock)).ever[ANSWERS] == 1


async def test_lately_is_this_month_and_the_one_before_and_ever_is_all(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    for _ in range(4):
        await executed(sqlite_store, answered())
        await counts(sqlite_store, clock)
        clock.advance(31 * 86_400)
    clock.advance(-31 * 86_400)

    found = await counts(sqlite_store, clock)

    assert (found.ever[ANSWERS], found.lately[ANSWERS]) == (4, 2)
    assert found.since is not None and found.since.isoformat() == "2013-04-01T00:00:00+00:00"


async def test_a_long_ledger_is_counted_over_several_asks(
    sqlite_store: SqlStore, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await executed(sqlite_store, *[answered()] * 20)
    monkeypatch.setattr(tally_module, "SPAN", 4)

    seen = [(await counts(sqlite_store, clock, spans=2)).ever.get(ANSWERS, 0) for _ in range(4)]

    assert seen == [7, 15, 20, 20]


async def test_series_without_end_are_counted_together(
    sqlite_store: SqlStore, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tally_module, "MOST_SERIES", 3)
    for number in range(5):
        await executed(sqlite_store, answered(), model=f"model-{number}")

    found = (await counts(sqlite_store, clock)).ever

    assert found[ANSWERS._replace(model="")] == 3
    assert sum(count for series, count in found.items() if series.what == Occasion.ANSWERS) == 5


async def test_a_ledger_that_cannot_be_written_is_counted_all_the_same(
    sqlite_store: SqlStore, clock: HandClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await executed(sqlite_store, answered())
    await sqlite_store.close()
    monkeypatch.setattr("os.access", lambda *_: False)  # as for a user who may only read
    store = await open_store(LedgerSettings(), home=tmp_path, clock=clock)
    try:
        tally = Tally(store.ledger)
        assert [(await tally.read(clock.now())).ever[ANSWERS] for _ in range(2)] == [1, 1]
    finally:
        await store.close()
