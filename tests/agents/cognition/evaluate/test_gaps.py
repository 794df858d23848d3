"""What fails, or is handed to people, again and again is proposed once as a skill; nothing changes by itself."""

from __future__ import annotations

from typing import Any

import pytest

from agents.cognition.evaluate import Proposals
from agents.cognition.evaluate.gaps import GapKind
from console.texts import LANGUAGES, say_in
from contracts import CardKind, QuestionId
from governance.approvals import ApprovalGateway
from governance.approvals.access_cards import access_card
from governance.approvals.effect_cards import offers_to_act
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings.evaluation import EvaluationSettings
from tests.fakes.clock import HandClock
from tests.governance.cards import MORGAN, NOW, ORGANISATION, RULES, effect, order

pytestmark = pytest.mark.anyio


@pytest.fixture
def proposals(sqlite_store: SqlStore, gateway: ApprovalGateway, clock: HandClock) -> Proposals:
    return Proposals(
        sqlite_store.ledger, gateway, RULES, ORGANISATION, EvaluationSettings(), clock=clock,
        languages={name: say_in(name) for name in LANGUAGES},
    )  # fmt: skip


async def fails(store: SqlStore, code: str = "ORDER_NOT_MET", category: str = "business", **fields: Any) -> None:
    told = order(**{"skill": "explain", **fields})
    error = {"code": code, "category": category, "message": "It was not met.", "facts": {"step": "cause"}}
    events = (
        NewEvent("order.accepted", {"order": told.to_json()}),
        NewEvent("order.finished", {"report": {"order_id": told.order_id, "state": "failed", "error": error}}),
    )
    await store.ledger.append(Append(str(told.order_id), events, 0, ORGANISATION, "/test", told.execution_id))


async def is_unclear(store: SqlStore, goal: str) -> None:
    told = order(skill=None, objective=goal)
    accepted = NewEvent("order.accepted", {"order": told.to_json()})
    question = {
        "question_id": QuestionId.new(), "execution_id": told.execution_id, "order_id": told.order_id, "step": "plan",
        "text": {"en": "Which skill reaches it?"},
    }  # fmt: skip
    asked = NewEvent("question.asked", {"question": question})
    await store.ledger.append(
        Append(str(told.order_id), (accepted,), 0, ORGANISATION, "/test", told.execution_id),
        Append(str(question["question_id"]), (asked,), 0, ORGANISATION, "/test", told.execution_id),
    )


async def test_the_same_failure_in_three_executions_is_proposed_once(
    proposals: Proposals, sqlite_store: SqlStore, gateway: ApprovalGateway
) -> None:
    for _ in range(2):
        await fails(sqlite_store)
    assert await proposals.propose() == []

    await fails(sqlite_store)
    [gap] = await proposals.propose()
    await fails(sqlite_store)
    assert await proposals.propose() == []

    card = (await gateway.get(gap.card)).card
    assert (gap.kind, gap.about, len(gap.cases)) == (GapKind.FAILURE, "explain ORDER_NOT_MET", 3)
    assert card.kind is CardKind.PROPOSAL and not offers_to_act(card)
    assert [option.id for option in card.options] == ["draft", "nothing"]
    assert all(str(case["execution"]) in str(card.proposes["draft"]) for case in gap.cases)
    assert {"case 1", "case 2", "case 3"} <= card.facts.keys()


async def test_goals_that_differ_in_their_date_alone_are_of_a_kind(
    proposals: Proposals, sqlite_store: SqlStore
) -> None:
    for day in ("2013-02-08", "2013-02-09", "2013-02-10"):
        await is_unclear(sqlite_store, f"Order catering for {day}")
    await is_unclear(sqlite_store, "Order buses for 2013-02-08")
    [gap] = await proposals.propose()

    assert (gap.kind, gap.about) == (GapKind.HAND_OVER, "order catering for …")
    assert "Goals like “Order catering for 2013-02-08”" in gap.draft


async def test_calls_that_people_make_in_our_place_are_a_gap(
    proposals: Proposals, sqlite_store: SqlStore, gateway: ApprovalGateway
) -> None:
    for choice in ("done", "done", "leave", "done"):
        told = order(skill="explain")
        refused = access_card(effect(told), "403 Forbidden", RULES["money"], say_in, NOW)
        accepted = NewEvent("order.accepted", {"order": told.to_json()})
        begun = Append(str(told.order_id), (accepted,), 0, ORGANISATION, "/test", told.execution_id)
        await sqlite_store.ledger.append(begun, gateway.card_append(refused))
        await gateway.decide(refused.card_id, person=MORGAN, approve=True, option=choice)
    [gap] = await proposals.propose()

    assert (gap.kind, gap.about, len(gap.cases)) == (GapKind.BY_HAND, "desk.waive_fees", 3)


@pytest.mark.parametrize(
    ("code", "category"), [("NETWORK_FAULT", "network"), ("REFUSED", "permission"), ("ORDER_FAILED", "business")]
)
async def test_what_no_skill_could_spare_is_no_gap(
    proposals: Proposals, sqlite_store: SqlStore, code: str, category: str
) -> None:
    for _ in range(5):
        await fails(sqlite_store, code, category)

    assert await proposals.propose() == []


async def test_old_cases_do_not_count(proposals: Proposals, sqlite_store: SqlStore, clock: HandClock) -> None:
    for _ in range(2):
        await fails(sqlite_store)
    clock.advance(31 * 86_400)
    await fails(sqlite_store)

    assert await proposals.propose() == []


async def test_a_yes_changes_nothing_but_the_card(
    proposals: Proposals, sqlite_store: SqlStore, gateway: ApprovalGateway
) -> None:
    for _ in range(3):
        await fails(sqlite_store)
    [gap] = await proposals.propose()
    head = await sqlite_store.ledger.head()
    view = await gateway.decide(gap.card, person=MORGAN, approve=True, option="draft")

    assert view.chosen is not None and view.chosen.actions == ()
    assert await sqlite_store.ledger.head() == head + 1
