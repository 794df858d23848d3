"""What people were asked, across organisations: deadlines have their effect once, and it is told what was settled."""

from __future__ import annotations

from datetime import timedelta

import pytest

from contracts import ExecutionId, OrderId, Question, QuestionId
from governance.access import People
from governance.approvals import ApprovalGateway
from governance.approvals.index import CardIndex
from governance.asked import PeopleAsked
from governance.errors import CardClosed, NotAllowedToDecide
from governance.questions import ASKED, QuestionDesk
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.governance.cards import MORGAN, ORGANISATION, PEOPLE, VERA, card

pytestmark = pytest.mark.anyio


async def asked(store: SqlStore, clock: HandClock, *, within_s: float | None, who: str | None = None) -> QuestionId:
    question = Question(
        question_id=QuestionId.new(),
        execution_id=ExecutionId.new(),
        order_id=OrderId.new(),
        step="ask",
        text="Which day?",
        who=who,
        asked_at=clock.now(),
        deadline=None if within_s is None else clock.now() + timedelta(seconds=within_s),
    )
    event = NewEvent(ASKED, {"question": question.to_json()})
    await store.ledger.append(Append(question.question_id, [event], 0, ORGANISATION, "/test"))
    return question.question_id


async def types(store: SqlStore, stream: str) -> list[str]:
    return [event.type for event in await store.ledger.read(stream)]


async def test_a_question_expires_once_and_takes_no_answer_afterwards(store: SqlStore, clock: HandClock) -> None:
    late, open_ = await asked(store, clock, within_s=60), await asked(store, clock, within_s=None)
    people = PeopleAsked(store, clock, CardIndex(store))
    await people.judge_deadlines()
    assert await types(store, late) == [ASKED]

    clock.advance(60)
    for judge in (people, PeopleAsked(store, clock, CardIndex(store)), people):
        await judge.judge_deadlines()

    assert await types(store, late) == [ASKED, "question.expired"]
    assert await types(store, open_) == [ASKED]
    with pytest.raises(CardClosed, match="nobody answered in time"):
        await QuestionDesk(store, clock).answer(late, "monday", person=MORGAN, people=People(PEOPLE))


async def test_who_may_only_look_answers_nothing_unless_asked_by_name(store: SqlStore, clock: HandClock) -> None:
    question, people = await asked(store, clock, within_s=None), People(PEOPLE)

    with pytest.raises(NotAllowedToDecide, match="may look but not act"):
        await QuestionDesk(store, clock).answer(question, "monday", person=VERA, people=people)

    assert await types(store, question) == [ASKED]
    by_name = await asked(store, clock, within_s=None, who="duty-managers")
    await QuestionDesk(store, clock).answer(by_name, "monday", person=VERA, people=people)


async def test_cards_of_every_organisation_expire(store: SqlStore, clock: HandClock) -> None:
    cards = [card(organisation=name) for name in (ORGANISATION, "harbour")]
    for each in cards:
        gateway = ApprovalGateway(store, clock, People(PEOPLE), each.organisation)
        await store.ledger.append(gateway.card_append(each))
    people = PeopleAsked(store, clock, CardIndex(store))
    await people.judge_deadlines()
    clock.advance(365 * 86_400)
    await people.judge_deadlines()
    await people.judge_deadlines()

    for each in cards:
        last = (await types(store, each.card_id))[-1]
        assert last in ("card.expired", "card.escalated")


async def test_one_that_cannot_be_judged_hinders_no_other(
    sqlite_store: SqlStore, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    broken = Append("question/broken", [NewEvent(ASKED, {"question": {"no": "question"}})], 0, ORGANISATION, "/test")
    await sqlite_store.ledger.append(broken)
    late = await asked(sqlite_store, clock, within_s=60)
    clock.advance(60)
    people = PeopleAsked(sqlite_store, clock, CardIndex(sqlite_store))
    await people.judge_deadlines()
    await people.judge_deadlines()

    assert await types(sqlite_store, late) == [ASKED, "question.expired"]
    assert caplog.text.count("the deadline of question/broken cannot be judged") == 1


class Stumbling:
    """Cannot read on until it is mended."""

    mended = False
    read = 0

    async def catch_up(self) -> None:
        if not self.mended:
            raise ValueError("It is broken.")
        self.read += 1


async def test_a_follower_that_fails_hinders_no_deadline_and_is_tried_again(
    sqlite_store: SqlStore, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    late, follower = await asked(sqlite_store, clock, within_s=60), Stumbling()
    clock.advance(60)
    people = PeopleAsked(sqlite_store, clock, CardIndex(sqlite_store), (follower,))
    for _ in range(2):
        await people.judge_deadlines()
    assert await types(sqlite_store, late) == [ASKED, "question.expired"]
    assert caplog.text.count("Stumbling cannot record what follows for cards") == 1

    follower.mended = True
    await people.judge_deadlines()
    assert follower.read == 1


async def test_what_was_settled_counts_from_where_it_was_settled(store: SqlStore, clock: HandClock) -> None:
    question = await asked(store, clock, within_s=None)
    gateway = ApprovalGateway(store, clock, People(PEOPLE), ORGANISATION)
    shown = card()
    await store.ledger.append(gateway.card_append(shown))
    people, before = PeopleAsked(store, clock, CardIndex(store)), await store.ledger.head()
    both = (question, shown.card_id)
    assert not await people.settled(both, after=0)

    await gateway.decide(shown.card_id, person=MORGAN, approve=False, reason="no")
    decided = await store.ledger.head()
    assert await people.settled(both, after=before)
    assert not await people.settled(both, after=decided)

    await QuestionDesk(store, clock).answer(question, "monday", person=MORGAN, people=People(PEOPLE))
    assert await people.settled(both, after=decided)


async def test_what_was_erased_hinders_no_list_of_the_others(store: SqlStore, clock: HandClock) -> None:
    gone, there = await asked(store, clock, within_s=None), await asked(store, clock, within_s=None)
    gateway = ApprovalGateway(store, clock, People(PEOPLE), ORGANISATION)
    gone_card, there_card = card(), card()
    await store.ledger.append(gateway.card_append(gone_card), gateway.card_append(there_card))
    for stream in (gone, gone_card.card_id):
        await store.ledger.erase(stream, 1)

    assert [each.question_id for each in await QuestionDesk(store, clock).open_questions()] == [there]
    assert await CardIndex(store).waiting() == [there_card.card_id]
