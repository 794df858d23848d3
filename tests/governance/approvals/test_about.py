"""One open card about one thing: joined by the very same, superseded by a newer one, on each store."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from contracts import DecisionCard, ExecutionId, OrderId
from governance.access import People
from governance.approvals import ApprovalGate, ApprovalGateway, CardState, CardView
from governance.approvals.editing import edit
from governance.approvals.effect_cards import DO
from governance.approvals.index import CardIndex
from governance.errors import CardClosed, NotAllowedToDecide
from governance.policies import PolicyBook
from runtime.capabilities.port import EffectRequest, Refused, Waiting
from runtime.errors import VersionConflict
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.governance.approvals.gates import gate_with
from tests.governance.cards import ARGUMENTS, MORGAN, ORGANISATION, PEOPLE, SAM, WAIVE, action, card, effect, order

pytestmark = pytest.mark.anyio


async def raise_(store: SqlStore, gateway: ApprovalGateway, new: DecisionCard) -> DecisionCard | CardView:
    """Raise a card as an engine does: judged anew when another one was quicker."""
    while True:
        raised = await gateway.raise_appends(new)
        if isinstance(raised, CardView):
            return raised
        try:
            await store.ledger.append(*raised)
        except VersionConflict:
            continue
        return new


@pytest.fixture
def gateway(store: SqlStore, clock: HandClock) -> ApprovalGateway:
    return ApprovalGateway(store, clock, People(PEOPLE), ORGANISATION)


async def test_of_twenty_executions_that_ask_for_the_very_same_at_once_one_raises_a_card(
    store: SqlStore, gateway: ApprovalGateway
) -> None:
    raised = await asyncio.gather(*(raise_(store, gateway, card()) for _ in range(20)))
    made = [each for each in raised if isinstance(each, DecisionCard)]
    joined = {each.card.card_id for each in raised if isinstance(each, CardView)}

    assert joined == {made[0].card_id} and len(made) == 1
    assert await CardIndex(store).waiting() == [made[0].card_id]


async def test_a_newer_card_about_the_same_takes_the_place_of_an_open_one(
    store: SqlStore, gateway: ApprovalGateway
) -> None:
    old, new = card(about="8 February"), card(action(**{"with": {**ARGUMENTS, "flights": 9}}), about="8 February")
    await raise_(store, gateway, old)
    await raise_(store, gateway, new)
    view = await gateway.get(old.card_id)

    assert (view.state, view.superseded_by) == (CardState.SUPERSEDED, new.card_id)
    assert await CardIndex(store).waiting() == [new.card_id]
    with pytest.raises(CardClosed, match="was superseded by"):
        await gateway.decide(old.card_id, person=MORGAN, approve=True, option="waive")


@pytest.mark.parametrize(
    "other",
    [
        {"about": "9 February"},
        {"kind": "in_doubt"},
        {"organisation": "harbour"},
    ],
)
async def test_what_is_about_something_else_stands_beside_it(
    store: SqlStore, gateway: ApprovalGateway, other: dict[str, Any]
) -> None:
    await raise_(store, gateway, card(about="8 February"))
    beside = ApprovalGateway(store, gateway.clock, gateway.people, other.get("organisation", ORGANISATION))
    assert isinstance(await raise_(store, beside, card(**{"about": "8 February", **other})), DecisionCard)
    assert len(await CardIndex(store).waiting()) == 2


async def test_once_it_is_decided_the_same_may_be_asked_again(store: SqlStore, gateway: ApprovalGateway) -> None:
    first = card()
    await raise_(store, gateway, first)
    await gateway.decide(first.card_id, person=MORGAN, approve=False, reason="no")
    assert isinstance(await raise_(store, gateway, card()), DecisionCard)


async def waits(store: SqlStore, gate: ApprovalGate, request: EffectRequest) -> EffectRequest:
    answer = await gate.authorise(request)
    assert isinstance(answer, Waiting)
    await store.ledger.append(*answer.appends)
    return EffectRequest(**{**{name: getattr(request, name) for name in request.__slots__}, "pending": answer.ids})


async def two_executions(store: SqlStore, gate: ApprovalGate) -> tuple[EffectRequest, EffectRequest]:
    return tuple([  # type: ignore[return-value]
        await waits(store, gate, effect(order(execution_id=ExecutionId.new(), order_id=OrderId.new())))
        for _ in range(2)
    ])  # fmt: skip


async def test_an_effect_that_joined_is_not_done_twice(
    store: SqlStore, gateway: ApprovalGateway, clock: HandClock
) -> None:
    gate = gate_with(gateway, clock)
    first, second = await two_executions(store, gate)
    assert first.pending == second.pending
    assert await gate.authorise(second) == Waiting(second.pending)
    await gateway.decide(first.pending[0], person=MORGAN, approve=True, option=DO)
    answer = await gate.authorise(second)

    assert isinstance(answer, Refused) and answer.code == "DONE_ELSEWHERE"
    assert not isinstance(await gate.authorise(first), Refused | Waiting)


async def test_an_effect_that_joined_a_card_which_is_withdrawn_asks_itself(
    store: SqlStore, gateway: ApprovalGateway, clock: HandClock
) -> None:
    gate = gate_with(gateway, clock)
    first, second = await two_executions(store, gate)
    await gateway.withdraw(first.pending[0], "the execution was cancelled")
    own = await waits(store, gate, second)

    assert own.pending != first.pending
    assert (await gateway.get(own.pending[0])).card.execution_id == second.order.execution_id


async def test_two_calls_of_one_execution_are_two_things_that_it_wants(
    store: SqlStore, gateway: ApprovalGateway, clock: HandClock
) -> None:
    gate, by = gate_with(gateway, clock), order()
    first = await waits(store, gate, effect(by, key="a"))
    second = await waits(store, gate, effect(by, key="b"))
    assert first.pending != second.pending


async def test_the_very_same_asked_again_joins_a_card_that_was_edited(
    store: SqlStore, gateway: ApprovalGateway, clock: HandClock
) -> None:
    gate = gate_with(gateway, clock)
    first = await waits(store, gate, effect(order(execution_id=ExecutionId.new())))
    policies = PolicyBook(())
    await edit(
        gateway, first.pending[0], [{"flights": 9}], option=DO, person=SAM, specs={WAIVE.name: WAIVE},
        policies=policies, via="test",
    )  # fmt: skip
    second = await waits(store, gate, effect(order(execution_id=ExecutionId.new())))

    assert second.pending == first.pending
    assert (await gateway.get(first.pending[0])).state is CardState.OPEN


async def test_who_asked_for_an_execution_that_joined_cannot_decide_what_it_asks_for(
    store: SqlStore, gateway: ApprovalGateway, clock: HandClock
) -> None:
    gate = gate_with(gateway, clock)
    first = await waits(store, gate, effect(order(execution_id=ExecutionId.new())))
    await waits(store, gate, effect(order(execution_id=ExecutionId.new(), requested_by="morgan")))
    with pytest.raises(NotAllowedToDecide, match="asked"):
        await gateway.decide(first.pending[0], person=MORGAN, approve=True, option=DO)
    assert (await gateway.decide(first.pending[0], person=SAM, approve=True, option=DO)).is_approved
