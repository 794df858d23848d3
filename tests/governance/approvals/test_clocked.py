"""What the clock does to open cards: reminded once, passed on, expired; also while nobody was there (case A4)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from contracts import DecisionCard, Outcome, WorkingHours
from governance.access import People
from governance.approvals import ApprovalGateway, CardState
from governance.approvals.index import CardIndex
from governance.asked import PeopleAsked
from governance.errors import CardClosed
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.governance.cards import DANA, MORGAN, card

pytestmark = pytest.mark.anyio
HOURS = WorkingHours(time_zone="Europe/Berlin", starts="09:00", ends="17:00")


async def raised(store: SqlStore, gateway: ApprovalGateway, **fields: Any) -> DecisionCard:
    now = gateway.clock.now()
    new = card(raised_at=now, within_s=7_200.0, remind_at=now + timedelta(hours=1), **fields)
    await store.ledger.append(gateway.card_append(new))
    return new


async def types(store: SqlStore, shown: DecisionCard) -> list[str]:
    return [event.type for event in await store.ledger.read(shown.card_id)]


async def test_who_may_decide_is_reminded_once_when_half_of_the_time_is_over(
    sqlite_store: SqlStore, gateway: ApprovalGateway, clock: HandClock
) -> None:
    shown = await raised(sqlite_store, gateway)
    sweep = PeopleAsked(sqlite_store, clock, CardIndex(sqlite_store))
    clock.advance(3_599)
    await sweep.judge_deadlines()
    assert await types(sqlite_store, shown) == ["card.raised"]
    clock.advance(1)
    for _ in range(3):
        await sweep.judge_deadlines()

    reminded = (await sqlite_store.ledger.read(shown.card_id))[-1]
    assert await types(sqlite_store, shown) == ["card.raised", "card.reminded"]
    assert reminded.data is not None and reminded.data["who"] == ["duty-managers"]
    assert (await gateway.decide(shown.card_id, person=MORGAN, approve=True, option="waive")).is_approved


async def test_a_service_that_was_down_over_both_reminds_of_nothing_that_is_over(
    sqlite_store: SqlStore, gateway: ApprovalGateway, clock: HandClock
) -> None:
    shown = await raised(sqlite_store, gateway, escalate_to=("directors",))
    clock.advance(86_400)
    await PeopleAsked(sqlite_store, clock, CardIndex(sqlite_store)).judge_deadlines()
    view = await gateway.get(shown.card_id)

    assert await types(sqlite_store, shown) == ["card.raised", "card.escalated"]
    assert (view.state, view.deadline) == (CardState.ESCALATED, clock.now() + timedelta(hours=2))
    assert view.remind_at == clock.now() + timedelta(hours=1)

    clock.advance(3_600)
    await gateway.judge(shown.card_id, clock.now())
    clock.advance(3_600)
    expired = await gateway.judge(shown.card_id, clock.now())
    assert (expired.outcome, expired.decisions) == (Outcome.EXPIRED, ())
    with pytest.raises(CardClosed, match="expired"):
        await gateway.decide(shown.card_id, person=DANA, approve=True, option="waive")


@pytest.mark.parametrize(("friday", "due"), [("2026-03-27T16:00", "2026-03-30T10:00"),
                                             ("2026-10-23T16:00", "2026-10-26T10:00")])  # fmt: skip
async def test_an_escalation_in_working_hours_waits_for_monday_over_a_clock_change(
    sqlite_store: SqlStore, friday: str, due: str
) -> None:
    zone = ZoneInfo("Europe/Berlin")
    clock = HandClock(datetime.fromisoformat(friday).replace(tzinfo=zone))
    gateway = ApprovalGateway(sqlite_store, clock, People(()), "airports")
    now = clock.now()
    new = card(
        raised_at=now - timedelta(hours=2), deadline=now, within_s=7_200.0, hours=HOURS, escalate_to=("directors",),
        remind_at=now - timedelta(hours=1),
    )  # fmt: skip
    await sqlite_store.ledger.append(gateway.card_append(new))
    view = await gateway.judge(new.card_id, clock.now())

    assert view.state is CardState.ESCALATED
    assert view.deadline == datetime.fromisoformat(due).replace(tzinfo=zone)


async def test_a_sweep_reads_only_what_is_due(store: SqlStore, clock: HandClock, gateway: ApprovalGateway) -> None:
    gateway = ApprovalGateway(store, clock, gateway.people, "airports")
    due = await raised(store, gateway)
    later = [await raised(store, gateway, deadline=clock.now() + timedelta(days=9)) for _ in range(3)]
    index = CardIndex(store)
    clock.advance(1_800)
    assert await index.due(clock.now()) == []
    clock.advance(1_800)
    assert set(await index.due(clock.now())) == {due.card_id, *(each.card_id for each in later)}
    for each in (due, *later):
        await gateway.judge(each.card_id, clock.now())
    clock.advance(3_600)
    assert await index.due(clock.now()) == [due.card_id]
