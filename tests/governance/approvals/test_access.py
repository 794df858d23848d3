"""Access that was refused: a card with clear choices, decided once, and what follows from each, with a real gate."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from itertools import product
from typing import Any

import pytest

from contracts import CardId, CardKind, Effect, OrderState, StatusReport, TaskOrder
from governance.approvals import ApprovalGate, ApprovalGateway, ApprovalRule
from governance.approvals.access_cards import DONE, LEAVE, TRY_AGAIN
from governance.approvals.card import CardView
from governance.approvals.effect_cards import AGAIN, DO
from governance.approvals.index import CardIndex
from governance.errors import NotAllowedToDecide
from governance.policies import Policy, PolicyBook
from runtime.capabilities.port import CallContext
from runtime.errors import AccessDenied, InvalidArguments, PermissionRefused
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import Crash, CrashingStore
from tests.fakes.engine_world import Tool, World, one_after_the_other
from tests.fakes.model import PlayedModel, calls, done
from tests.governance.cards import MORGAN, ORGANISATION, ROBIN, RULES, say

pytestmark = pytest.mark.anyio

DENIED = AccessDenied("desk.look refused access (403): not you.", happened="no")
GO_ON = {CardKind.EFFECT: DO, CardKind.ACCESS: TRY_AGAIN, CardKind.IN_DOUBT: AGAIN}
LOOK: dict[str, Any] = {"id": "do", "use": "look", "with": {"day": 1}}


class Office:
    """A world with the real gate, and one order in it."""

    def __init__(self, store: SqlStore, gateway: ApprovalGateway, clock: HandClock) -> None:
        self.store, self.gateway, self.clock = store, gateway, clock
        self.world = World(store, clock)
        self.policies: list[Policy] = []
        self.rules: Mapping[str, ApprovalRule] = RULES

    def tool(self, *answers: Any, effect: Effect = Effect.READ, name: str = "look") -> Tool:
        made = Tool(name, one_after_the_other(*answers), effect)
        self.world.tools[name] = made
        return made

    def order(self, *steps: dict[str, Any]) -> TaskOrder:
        self.world.gate = ApprovalGate(  # type: ignore[assignment]
            self.gateway, lambda: PolicyBook(self.policies), self.rules, say_in=lambda _: say, clock=self.clock
        )
        return self.world.order(*steps).model_copy(update={"organisation": ORGANISATION, "requested_by": "robin"})

    async def cards(self, report: StatusReport) -> list[CardView]:
        return [await self.gateway.get(CardId(each)) for each in report.waiting_for]

    async def decide(self, view: CardView, option: str | None, **more: Any) -> None:
        await self.gateway.decide(
            view.card.card_id, person=MORGAN, approve=option is not None, option=option, reason="b", **more
        )


@pytest.fixture
def office(sqlite_store: SqlStore, gateway: ApprovalGateway, clock: HandClock) -> Office:
    return Office(sqlite_store, gateway, clock)


async def test_a_refused_access_waits_for_people_and_costs_nothing_meanwhile(office: Office) -> None:
    tool = office.tool(DENIED)
    order = office.order(LOOK)
    report = await office.world.run(order)
    (view,) = await office.cards(report)

    assert (report.state, view.card.kind) == (OrderState.WAITING, CardKind.ACCESS)
    assert [option.id for option in view.card.options] == [TRY_AGAIN, DONE, LEAVE]
    assert (await office.world.run(order)).waiting_for == report.waiting_for
    assert len(tool.calls) == 1


async def test_once_access_is_granted_the_call_is_made_once_more_and_the_step_is_done(office: Office) -> None:
    tool = office.tool(DENIED, {"n": 7})
    order = office.order(LOOK)
    (view,) = await office.cards(await office.world.run(order))
    await office.decide(view, TRY_AGAIN)
    report = await office.world.run(order)

    assert (report.state, report.output, len(tool.calls)) == (OrderState.DONE, {"n": 7}, 2)
    assert [use.key for use in (await office.gateway.get(view.card.card_id)).used_by] == [tool.contexts[0].key]
    assert (await office.world.run(order)).output == {"n": 7} and len(tool.calls) == 2


async def test_a_call_that_is_refused_again_is_asked_about_again_with_a_card_of_its_own(office: Office) -> None:
    tool = office.tool(DENIED)
    order = office.order(LOOK)
    (first,) = await office.cards(await office.world.run(order))
    await office.decide(first, TRY_AGAIN)
    (second,) = await office.cards(await office.world.run(order))

    assert second.card.card_id != first.card.card_id and second.is_open
    assert len(tool.calls) == 2


async def test_what_was_done_by_hand_is_not_called_and_gives_what_the_person_tells(office: Office) -> None:
    tool = office.tool(DENIED)
    order = office.order({**LOOK, "gives": {"n": "integer"}})
    (view,) = await office.cards(await office.world.run(order))
    with pytest.raises(InvalidArguments, match="does not fit"):
        await office.decide(view, DONE, output={"n": "many"})
    await office.decide(view, DONE, output={"n": 3})
    report = await office.world.run(order)

    assert (report.state, report.output) == (OrderState.DONE, {"n": 3, "confirmed_by_person": True})
    assert len(tool.calls) == 1


@pytest.mark.parametrize("option", [LEAVE, None])
async def test_left_or_turned_down_the_step_fails_with_what_the_other_side_said(
    office: Office, option: str | None
) -> None:
    tool = office.tool(DENIED)
    order = office.order(LOOK)
    (view,) = await office.cards(await office.world.run(order))
    await office.decide(view, option)
    report = await office.world.run(order)

    assert report.error is not None and report.error.code == "ACCESS_NOT_GRANTED"
    assert "not you" in report.error.message and "morgan" in report.error.message
    assert (report.state, len(tool.calls)) == (OrderState.FAILED, 1)


async def test_silence_is_no_no_and_says_so(office: Office) -> None:
    office.tool(DENIED)
    order = office.order(LOOK)
    (view,) = await office.cards(await office.world.run(order))
    for _ in range(2):  # it may be passed on once
        office.clock.advance(8 * 86_400)
        await office.gateway.judge(view.card.card_id, office.clock.now())
    report = await office.world.run(order)

    assert report.error is not None and "expired" in report.error.message


async def test_who_asked_for_the_work_grants_nothing(office: Office) -> None:
    office.tool(DENIED)
    (view,) = await office.cards(await office.world.run(office.order(LOOK)))

    with pytest.raises(NotAllowedToDecide):
        await office.gateway.decide(view.card.card_id, person=ROBIN, approve=True, option=TRY_AGAIN)


@pytest.mark.parametrize("who", ["nobody-there", "robin"])
async def test_where_nobody_could_decide_the_message_stays(office: Office, who: str) -> None:
    office.tool(DENIED)
    office.rules = {} if who == "nobody-there" else {"default": ApprovalRule("default", (who,))}
    report = await office.world.run(office.order(LOOK))

    assert report.error is not None and report.error.code == "ACCESS_DENIED"
    assert report.state is OrderState.FAILED


@pytest.mark.parametrize(
    "error", [PermissionRefused("evil.example may not be called.", happened="no"), InvalidArguments("No.")]
)
async def test_what_the_organisation_itself_does_not_allow_is_no_card(office: Office, error: Exception) -> None:
    office.tool(error)
    report = await office.world.run(office.order(LOOK))

    assert (report.state, report.waiting_for) == (OrderState.FAILED, ())


async def test_an_effect_is_approved_once_and_made_once_after_access_was_granted(office: Office) -> None:
    tool = office.tool(DENIED, {"paid": 5}, effect=Effect.WRITE, name="pay")
    order = office.order({"id": "do", "use": "pay", "with": {"amount": 5}})
    (approval,) = await office.cards(await office.world.run(order))
    await office.decide(approval, DO)
    (access,) = await office.cards(await office.world.run(order))
    await office.decide(access, TRY_AGAIN)
    report = await office.world.run(order)

    assert (approval.card.kind, access.card.kind) == (CardKind.EFFECT, CardKind.ACCESS)
    assert (report.state, report.output, len(tool.calls)) == (OrderState.DONE, {"paid": 5}, 2)
    assert set(tool.keys.values()) == {2}


async def test_granted_access_overrides_no_policy(office: Office) -> None:
    tool = office.tool(DENIED, {"paid": 5}, effect=Effect.WRITE, name="pay")
    order = office.order({"id": "do", "use": "pay", "with": {"amount": 5}})
    (approval,) = await office.cards(await office.world.run(order))
    await office.decide(approval, DO)
    (access,) = await office.cards(await office.world.run(order))
    await office.decide(access, TRY_AGAIN)
    office.policies.append(Policy("never", "Pay nothing.", "false", ("pay",)))
    report = await office.world.run(order)

    assert report.error is not None and report.error.code == "POLICY_VIOLATED"
    assert len(tool.calls) == 1


async def test_many_calls_of_one_capability_make_one_card_and_access_is_granted_to_all(office: Office) -> None:
    tool = office.tool(*[DENIED] * 3, {"n": 1})
    order = office.order({**LOOK, "for_each": "{{ days }}", "with": {"day": "{{ item }}"}})
    order = order.model_copy(update={"inputs": {"days": [1, 2, 3]}})
    (view,) = await office.cards(await office.world.run(order))
    await office.decide(view, TRY_AGAIN)
    report = await office.world.run(order)

    assert (report.state, len(tool.calls)) == (OrderState.DONE, 6)


async def test_what_was_done_by_hand_is_the_call_on_the_card_and_the_others_share_the_next_one(office: Office) -> None:
    tool = office.tool(DENIED)
    order = office.order({**LOOK, "for_each": "{{ days }}", "with": {"day": "{{ item }}"}})
    order = order.model_copy(update={"inputs": {"days": [1, 2, 3]}})
    (first,) = await office.cards(await office.world.run(order))
    await office.decide(first, DONE)
    (second,) = await office.cards(await office.world.run(order))

    assert second.card.card_id != first.card.card_id
    assert len(tool.calls) == 3
    done_ = [unit for unit in (await office.world.view(order)).units.values() if unit.result is not None]
    assert len(done_) == 1


async def test_a_call_of_a_model_waits_in_the_same_way_and_the_model_goes_on(office: Office) -> None:
    tool = office.tool(DENIED, {"n": 7})
    office.world.model = PlayedModel(calls(("look", {"day": 1})), done(n=7))
    order = office.order({"id": "think", "react": "Look.", "tools": ["look"], "gives": {"n": "integer"}})
    (view,) = await office.cards(await office.world.run(order))
    await office.decide(view, TRY_AGAIN)
    report = await office.world.run(order)

    assert (view.card.kind, report.state, len(tool.calls)) == (CardKind.ACCESS, OrderState.DONE, 2)


@pytest.mark.parametrize(("option", "told"), [(LEAVE, "left it"), (DONE, "confirmed_by_person")])
async def test_a_model_is_told_what_came_of_its_call(office: Office, option: str, told: str) -> None:
    office.tool(DENIED)
    model = office.world.model = PlayedModel(calls(("look", {"day": 1})), done(n=0))
    order = office.order({"id": "think", "react": "Look.", "tools": ["look"], "gives": {"n": "integer"}})
    (view,) = await office.cards(await office.world.run(order))
    await office.decide(view, option)

    assert (await office.world.run(order)).state is OrderState.DONE
    assert told in str(model.requests[-1])


async def test_whoever_dies_in_the_granted_call_makes_nobody_decide_again(office: Office) -> None:
    begun, keys = asyncio.Event(), []

    async def act(arguments: Any, context: CallContext) -> Any:
        keys.append(context.key)
        if len(keys) == 2:
            begun.set()
            await asyncio.Event().wait()
        return DENIED if len(keys) == 1 else {"n": 7}

    office.world.tools["look"] = Tool("look", act)
    order = office.order(LOOK)
    (view,) = await office.cards(await office.world.run(order))
    await office.decide(view, TRY_AGAIN)
    dying = asyncio.create_task(office.world.run(order))
    await asyncio.wait_for(begun.wait(), 5)
    dying.cancel()
    await asyncio.wait({dying})
    report = await office.world.run(order)

    assert (report.state, report.output, len(set(keys)), len(keys)) == (OrderState.DONE, {"n": 7}, 1, 3)


@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize("effect", [Effect.READ, Effect.WRITE])
async def test_whatever_append_the_process_dies_at_one_card_asks_and_the_step_is_done(
    office: Office, effect: Effect, *, committed: bool
) -> None:
    for at, dying in product(range(6), range(4)):
        tool = office.tool(DENIED, {"n": 7}, effect=effect)
        order = office.order(LOOK)
        asked: set[str] = set()
        for life in range(12):
            office.world.store = CrashingStore(office.store, at if life == dying else None, committed=committed)
            with suppress(Crash):
                report = await office.world.run(order)
                if report.state is not OrderState.WAITING:
                    break
                (view,) = await office.cards(report)
                asked.add(str(view.card.card_id))
                await office.decide(view, GO_ON[view.card.kind])

        raised = [await office.gateway.get(each) for each in await CardIndex(office.store).newest()]
        assert report.state is OrderState.DONE
        assert {str(each.card.card_id) for each in raised if each.card.order_id == order.order_id} == asked
        assert 2 <= len(tool.calls) <= 3
