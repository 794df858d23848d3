"""Going on with a long order costs what is left of it, not what is behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from contracts import Event, Json, OrderState, TaskOrder
from runtime.known import Known
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import Crash, CrashingStore
from tests.fakes.engine_world import Tool, World

pytestmark = pytest.mark.anyio


class Reading:
    """A store that counts the events that were read from it."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self.ledger: Any = self
        self.blobs = store.blobs
        self.events = 0

    async def read(self, *arguments: Any, **more: Any) -> Sequence[Event]:
        return self._counted(await self._store.ledger.read(*arguments, **more))

    async def read_versions(self, *arguments: Any) -> Sequence[Event]:
        return self._counted(await self._store.ledger.read_versions(*arguments))

    def _counted(self, events: Sequence[Event]) -> Sequence[Event]:
        self.events += len(events)
        return events

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store.ledger, name)


def over(count: int, **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    step = {"id": "each", "use": "work", "for_each": "{{ context.items }}", "with": {"n": "{{ item }}"}, **more}
    return step, {"context": {"items": list(range(count))}}


async def killed(store: SqlStore, world: World, order: TaskOrder, at: int) -> None:
    """Let the process die at that append."""
    world.store = CrashingStore(store, at, committed=True)
    with pytest.raises(Crash):
        await world.run(order)


async def test_before_the_first_new_step_only_what_no_snapshot_covers_is_read(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    seen: list[int] = []
    reading = Reading(sqlite_store)

    def work(arguments: Any, context: Any) -> dict[str, Json]:
        seen.append(reading.events)
        return {"n": arguments["n"]}

    world = World(sqlite_store, clock, Tool("work", work))
    world.snapshot_events = 20
    step, more = over(300, at_once=1)
    order = world.order(step, **more)
    await killed(sqlite_store, world, order, at=250)
    before = len(seen)

    world.store = reading
    report = await world.run(order)

    assert report.output == [{"n": n} for n in range(300)]
    assert Counter(call["n"] for call in world.tools["work"].calls) == Counter(range(300))
    assert seen[before] < 2 * 20


async def test_a_later_step_reads_the_results_it_uses_and_no_others(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, Tool("work", lambda a, c: dict(a)))
    steps = [{"id": f"s{n}", "use": "work", "with": {"n": n}} for n in range(40)]
    last = {"id": "last", "use": "work", "with": {"sum": "{{ s3.n }} {{ s7.n }}"}, "after": ["s39"]}
    order = world.order(*steps, last, plan={"gives": {"sum": "{{ last.sum }}"}})
    await killed(sqlite_store, world, order, at=10)

    reading = Reading(sqlite_store)
    world.store = reading
    report = await world.run(order)

    origin = world.tools["work"].contexts[-1].origins["sum"]
    assert report.output == {"sum": "3 7"}
    assert (origin.step, origin.path) == ("head/s3, head/s7", "n, n")
    assert reading.events < 10


async def test_groups_repeated_for_each_item_are_brought_back_whole(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, Tool("work", lambda a, c: dict(a)))
    branches = [{"id": name, "use": "work", "with": {name: "{{ item }}"}} for name in ("a", "b")]
    order = world.order(
        {"id": "each", "for_each": "{{ context.items }}", "parallel": branches, "at_once": 1},
        context={"items": [1, 2, 3, 4]},
    )
    await killed(sqlite_store, world, order, at=6)

    world.store = sqlite_store
    report = await world.run(order)

    assert report.output == [{"a": {"a": n}, "b": {"b": n}} for n in (1, 2, 3, 4)]
    assert len(world.tools["work"].calls) == 8


async def test_files_and_usage_of_finished_steps_are_in_the_report_after_any_restart(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    from runtime.capabilities.port import CallResult, NewFile

    def work(arguments: Any, context: Any) -> CallResult:
        return CallResult(output={}, files=[NewFile(f"{arguments['n']}.txt", "text/plain", b"x")])

    world = World(sqlite_store, clock, Tool("work", work))
    step, more = over(12, at_once=1)
    order = world.order(step, **more)
    await killed(sqlite_store, world, order, at=10)

    world.store = sqlite_store
    report = await world.run(order)

    assert [artifact.name for artifact in report.artifacts] == [f"{n}.txt" for n in range(12)]
    assert (report.state, report.usage.steps) == (OrderState.DONE, 12)


async def test_without_its_snapshots_an_order_goes_on_all_the_same(sqlite_store: SqlStore, clock: HandClock) -> None:
    class Forgetful(Reading):
        async def snapshots(self, stream: str) -> list[Any]:
            return []

    world = World(sqlite_store, clock, Tool("work", lambda a, c: dict(a)))
    step, more = over(20, at_once=1)
    order = world.order(step, **more)
    await killed(sqlite_store, world, order, at=15)

    world.store = Forgetful(sqlite_store)
    report = await world.run(order)

    assert report.output == [{"n": n} for n in range(20)]
    assert len(world.tools["work"].calls) == 20
    assert await sqlite_store.ledger.snapshots(str(order.order_id))


async def test_nothing_is_read_of_orders_that_begin_and_end_in_one_process(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    reading = Reading(sqlite_store)
    world = World(reading, clock, Tool("work", lambda a, c: {"n": 1}))  # type: ignore[arg-type]
    world.known = Known()
    order = world.order({"id": "ask", "by": "analyst", "use": "work"})
    world.known.make(order.order_id)

    report = await world.run(order)

    assert (report.state, report.output, reading.events) == (OrderState.DONE, {"n": 1}, 0)


async def test_an_order_that_is_said_to_be_new_and_is_not_goes_on_where_it_stood(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    work = Tool("work", lambda a, c: {"n": 1})
    world = World(sqlite_store, clock, work)
    order = world.order({"id": "one", "use": "work"}, {"id": "two", "use": "work", "after": ["one"]})
    await killed(sqlite_store, world, order, 0)
    world.store, world.known = sqlite_store, Known()
    world.known.hear_of(order.order_id)

    report = await world.run(order)

    assert (report.state, len(work.calls)) == (OrderState.DONE, 2)
    assert (await world.kinds(order)).count("order.accepted") == 1
