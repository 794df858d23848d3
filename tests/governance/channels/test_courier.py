"""Who is told what, nothing lost and nothing told twice as far as a channel allows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from contracts import CardId, Edit, Event
from governance.access import Departments, People, Role, Scope
from governance.approvals.delegations import Delegations
from governance.channels import DeliveryState
from governance.channels.delivery import fold_delivery
from governance.channels.errors import NeverTaken, NotDelivered
from governance.channels.told import Told
from runtime.errors import LedgerUnavailable
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.governance.cards import MORGAN, ORGANISATION, card
from tests.governance.channels.conftest import World

pytestmark = pytest.mark.anyio


async def raise_card(world: World, **fields: object) -> str:
    now = world.clock.now()
    raised = card(raised_at=now, **{"remind_at": now + timedelta(hours=1), **fields})
    await world.store.ledger.append(world.gateway.card_append(raised))
    return raised.card_id


async def judge(world: World) -> None:
    """Let the clock have its effect on every card."""
    for stream in await world.store.ledger.streams("card"):
        await world.gateway.judge(CardId(stream), world.clock.now())


async def deliveries(world: World) -> list[DeliveryState]:
    streams = await world.store.ledger.streams("delivery")
    return [fold_delivery(await world.store.ledger.read(stream)).state for stream in streams]


async def test_a_new_card_is_told_to_those_who_decide_it_with_a_link_that_shows_it(world: World) -> None:
    card_id = await raise_card(world)
    await world.courier().step()
    ((to, delivery, link),) = world.sent.got
    assert to == "morgan by hook"  # Sam is told from severity high on, Robin asked, Dana is not asked
    assert delivery.title == "Decision needed: Waive the fees?"
    assert "472 flights" in delivery.text
    assert "2013-02-08 19:00 EST" in delivery.text
    assert link == f"https://silicon.example.org/api/v1/approvals/{card_id.partition('/')[2]}"


async def test_a_reminder_an_escalation_and_an_expiry_are_told_each_to_whom_they_concern(world: World) -> None:
    await raise_card(world, escalate_to=("directors",))
    courier = world.courier()
    for minutes in (61, 60, 125):
        world.clock.advance(minutes * 60)
        await judge(world)
        await courier.step()
    told = world.sent.titles()
    assert ("sam by mail", "Still waits for a decision: Waive the fees?") in told
    assert ("dana by hook", "Passed on to you, nobody decided in time: Waive the fees?") in told
    assert ("dana by hook", "Expired without a decision: Waive the fees?") in told


async def test_a_card_that_was_decided_before_anybody_looked_is_not_told(world: World) -> None:
    raised = card(raised_at=world.clock.now())
    await world.store.ledger.append(world.gateway.card_append(raised))
    await world.gateway.decide(raised.card_id, person=world.people[0], approve=False, reason="no")
    await world.courier().step()
    assert world.sent.got == []


async def test_what_happened_before_channels_were_looked_after_is_not_told(world: World) -> None:
    await raise_card(world)
    late = world.courier()
    late.name = "channels/other"
    await late.step()
    assert world.sent.got == []


async def test_a_process_killed_after_it_queued_loses_nothing_and_tells_nothing_twice(world: World) -> None:
    await raise_card(world)
    await world.courier().collect()  # killed here
    await world.courier().step()
    await world.courier().step()
    assert [to for to, _, _ in world.sent.got] == ["morgan by hook"]


async def test_a_process_killed_after_it_sent_sends_once_more_under_the_same_id(world: World) -> None:
    await raise_card(world)
    ledger = world.store.ledger
    courier = world.courier()
    await courier.collect()

    taking = world.sent.send

    async def taken_and_killed(*arguments: object) -> None:
        await taking(*arguments)  # type: ignore[arg-type]
        raise asyncio.CancelledError

    world.sent.send = taken_and_killed  # type: ignore[method-assign]
    with pytest.raises(asyncio.CancelledError):
        await courier.send()
    world.sent.send = taking  # type: ignore[method-assign]
    await world.courier().step()
    first, second = (delivery for _, delivery, _ in world.sent.got)
    assert first.delivery_id == second.delivery_id
    assert await ledger.streams("delivery") == [first.delivery_id]


async def test_two_couriers_at_once_queue_each_message_once(world: World) -> None:
    await raise_card(world)
    await asyncio.gather(*(world.courier().collect() for _ in range(4)))
    assert await deliveries(world) == [DeliveryState.WAITING]


@pytest.mark.parametrize("kind", ["card", "delivery"])
async def test_what_the_ledger_cannot_read_for_a_moment_is_told_once_it_can(
    world: World, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    first, _ = await raise_card(world), await raise_card(world, about="another")
    courier, read = world.courier(), world.store.ledger.read

    async def away(stream: str, **rest: int) -> Sequence[Event]:
        if stream == first if kind == "card" else stream.startswith("delivery/"):
            raise LedgerUnavailable("The database is away.")
        return await read(stream, **rest)

    monkeypatch.setattr(world.store.ledger, "read", away)
    with suppress(LedgerUnavailable):
        await courier.step()
    monkeypatch.undo()
    await courier.step()
    assert len(world.sent.got) == 2


async def test_a_channel_that_fails_is_tried_again_later_and_later_then_given_up(world: World) -> None:
    world.sent.fails = lambda delivery: NotDelivered("the hook answered 503")
    await raise_card(world)
    courier, tries = world.courier(), []
    for wait in (0, 9, 1, 19, 1, 3_600):
        world.clock.advance(wait)
        await courier.step()
        streams = await world.store.ledger.streams("delivery")
        tries.append(fold_delivery(await world.store.ledger.read(streams[0])).attempts)
    assert tries == [1, 1, 2, 2, 3, 3]
    assert await deliveries(world) == [DeliveryState.DEAD]


async def test_what_the_other_side_never_takes_is_given_up_at_once(world: World) -> None:
    world.sent.fails = lambda delivery: NeverTaken("gone")
    await raise_card(world)
    await world.courier().step()
    assert await deliveries(world) == [DeliveryState.DEAD]


async def test_in_quiet_hours_only_what_is_worse_is_told_and_the_rest_at_their_end(world: World) -> None:
    world.clock.advance(6 * 3_600)  # 23:00 in New York
    await raise_card(world)
    courier = world.courier()
    world.clock.advance(3_660)
    await judge(world)  # a reminder, of severity high
    await courier.step()
    assert ("sam by mail", "Still waits for a decision: Waive the fees?") not in world.sent.titles()
    world.clock.advance(7 * 3_600)
    await courier.step()
    assert ("sam by mail", "Still waits for a decision: Waive the fees?") in world.sent.titles()


async def test_a_person_who_is_not_told_any_more_gets_nothing_that_was_on_its_way(world: World) -> None:
    await raise_card(world)
    await world.courier().collect()
    world.people = tuple(replace(person, notify=()) for person in world.people)
    await world.courier().step()
    assert world.sent.got == []
    assert await deliveries(world) == [DeliveryState.DROPPED]


async def test_a_card_of_another_department_is_not_told(world: World) -> None:
    elsewhere = (Scope("delay-desk", frozenset({Role.APPROVER})),)
    world.people = tuple(replace(person, roles=frozenset(), scopes=elsewhere) for person in world.people)
    tree = Departments({"delay-desk": "head", "cancellation-desk": "head"})

    async def told(organisation: str) -> Told | None:
        known = await World.told(world, organisation)
        return None if known is None else replace(known, people=People(world.people, tree))

    world.told = told  # type: ignore[method-assign]
    await raise_card(world, employee="cancellation-desk")
    await world.courier().step()
    assert world.sent.got == []


async def test_who_decided_already_is_not_reminded(world: World) -> None:
    card_id = await raise_card(world, quorum=2)
    await world.gateway.decide(CardId(card_id), person=world.people[0], approve=True, option="waive")
    world.clock.advance(3_660)
    await judge(world)
    await world.courier().step()
    assert [to for to, title in world.sent.titles() if title.startswith("Still")] == ["sam by mail"]


async def test_who_decides_in_the_place_of_somebody_is_told_as_well(world: World) -> None:
    now, people = world.clock.now(), People(world.people)
    await Delegations(world.store.ledger, world.clock, ORGANISATION).make(
        people, giver="morgan", taker="dana", starts_at=now, ends_at=now + timedelta(days=1), by=MORGAN, via="cli"
    )
    await raise_card(world)
    await world.courier().step()
    assert sorted(to for to, _, _ in world.sent.got) == ["dana by hook", "morgan by hook"]


async def test_after_an_edit_everybody_is_asked_anew_but_who_edited(world: World) -> None:
    card_id = CardId(await raise_card(world))
    view = await world.gateway.get(card_id)
    acts = view.card.options[0].actions
    edit = Edit(card_id=card_id, option="waive", before=acts, after=acts, by="morgan", at=world.clock.now(), via="test")
    await world.gateway.event(view, "card.edited", edit=edit)
    await world.courier().step()
    assert [to for to, title in world.sent.titles() if title.startswith("Edited")] == ["sam by mail"]


async def test_on_every_database_each_message_is_queued_once_and_sent(store: SqlStore, clock: HandClock) -> None:
    world = World(store, clock)
    await world.courier().step()
    await raise_card(world)
    await asyncio.gather(*(world.courier().collect() for _ in range(3)))
    await world.courier().step()
    await world.courier().step()
    assert [to for to, _, _ in world.sent.got] == ["morgan by hook"]
    assert await deliveries(world) == [DeliveryState.SENT]
