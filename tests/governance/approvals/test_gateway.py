"""Cases A1, A3, A4 and A5 on a real store."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from contracts import CardId, DecisionCard, Outcome
from governance.access import People, Person
from governance.approvals import ApprovalGateway, CardState, CardView, card_sha256
from governance.approvals.index import CardIndex
from governance.asked import still_asks
from governance.errors import CardClosed, NotAllowedToDecide, UnknownOption
from runtime.errors import InvalidArguments, NotFound
from runtime.ledger import open_store
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock
from tests.governance.cards import ALEX, DANA, KIM, MORGAN, ORGANISATION, PEOPLE, ROBIN, SAM, VERA, card

pytestmark = pytest.mark.anyio


async def raised(store: SqlStore, gateway: ApprovalGateway, **fields: Any) -> DecisionCard:
    new = card(**fields)
    await store.ledger.append(gateway.card_append(new))
    return new


async def judged_all(store: SqlStore, gateway: ApprovalGateway) -> list[CardView]:
    """Let the clock have its effect on every card that is due, as a sweep does; return those that changed."""
    now = gateway.clock.now()
    return [await gateway.judge(card_id, now) for card_id in await CardIndex(store).due(now)]


async def test_a_yes_approves_and_carries_the_hash_of_what_was_shown(
    sqlite_store: SqlStore, gateway: ApprovalGateway
) -> None:
    shown = await raised(sqlite_store, gateway)
    view = await gateway.decide(shown.card_id, person=MORGAN, approve=True, option="waive", reason="storm", via="cli")
    assert (view.state, view.outcome, view.decided_by) == (CardState.APPROVED, Outcome.APPROVED, "morgan")
    assert view.decisions[0].card_sha256 == card_sha256(shown)
    assert await gateway.get(shown.card_id) == view


async def test_a_no_denies(sqlite_store: SqlStore, gateway: ApprovalGateway) -> None:
    shown = await raised(sqlite_store, gateway)
    view = await gateway.decide(shown.card_id, person=MORGAN, approve=False, reason="too dear")
    assert (view.outcome, view.chosen) == (Outcome.DENIED, None)


@pytest.mark.parametrize("approve", [None, "yes", 1, {}, "true"])
async def test_only_an_explicit_yes_is_a_yes(sqlite_store: SqlStore, gateway: ApprovalGateway, approve: Any) -> None:
    shown = await raised(sqlite_store, gateway)
    with pytest.raises(InvalidArguments, match="only an explicit yes"):
        await gateway.decide(shown.card_id, person=MORGAN, approve=approve, option="waive")
    assert (await gateway.get(shown.card_id)).is_open


@pytest.mark.parametrize(("approve", "option"), [(True, None), (True, "refund"), (True, ""), (False, "waive")])
async def test_a_decision_that_names_no_option_of_the_card_is_answered_with_those_there_are(
    sqlite_store: SqlStore, gateway: ApprovalGateway, approve: bool, option: str | None
) -> None:
    shown = await raised(sqlite_store, gateway)
    with pytest.raises(UnknownOption) as refused:
        await gateway.decide(shown.card_id, person=MORGAN, approve=approve, option=option)
    assert refused.value.facts["options"] == ["waive", "nothing"]
    assert (await gateway.get(shown.card_id)).is_open


async def test_an_unknown_card_is_not_found(gateway: ApprovalGateway) -> None:
    with pytest.raises(NotFound):
        await gateway.decide(CardId.new(), person=MORGAN, approve=True, option="waive")


async def test_another_organisation_does_not_see_the_card(
    sqlite_store: SqlStore, gateway: ApprovalGateway, clock: HandClock
) -> None:
    shown = await raised(sqlite_store, gateway)
    other = ApprovalGateway(sqlite_store, clock, People(PEOPLE), "harbour")
    assert await CardIndex(sqlite_store).newest(organisation="harbour") == []
    with pytest.raises(NotFound):
        await other.get(shown.card_id)


async def test_a_card_that_is_not_what_was_on_the_screen_is_not_decided(
    sqlite_store: SqlStore, gateway: ApprovalGateway
) -> None:
    shown = await raised(sqlite_store, gateway)
    with pytest.raises(InvalidArguments, match="What was shown"):
        await gateway.decide(shown.card_id, person=MORGAN, approve=True, option="waive", shown_sha256="0" * 64)


@pytest.mark.parametrize("person", [ROBIN, KIM, VERA, DANA, Person("eve", "Eve")])
async def test_nobody_decides_who_is_not_asked_or_asked_themselves(
    sqlite_store: SqlStore, gateway: ApprovalGateway, person: Person
) -> None:
    shown = await raised(sqlite_store, gateway)
    with pytest.raises(NotAllowedToDecide):
        await gateway.decide(shown.card_id, person=person, approve=True, option="waive")
    assert (await gateway.get(shown.card_id)).decisions == ()


async def test_the_second_to_decide_is_told_who_was_first(sqlite_store: SqlStore, gateway: ApprovalGateway) -> None:
    shown = await raised(sqlite_store, gateway)
    await gateway.decide(shown.card_id, person=MORGAN, approve=True, option="waive")
    with pytest.raises(CardClosed, match=r"was approved by morgan .* option waive"):
        await gateway.decide(shown.card_id, person=SAM, approve=False, reason="no")


async def test_a_second_click_of_the_same_person_is_told_that_they_decided(
    sqlite_store: SqlStore, gateway: ApprovalGateway
) -> None:
    shown = await raised(sqlite_store, gateway)
    await gateway.decide(shown.card_id, person=MORGAN, approve=True, option="waive")
    with pytest.raises(CardClosed, match=r"Morgan Lee already decided .* yes to waive"):
        await gateway.decide(shown.card_id, person=MORGAN, approve=True, option="waive")
    assert len((await gateway.get(shown.card_id)).decisions) == 1


async def test_of_a_yes_and_a_no_at_once_exactly_one_wins_however_often(
    sqlite_store: SqlStore, gateway: ApprovalGateway
) -> None:
    async def decide(card_id: CardId, person: Person, option: str | None) -> str:
        try:
            await gateway.decide(card_id, person=person, approve=option is not None, option=option, reason="because")
        except CardClosed as closed:
            return f"told {closed.facts['by']}"
        return "won"

    for _ in range(150):
        shown = await raised(sqlite_store, gateway)
        answers = await asyncio.gather(decide(shown.card_id, MORGAN, "waive"), decide(shown.card_id, SAM, None))
        view = await gateway.get(shown.card_id)
        assert len(view.decisions) == 1
        assert sorted(answers) == [f"told {view.decided_by}", "won"]


async def test_of_two_processes_that_decide_at_once_one_wins(
    sqlite_store: SqlStore, gateway: ApprovalGateway, clock: HandClock, tmp_path: Path
) -> None:
    elsewhere = await open_store(LedgerSettings(synchronous="NORMAL"), home=tmp_path, clock=clock)
    other = ApprovalGateway(elsewhere, clock, People(PEOPLE), ORGANISATION)
    for _ in range(20):
        shown = await raised(sqlite_store, gateway)
        answers = await asyncio.gather(
            gateway.decide(shown.card_id, person=MORGAN, approve=True, option="waive"),
            other.decide(shown.card_id, person=SAM, approve=False, reason="no"),
            return_exceptions=True,
        )
        assert [type(answer) for answer in answers].count(CardClosed) == 1
        assert len((await other.get(shown.card_id)).decisions) == 1
    await elsewhere.close()


async def test_a_quorum_counts_different_people(sqlite_store: SqlStore, gateway: ApprovalGateway) -> None:
    shown = await raised(sqlite_store, gateway, quorum=2)
    first = await gateway.decide(shown.card_id, person=MORGAN, approve=True, option="waive")
    assert first.is_open and still_asks(await sqlite_store.ledger.read(shown.card_id))
    with pytest.raises(CardClosed, match=r"already decided .* waits for 1 more"):
        await gateway.decide(shown.card_id, person=MORGAN, approve=True, option="waive")
    second = await gateway.decide(shown.card_id, person=SAM, approve=True, option="waive")
    assert second.outcome is Outcome.APPROVED
    assert not still_asks(await sqlite_store.ledger.read(shown.card_id))


async def test_a_quorum_is_for_one_option(sqlite_store: SqlStore, gateway: ApprovalGateway) -> None:
    shown = await raised(sqlite_store, gateway, quorum=2)
    await gateway.decide(shown.card_id, person=MORGAN, approve=True, option="waive")
    split = await gateway.decide(shown.card_id, person=SAM, approve=True, option="nothing")
    assert split.is_open
    third = await gateway.decide(shown.card_id, person=ALEX, approve=True, option="nothing")
    assert third.chosen is not None
    assert third.chosen.id == "nothing"


async def test_a_double_vote_at_once_counts_once(sqlite_store: SqlStore, gateway: ApprovalGateway) -> None:
    for _ in range(20):
        shown = await raised(sqlite_store, gateway, quorum=2)
        votes = [gateway.decide(shown.card_id, person=MORGAN, approve=True, option="waive") for _ in range(3)]
        answers = await asyncio.gather(*votes, return_exceptions=True)
        assert sum(isinstance(answer, CardClosed) for answer in answers) == 2
        assert (await gateway.get(shown.card_id)).is_open


async def test_one_no_denies_whatever_the_quorum(sqlite_store: SqlStore, gateway: ApprovalGateway) -> None:
    shown = await raised(sqlite_store, gateway, quorum=2)
    await gateway.decide(shown.card_id, person=MORGAN, approve=True, option="waive")
    assert (await gateway.decide(shown.card_id, person=SAM, approve=False, reason="no")).outcome is Outcome.DENIED


async def test_a_deadline_that_passed_while_nothing_ran_is_an_expiry_not_a_no(
    sqlite_store: SqlStore, gateway: ApprovalGateway, clock: HandClock
) -> None:
    shown = await raised(sqlite_store, gateway)
    clock.advance(3 * 86_400)
    [judged] = await judged_all(sqlite_store, gateway)
    assert (judged.outcome, judged.decisions) == (Outcome.EXPIRED, ())
    assert await judged_all(sqlite_store, gateway) == []
    assert await CardIndex(sqlite_store).waiting() == []
    assert (await gateway.get(shown.card_id)).deadline == shown.deadline


async def test_a_late_click_is_told_that_the_card_expired_even_when_nobody_judged_it(
    sqlite_store: SqlStore, gateway: ApprovalGateway, clock: HandClock
) -> None:
    shown = await raised(sqlite_store, gateway)
    clock.advance(7_200)
    with pytest.raises(CardClosed, match="expired: nobody decided it by 2013-02-09 00:00 UTC") as late:
        await gateway.decide(shown.card_id, person=MORGAN, approve=True, option="waive")
    assert late.value.facts["outcome"] == "expired"
    assert (await gateway.get(shown.card_id)).outcome is Outcome.EXPIRED


async def test_a_card_is_passed_on_once_with_as_much_time_again(
    sqlite_store: SqlStore, gateway: ApprovalGateway, clock: HandClock
) -> None:
    shown = await raised(sqlite_store, gateway, escalate_to=("directors",))
    clock.advance(86_400)
    [passed_on] = await judged_all(sqlite_store, gateway)
    assert (passed_on.state, passed_on.who) == (CardState.ESCALATED, ("directors",))
    assert passed_on.deadline == clock.now() + timedelta(hours=2)
    with pytest.raises(NotAllowedToDecide):
        await gateway.decide(shown.card_id, person=MORGAN, approve=True, option="waive")
    assert (await gateway.decide(shown.card_id, person=DANA, approve=True, option="waive")).decided_by == "dana"


async def test_a_card_passed_on_in_vain_expires(
    sqlite_store: SqlStore, gateway: ApprovalGateway, clock: HandClock
) -> None:
    await raised(sqlite_store, gateway, escalate_to=("directors",))
    clock.advance(7_200)
    await judged_all(sqlite_store, gateway)
    clock.advance(7_200)
    [judged] = await judged_all(sqlite_store, gateway)
    assert judged.outcome is Outcome.EXPIRED


@pytest.mark.parametrize("night", [datetime(2013, 3, 9, 23), datetime(2013, 11, 2, 23)])
async def test_a_deadline_over_a_clock_change_is_counted_in_real_hours(sqlite_store: SqlStore, night: datetime) -> None:
    evening = night.replace(tzinfo=ZoneInfo("America/New_York")).astimezone(UTC)
    clock = HandClock(evening)
    gateway = ApprovalGateway(sqlite_store, clock, People(PEOPLE), ORGANISATION)
    await raised(sqlite_store, gateway, raised_at=evening, deadline=evening + timedelta(hours=8))
    clock.advance(8 * 3_600 - 1)
    assert await judged_all(sqlite_store, gateway) == []
    clock.advance(1)
    [judged] = await judged_all(sqlite_store, gateway)
    assert judged.outcome is Outcome.EXPIRED


async def test_judging_deadlines_twice_at_once_changes_a_card_once(
    sqlite_store: SqlStore, gateway: ApprovalGateway, clock: HandClock
) -> None:
    shown = await raised(sqlite_store, gateway, escalate_to=("directors",))
    clock.advance(7_200)
    await asyncio.gather(*(judged_all(sqlite_store, gateway) for _ in range(5)))
    assert (await gateway.get(shown.card_id)).version == 2


async def test_a_withdrawn_card_takes_no_decision(sqlite_store: SqlStore, gateway: ApprovalGateway) -> None:
    shown = await raised(sqlite_store, gateway)
    assert (await gateway.withdraw(shown.card_id, "cancelled")).outcome is Outcome.WITHDRAWN
    with pytest.raises(CardClosed, match="was withdrawn: cancelled"):
        await gateway.decide(shown.card_id, person=MORGAN, approve=True, option="waive")
    assert (await gateway.withdraw(shown.card_id, "again")).reason == "cancelled"


async def test_open_cards_come_with_the_nearest_deadline_first(
    sqlite_store: SqlStore, gateway: ApprovalGateway, clock: HandClock
) -> None:
    late = await raised(sqlite_store, gateway, deadline=clock.now() + timedelta(days=2))
    soon = await raised(sqlite_store, gateway)
    done = await raised(sqlite_store, gateway)
    await gateway.decide(done.card_id, person=MORGAN, approve=False, reason="no")
    assert await CardIndex(sqlite_store).waiting() == [soon.card_id, late.card_id]
    assert len(await CardIndex(sqlite_store).newest()) == 3
