"""D2 with real cards: calls of a model are approved one by one, each with its own arguments."""

from __future__ import annotations

from typing import Any

import pytest

from contracts import CardId, Effect, OrderState
from governance.approvals import ApprovalGate, ApprovalGateway
from governance.approvals.effect_cards import DO
from governance.policies import PolicyBook
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import PlayedModel, calls, done
from tests.governance.cards import MORGAN, ORGANISATION, RULES, say

pytestmark = pytest.mark.anyio
PAY: dict[str, Any] = {"id": "think", "react": "Pay.", "tools": ["pay"], "gives": {"n": "integer"}}


async def test_of_three_cards_exactly_the_approved_call_runs_with_its_own_arguments(
    sqlite_store: SqlStore, gateway: ApprovalGateway, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, Tool("pay", lambda a, c: {"paid": a["to"]}, Effect.IRREVERSIBLE))
    world.model = PlayedModel(calls(*(("pay", {"to": who}) for who in ("ann", "bob", "cid"))), done(n=1))
    world.gate = ApprovalGate(gateway, lambda: PolicyBook([]), RULES, say_in=lambda _: say, clock=clock)  # type: ignore[assignment]
    order = world.order(PAY).model_copy(update={"organisation": ORGANISATION, "requested_by": "robin"})
    cards = [CardId(each) for each in (await world.run(order)).waiting_for]
    for card_id in cards:
        card = (await gateway.get(card_id)).card
        wanted = card.options[0].actions[0].arguments == {"to": "bob"}
        await gateway.decide(card_id, person=MORGAN, approve=wanted, option=DO if wanted else None, reason="no")

    report = await world.run(order)

    assert len(cards) == 3 and report.state is OrderState.DONE
    assert world.tools["pay"].calls == [{"to": "bob"}]
    views = [await gateway.get(card_id) for card_id in cards]
    assert [len(view.used_by) for view in views] == [0, 1, 0]
