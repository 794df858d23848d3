"""Effects of which nobody knows whether they happened: a person says, and each answer counts for one doubt."""

from dataclasses import replace
from typing import Any

import pytest

from contracts import Decision, DecisionId
from governance.approvals import ApprovalGate, ApprovalGateway
from governance.approvals.effect_cards import AGAIN, HAPPENED, NOT_HAPPENED, STOP
from runtime.capabilities.port import EffectRequest, Told, Waiting
from runtime.errors import EffectInDoubt, InvalidArguments
from runtime.ledger.port import NewEvent
from runtime.ledger.store import SqlStore
from tests.governance.approvals.gates import card_of, under
from tests.governance.cards import NOW, SAM, WAIVE, card, effect

pytestmark = pytest.mark.anyio


async def doubted(store: SqlStore, gate: ApprovalGate, request: EffectRequest) -> EffectRequest:
    answer = await gate.in_doubt(request)
    assert isinstance(answer, Waiting)
    await store.ledger.append(*answer.appends)
    return replace(request, pending=(*request.pending, *answer.ids))  # type: ignore[arg-type]


@pytest.mark.parametrize(("option", "happened"), [(HAPPENED, True), (AGAIN, False)])
async def test_a_person_says_whether_an_effect_happened(
    sqlite_store: SqlStore, gateway: ApprovalGateway, gate: ApprovalGate, option: str, happened: bool
) -> None:
    request = await doubted(sqlite_store, gate, effect())
    assert await gate.in_doubt(request) == Waiting(request.pending)
    await gateway.decide(card_of(request), person=SAM, approve=True, option=option)
    assert await gate.in_doubt(request) is happened


async def test_a_person_who_knows_that_it_happened_may_tell_what_it_gave(
    sqlite_store: SqlStore, gateway: ApprovalGateway, gate: ApprovalGate
) -> None:
    giving = replace(WAIVE, gives={"id": "string"})
    request = await doubted(sqlite_store, gate, effect(spec=giving, gives={"count": "integer"}))
    card_id, told = card_of(request), {"id": "W-7", "count": 3}
    assert (await gateway.get(card_id)).card.gives == {"id": "string", "count": "integer"}

    await gateway.decide(card_id, person=SAM, approve=True, option=HAPPENED, output=told)
    assert await gate.in_doubt(request) == Told(told, SAM.id, card_id)


async def test_of_cancelled_work_nobody_is_asked_what_it_gave(
    sqlite_store: SqlStore, gateway: ApprovalGateway, gate: ApprovalGate
) -> None:
    giving = effect(spec=replace(WAIVE, gives={"id": "string"}), cancelled=True)
    request = await doubted(sqlite_store, gate, giving)

    assert (await gateway.get(card_of(request))).card.gives == {}


@pytest.mark.parametrize(
    ("option", "output", "why"),
    [
        (
            HAPPENED,
            {"count": 3},
            "does not fit what the effect gives: `id` is missing. It gives: count, id",
        ),
        (HAPPENED, {"id": "W-7", "count": "three"}, "must be a whole number"),
        (AGAIN, {"id": "W-7", "count": 3}, "takes no output with again"),
        (None, {"id": "W-7", "count": 3}, "takes no output with a no"),
    ],
)
async def test_an_output_that_does_not_fit_is_refused_and_nothing_is_decided(
    sqlite_store: SqlStore, gateway: ApprovalGateway, gate: ApprovalGate, option: str | None, output: Any, why: str
) -> None:
    giving = replace(WAIVE, gives={"id": "string", "count": "integer"})
    request = await doubted(sqlite_store, gate, effect(spec=giving))

    with pytest.raises(InvalidArguments, match=why):
        await gateway.decide(
            card_of(request), person=SAM, approve=option is not None, option=option, reason="because", output=output
        )  # fmt: skip
    assert (await gateway.get(card_of(request))).is_open


async def test_each_answer_counts_for_one_doubt_only(
    sqlite_store: SqlStore, gateway: ApprovalGateway, gate: ApprovalGate
) -> None:
    request = await doubted(sqlite_store, gate, effect())
    await gateway.decide(card_of(request), person=SAM, approve=True, option=AGAIN)
    assert await gate.in_doubt(request) is False
    assert isinstance(await gate.in_doubt(request), Waiting)


@pytest.mark.parametrize(("option", "happened"), [(HAPPENED, True), (NOT_HAPPENED, False)])
async def test_a_card_that_offers_what_a_cancellation_ruled_out_gives_way_to_one_that_does_not(
    sqlite_store: SqlStore, gateway: ApprovalGateway, gate: ApprovalGate, option: str, happened: bool
) -> None:
    before = await doubted(sqlite_store, gate, effect())
    after = await doubted(sqlite_store, gate, replace(before, cancelled=True))
    old, new = [await gateway.get(each) for each in after.pending]

    assert (old.is_open, old.reason) == (False, "the work was cancelled; another card asks")
    assert [each.id for each in new.card.options] == [HAPPENED, NOT_HAPPENED, STOP]
    assert not any(each.actions for each in new.card.options)
    latest = replace(after, pending=after.pending[1:])
    assert await gate.in_doubt(latest) == Waiting(latest.pending)
    await gateway.decide(new.card.card_id, person=SAM, approve=True, option=option)
    assert await gate.in_doubt(latest) is happened


async def test_an_answer_from_before_the_cancellation_still_counts(
    sqlite_store: SqlStore, gateway: ApprovalGateway, gate: ApprovalGate
) -> None:
    request = await doubted(sqlite_store, gate, effect())
    await gateway.decide(card_of(request), person=SAM, approve=True, option=AGAIN)
    assert await gate.in_doubt(replace(request, cancelled=True)) is False


@pytest.mark.parametrize("option", [STOP, None])
async def test_a_doubt_that_nobody_settles_stops_the_work(
    sqlite_store: SqlStore, gateway: ApprovalGateway, gate: ApprovalGate, option: str | None
) -> None:
    request = await doubted(sqlite_store, gate, effect())
    await gateway.decide(card_of(request), person=SAM, approve=option is not None, option=option, reason="because")
    with pytest.raises(EffectInDoubt, match="Nobody knows"):
        await gate.in_doubt(request)


async def test_a_yes_about_a_doubt_allows_no_effect(
    sqlite_store: SqlStore, gateway: ApprovalGateway, gate: ApprovalGate
) -> None:
    request = await doubted(sqlite_store, gate, effect())
    await gateway.decide(card_of(request), person=SAM, approve=True, option=AGAIN)
    answer = await gate.authorise(request)
    assert isinstance(answer, Waiting)
    assert card_of(request) not in answer.ids


async def test_a_yes_that_was_said_to_another_card_allows_nothing(
    sqlite_store: SqlStore, gateway: ApprovalGateway, gate: ApprovalGate
) -> None:
    new = card()
    yes = Decision(
        decision_id=DecisionId.new(), card_id=new.card_id, card_sha256="0" * 64, approve=True, option="waive",
        by="morgan", at=NOW, via="cli",
    )  # fmt: skip
    raised = gateway.card_append(new)
    forged = replace(raised, events=(*raised.events, NewEvent("card.decided", {"decision": yes.to_json()})))
    await sqlite_store.ledger.append(forged)
    assert (await gateway.get(new.card_id)).decided_by == "morgan"
    assert isinstance(await gate.authorise(effect(under(new))), Waiting)
