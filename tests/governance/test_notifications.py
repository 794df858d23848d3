"""`notify`: who is told what, once, by way of a real ledger and the engine."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from contracts import OrderState, TaskOrder
from governance.access import People
from governance.notifications import LONGEST, Notify, notifications
from runtime.errors import InvalidArguments
from runtime.ledger.store import SqlStore
from runtime.telemetry.redaction import register
from tests.fakes.calls import a_call
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import Crash, CrashingStore
from tests.fakes.engine_world import World
from tests.governance.cards import ORGANISATION, PEOPLE

pytestmark = pytest.mark.anyio
TELL: dict[str, Any] = {"id": "tell", "use": "notify", "with": {"to": "morgan", "text": "Delays rise."}}


@pytest.fixture
def world(sqlite_store: SqlStore, clock: HandClock) -> World:
    made = World(sqlite_store, clock)
    made.tools["notify"] = Notify(sqlite_store.ledger, People(PEOPLE))  # type: ignore[assignment]
    return made


def order(world: World, *steps: dict[str, Any]) -> TaskOrder:
    return world.order(*steps).model_copy(update={"organisation": ORGANISATION})


async def told(world: World, person: str | None = None) -> list[Any]:
    return await notifications(world.store.ledger, organisation=ORGANISATION, person=person, limit=50)


async def test_a_person_is_told_by_whom_and_why_in_the_commit_that_ends_the_step(world: World) -> None:
    report = await world.run(order(world, TELL))
    (message,) = await told(world, "morgan")

    assert (report.state, message.to, message.text) == (OrderState.DONE, ("morgan",), "Delays rise.")
    assert (message.employee, message.step, message.execution_id) == ("head", "tell", world.execution_id)
    assert await told(world, "dana") == []


async def test_a_group_is_told_as_the_people_it_is_now(world: World) -> None:
    await world.run(order(world, {**TELL, "with": {"to": "duty-managers", "text": "Delays rise."}}))

    assert {"morgan", "sam", "robin"} <= set((await told(world))[0].to)
    assert len(await told(world, "sam")) == 1


async def test_what_is_told_under_a_key_is_told_once_whoever_tells_it(world: World) -> None:
    keyed = {**TELL, "with": {**TELL["with"], "key": "delays-2013-02-08"}}
    first, second = order(world, keyed), order(world, {**keyed, "id": "again"})
    one, other = await asyncio.gather(world.run(first), world.run(second))

    assert sorted([bool(one.output["new"]), bool(other.output["new"])]) == [False, True]  # type: ignore[index, call-overload]
    assert len(await told(world)) == 1
    assert len(await told(world, "morgan")) == 1


async def test_each_call_without_a_key_counts_and_the_newest_comes_first(world: World) -> None:
    for text in ("1", "2", "3"):
        await world.run(order(world, {**TELL, "with": {"to": "morgan", "text": text}}))

    assert [message.text for message in await told(world)] == ["3", "2", "1"]
    newest = await notifications(world.store.ledger, organisation=None, person="morgan", limit=2)
    assert [message.text for message in newest] == ["3", "2"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"to": "morgen"}, "Did you mean morgan"),
        ({"text": " "}, "1 to 2,000"),
        ({"text": "x" * (LONGEST + 1)}, "2,001"),
    ],
)
async def test_nobody_is_told_what_cannot_be_told(world: World, changed: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidArguments, match=said):
        await Notify(world.store.ledger, People(PEOPLE)).call({**TELL["with"], **changed}, a_call())


async def test_a_secret_is_blotted_out(world: World) -> None:
    register(["s3cret-of-the-till"])
    await world.run(order(world, {**TELL, "with": {"to": "morgan", "text": "It is s3cret-of-the-till."}}))

    assert "s3cret" not in (await told(world))[0].text


@pytest.mark.parametrize("committed", [False, True])
async def test_a_process_that_dies_at_any_append_tells_it_once(world: World, *, committed: bool) -> None:
    for at in range(3):
        work, whole = order(world, TELL), world.store
        before = len(await told(world))
        world.store = CrashingStore(whole, at, committed=committed)
        with suppress(Crash):
            await world.run(work)
        world.store = whole

        assert (await world.run(work)).state is OrderState.DONE
        assert len(await told(world)) == before + 1
