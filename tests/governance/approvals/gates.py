"""Gates over a gateway, and what tests ask them."""

from __future__ import annotations

from typing import Any

from contracts import CardId, DecisionCard, TaskOrder
from governance.approvals import ApprovalGate, ApprovalGateway
from governance.policies import Policy, PolicyBook
from runtime.capabilities.port import EffectRequest
from tests.fakes.clock import HandClock
from tests.governance.cards import RULES, order, say

CHEAP = Policy("cheap", "At most 2,000 flights.", "arguments.flights <= 2000")


def gate_with(gateway: ApprovalGateway, clock: HandClock, rules: Any = RULES) -> ApprovalGate:
    return ApprovalGate(gateway, lambda: PolicyBook([CHEAP]), rules, say_in=lambda _: say, clock=clock)


def under(decided: DecisionCard, **fields: Any) -> TaskOrder:
    return order(execution_id=decided.execution_id, authority=decided.card_id, **fields)


def card_of(request: EffectRequest) -> CardId:
    return request.pending[-1]
