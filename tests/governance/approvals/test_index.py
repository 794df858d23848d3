"""The table of cards on each store: in order, page by page, made again, and never behind what happened."""

from __future__ import annotations

from datetime import timedelta

import pytest

from contracts import CardId, DecisionCard
from governance.access import People
from governance.approvals import ApprovalGateway
from governance.approvals.index import CardIndex
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.governance.cards import MORGAN, ORGANISATION, PEOPLE, card

pytestmark = pytest.mark.anyio


@pytest.fixture
def gateway(store: SqlStore, clock: HandClock) -> ApprovalGateway:
    return ApprovalGateway(store, clock, People(PEOPLE), ORGANISATION)


async def raised(store: SqlStore, gateway: ApprovalGateway, number: int) -> list[DecisionCard]:
    now = gateway.clock.now()
    made = [card(deadline=now + timedelta(hours=number - each)) for each in range(number)]
    await store.ledger.append(*(gateway.card_append(each) for each in made))
    return made


async def test_waiting_cards_come_page_by_page_by_deadline_and_none_twice(
    store: SqlStore, gateway: ApprovalGateway
) -> None:
    made, index = await raised(store, gateway, 7), CardIndex(store)
    found: list[CardId] = []
    while True:
        after = await gateway.get(found[-1]) if found else None
        page = await index.waiting(organisation=ORGANISATION, after=after, limit=3)
        if not page:
            break
        found += page
    assert found == [each.card_id for each in reversed(made)]
    newest = await index.newest(limit=4)
    assert [*newest, *await index.newest(before=newest[-1])] == sorted((each.card_id for each in made), reverse=True)


async def test_another_reader_sees_at_once_what_this_one_decided(store: SqlStore, gateway: ApprovalGateway) -> None:
    made, here, there = await raised(store, gateway, 3), CardIndex(store), CardIndex(store)
    assert len(await here.waiting()) == len(await there.waiting()) == 3
    await gateway.decide(made[0].card_id, person=MORGAN, approve=False, reason="no")
    assert await there.count_waiting() == 2
    assert made[0].card_id not in await here.waiting()
    assert await here.of_execution(made[0].execution_id) == [made[0].card_id]


async def test_it_makes_itself_again_from_events(store: SqlStore, gateway: ApprovalGateway) -> None:
    made, index = await raised(store, gateway, 5), CardIndex(store)
    await gateway.decide(made[0].card_id, person=MORGAN, approve=True, option="waive")
    before = await index.waiting(), await index.newest()
    assert await index.rebuild() == 5
    assert (await index.waiting(), await index.newest()) == before


async def test_a_card_that_was_pruned_or_erased_is_not_listed(store: SqlStore, gateway: ApprovalGateway) -> None:
    made, index = await raised(store, gateway, 3), CardIndex(store)
    assert len(await index.waiting()) == 3
    await store.ledger.prune({made[0].card_id: 1}, reason="test")
    await store.ledger.erase(made[1].card_id, 1)
    assert made[0].card_id not in await index.waiting()
    await index.rebuild()
    assert await index.waiting() == [made[2].card_id]
