"""Groups: every event is settled once, with what its handler makes of it, whoever fails or dies on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from contracts import Event
from runtime.bus import InProcessBus
from runtime.bus.dead import DEAD, burial, dead_letters
from runtime.errors import LedgerUnavailable, NotFound
from runtime.ledger import open_store
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import BusSettings, LedgerSettings
from tests.fakes.clock import HandClock
from tests.runtime.bus.messages import QUICK, Seen, fact, members, receipt, receipted, receipts, settled

pytestmark = pytest.mark.anyio


@pytest.fixture
def seen() -> Seen:
    return Seen()


@pytest.fixture
def bus(sqlite_store: SqlStore) -> InProcessBus:
    return InProcessBus(sqlite_store, QUICK)


async def test_members_share_what_was_committed_before_and_what_comes(store: SqlStore) -> None:
    by: dict[str, Seen] = {"a": Seen(), "b": Seen()}
    all_of = Seen()

    async def handle(name: str, event: Event) -> Sequence[Append]:
        by[name].add(event)
        all_of.add(event)
        await asyncio.sleep(0)
        return [receipt(event)]

    bus = InProcessBus(store, QUICK)
    await store.ledger.append(*(fact(number) for number in range(20)))
    async with members(bus, lambda event: handle("a", event)), members(bus, lambda event: handle("b", event)):
        await store.ledger.append(*(fact(number) for number in range(20, 40)))
        handled = await receipted(store.ledger, 40)

    assert sorted(all_of.positions) == handled
    assert len(all_of.positions) == 40 and by["a"].events and by["b"].events


async def test_a_lone_member_gets_events_in_order(bus: InProcessBus, sqlite_store: SqlStore, seen: Seen) -> None:
    async def handle(event: Event) -> None:
        seen.add(event)

    await sqlite_store.ledger.append(*(fact(number) for number in range(700)))
    async with members(bus, handle):
        await seen.count(700)

    assert seen.positions == list(range(1, 701))


async def test_a_group_goes_on_where_it_was(bus: InProcessBus, sqlite_store: SqlStore, seen: Seen) -> None:
    async def handle(event: Event) -> None:
        seen.add(event)

    await sqlite_store.ledger.append(fact(0), fact(1, "order.finished"), fact(2))
    async with members(bus, handle):
        await seen.count(2)
    await sqlite_store.ledger.append(fact(3))
    async with members(InProcessBus(sqlite_store, QUICK), handle, after=2):
        await seen.count(3)

    assert seen.positions == [1, 3, 4]


async def test_a_new_group_begins_where_it_is_told(bus: InProcessBus, sqlite_store: SqlStore, seen: Seen) -> None:
    async def handle(event: Event) -> None:
        seen.add(event)

    await sqlite_store.ledger.append(fact(0), fact(1), fact(2))
    async with members(bus, handle, after=2):
        await seen.count(1)

    assert seen.positions == [3]


async def test_the_position_and_the_effect_are_one_commit(bus: InProcessBus, sqlite_store: SqlStore) -> None:
    """The second appends of a handler fit no version: neither they nor the position are stored."""
    tried = Seen()

    async def handle(event: Event) -> Sequence[Append]:
        tried.add(event)
        if len(tried.events) == 2:  # nothing of the first try is there, and it is not given up before it is looked
            await asyncio.Event().wait()
        good, bad = receipt(event), receipt(event, "other")
        return [good, Append(bad.stream, bad.events, 7, "acme", "/organisation/acme")]

    await sqlite_store.ledger.append(fact(0))
    async with members(bus, handle):
        await tried.count(2)
        assert await receipts(sqlite_store.ledger) == []
        assert await sqlite_store.ledger.cursor("bus/g") == 0


async def test_an_event_that_another_process_settled_meanwhile_leaves_nothing_twice(
    bus: InProcessBus, sqlite_store: SqlStore, tmp_path: Path, clock: HandClock
) -> None:
    """The first member is held up until its lease has run out and a second one has done its work."""
    other = await open_store(LedgerSettings(), home=tmp_path, clock=clock)
    begun, go_on, second = asyncio.Event(), asyncio.Event(), Seen()

    async def slow(event: Event) -> Sequence[Append]:
        begun.set()
        await go_on.wait()
        return [receipt(event)]

    async def quick(event: Event) -> Sequence[Append]:
        second.add(event)
        return [receipt(event)]

    await sqlite_store.ledger.append(fact(0))
    patient = BusSettings(stale_s=3, retry_first_s=0)
    async with members(InProcessBus(sqlite_store, patient), slow):
        await begun.wait()
        clock.advance(10)
        async with members(InProcessBus(other, QUICK, poll_s=0.01), quick):
            await second.count(1)
            await settled(other.ledger, 1)
            go_on.set()
            await other.ledger.append(fact(1))
            await receipted(other.ledger, 2)

    assert await receipts(sqlite_store.ledger) == [1, 3] and len(second.events) == 2
    await other.close()


async def test_what_fails_is_tried_again_and_given_up_after_five_times(
    bus: InProcessBus, sqlite_store: SqlStore, seen: Seen
) -> None:
    async def handle(event: Event) -> Sequence[Append]:
        seen.add(event)
        if event.position == 2:
            raise RuntimeError("no such customer")
        return [receipt(event)]

    await sqlite_store.ledger.append(*(fact(number) for number in range(3)))
    async with members(bus, handle):
        await settled(sqlite_store.ledger, 3)

    assert sorted(seen.positions) == [1, 2, 2, 2, 2, 2, 3]
    assert await receipts(sqlite_store.ledger) == [1, 3]
    (letter,) = await bus.dead("g")
    assert (letter.position, letter.stream, letter.type, letter.tries) == (2, "order/1", "step.finished", 5)
    assert letter.error == {"code": "RuntimeError", "message": "no such customer"}


async def test_a_dead_letter_sent_again_is_handled_with_all_its_tries(
    bus: InProcessBus, sqlite_store: SqlStore, seen: Seen
) -> None:
    async def handle(event: Event) -> Sequence[Append]:
        seen.add(event)
        if len(seen.events) < 8:
            raise RuntimeError("not yet")
        return [receipt(event)]

    await sqlite_store.ledger.append(fact(0))
    async with members(bus, handle):
        await settled(sqlite_store.ledger, 1)
        await bus.retry("g", 1, by="ann")
        await seen.count(8)
        await settled(sqlite_store.ledger, 3)

    assert seen.positions == [1] * 8
    assert await receipts(sqlite_store.ledger) == [1] and await bus.dead("g") == []


async def test_a_dead_letter_that_is_dropped_is_never_handled_again_and_wakes_no_group(
    bus: InProcessBus, sqlite_store: SqlStore, seen: Seen
) -> None:
    async def handle(event: Event) -> None:
        seen.add(event)
        raise RuntimeError("never")

    await sqlite_store.ledger.append(fact(0))
    async with members(bus, handle, pattern="*"):
        await settled(sqlite_store.ledger, 1)
        await bus.drop("g", 1, by="ann", reason="a test")
        await sqlite_store.ledger.append(fact(1))
        await settled(sqlite_store.ledger, 4)

    assert seen.positions == [1] * 5 + [4] * 5
    assert [letter.position for letter in await bus.dead("g")] == [4]
    with pytest.raises(NotFound, match="sent again or dropped already"):
        await bus.retry("g", 1, by="ann")


async def test_of_two_who_see_to_one_dead_letter_the_second_is_told(bus: InProcessBus, sqlite_store: SqlStore) -> None:
    await sqlite_store.ledger.append(fact(0))
    (event,) = await sqlite_store.ledger.read_all()
    await sqlite_store.ledger.append(await burial(sqlite_store.ledger, "g", event, tries=5, error=RuntimeError("no")))

    both = [bus.retry("g", 1, by="ann"), bus.drop("g", 1, by="bob", reason="a test")]
    ended = await asyncio.gather(*both, return_exceptions=True)

    assert [type(end) for end in ended if end is not None] == [NotFound]
    assert len(await sqlite_store.ledger.read("dead/g/1")) == 2


async def test_dead_letters_of_all_groups_are_found_together(bus: InProcessBus, sqlite_store: SqlStore) -> None:
    await sqlite_store.ledger.append(fact(0))
    (event,) = await sqlite_store.ledger.read_all()
    for group in ("g", "g-2", "h"):
        made = await burial(sqlite_store.ledger, group, event, tries=5, error=RuntimeError("no"))
        await sqlite_store.ledger.append(made)

    assert [letter.group for letter in await dead_letters(sqlite_store.ledger)] == ["g", "g-2", "h"]
    assert [letter.group for letter in await bus.dead("g")] == ["g"]


async def test_what_is_no_dead_letter_cannot_be_sent_again(bus: InProcessBus) -> None:
    with pytest.raises(NotFound, match="has no dead letter 1"):
        await bus.retry("g", 1, by="ann")


async def test_two_groups_that_fail_do_not_wake_each_other(bus: InProcessBus, sqlite_store: SqlStore) -> None:
    async def handle(_event: Event) -> None:
        raise RuntimeError("never")

    await sqlite_store.ledger.append(fact(0))
    async with members(bus, handle, pattern="*"), members(bus, handle, group="h", pattern="*"):
        await settled(sqlite_store.ledger, 1)
        await settled(sqlite_store.ledger, 1, "h")
        await sqlite_store.ledger.append(fact(1))
        await settled(sqlite_store.ledger, 4)
        await settled(sqlite_store.ledger, 4, "h")

    events = await sqlite_store.ledger.read_all()
    assert [event.type for event in events] == ["step.finished", DEAD, DEAD, "step.finished", DEAD, DEAD]


async def test_a_handler_that_does_not_end_counts_as_failed(bus: InProcessBus, sqlite_store: SqlStore) -> None:
    quick = InProcessBus(sqlite_store, BusSettings(stale_s=0.05, retry_first_s=0, deliveries=2))

    async def handle(_event: Event) -> None:
        await asyncio.Event().wait()

    await sqlite_store.ledger.append(fact(0))
    async with members(quick, handle):
        await settled(sqlite_store.ledger, 1)

    (letter,) = await quick.dead("g")
    assert letter.tries == 2 and "was not done after 0.05 s" in str(letter.error)


async def test_an_event_that_kills_whoever_handles_it_is_given_up_as_well(sqlite_store: SqlStore, seen: Seen) -> None:
    """Each round is a process that dies with the event in hand: it neither fails nor gives anything back."""

    async def handle(event: Event) -> None:
        seen.add(event)
        await asyncio.Event().wait()

    await sqlite_store.ledger.append(fact(0))
    for round_ in range(5):
        async with members(InProcessBus(sqlite_store, BusSettings(stale_s=30)), handle):
            await seen.count(round_ + 1)
    bus = InProcessBus(sqlite_store, BusSettings(stale_s=30))
    async with members(bus, handle):
        await settled(sqlite_store.ledger, 1)

    assert seen.positions == [1] * 5
    (letter,) = await bus.dead("g")
    assert letter.tries == 5


async def test_a_stream_that_moves_on_is_no_failure_of_the_event(bus: InProcessBus, sqlite_store: SqlStore) -> None:
    """Ten members write one stream; each conflict lets its handler decide again, however many there are."""

    async def handle(event: Event) -> Sequence[Append]:
        version = len(await sqlite_store.ledger.read("tally/all"))
        data = {"position": event.position}
        return [Append("tally/all", [NewEvent("tally.grew", data)], version, "acme", "/organisation/acme")]

    await sqlite_store.ledger.append(*(fact(number) for number in range(60)))
    async with members(bus, handle, count=10):
        await settled(sqlite_store.ledger, 60)

    tally = await sqlite_store.ledger.read("tally/all")
    assert sorted(event.data["position"] for event in tally if event.data) == list(range(1, 61))
    assert await bus.dead("g") == []


async def test_a_ledger_that_is_away_uses_up_no_try(sqlite_store: SqlStore, seen: Seen) -> None:
    bus = InProcessBus(sqlite_store, BusSettings(deliveries=1))

    async def handle(event: Event) -> Sequence[Append]:
        seen.add(event)
        if len(seen.events) < 3:
            raise LedgerUnavailable("away")
        return [receipt(event)]

    await sqlite_store.ledger.append(fact(0))
    async with members(bus, handle):
        await settled(sqlite_store.ledger, 1)

    assert await receipts(sqlite_store.ledger) == [1] and await bus.dead("g") == []


async def test_one_event_that_does_not_end_holds_up_no_other(bus: InProcessBus, sqlite_store: SqlStore) -> None:
    patient, release, seen = InProcessBus(sqlite_store, BusSettings(stale_s=30)), asyncio.Event(), Seen()

    async def handle(event: Event) -> Sequence[Append]:
        if event.position == 1:
            await release.wait()
        seen.add(event)
        return [receipt(event)]

    await sqlite_store.ledger.append(*(fact(number) for number in range(300)))
    async with members(patient, handle, count=2):
        await seen.count(299)
        assert await sqlite_store.ledger.cursor("bus/g") == 0
        release.set()
        await settled(sqlite_store.ledger, 300)

    assert await receipts(sqlite_store.ledger) == list(range(1, 301))


async def test_members_of_one_process_agree_on_the_pattern(bus: InProcessBus) -> None:
    async def handle(_event: Event) -> None: ...

    async with members(bus, handle):
        await asyncio.sleep(0)
        with pytest.raises(ValueError, match="do not agree"):
            await bus.consume("g", "order.*", handle)


@pytest.mark.parametrize("name", ["", "Group", "a/b", "x" * 65])
async def test_what_is_no_name_is_no_group(bus: InProcessBus, name: str) -> None:
    async def handle(_event: Event) -> None: ...

    with pytest.raises(ValueError, match="not the name of a group"):
        await bus.consume(name, "*", handle)
