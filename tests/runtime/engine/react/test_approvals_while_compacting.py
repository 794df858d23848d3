"""D13: two hundred approvals arrive one by one, in any order, while the conversation is compacted again and again."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from contracts import CardId, Effect, OrderState
from runtime.ledger.store import SqlStore
from runtime.model.port import ModelAnswer, ModelRequest
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import CardGate, Tool, World
from tests.fakes.model import calls, done

pytestmark = pytest.mark.anyio
TURNS, AT_ONCE = 40, 5
PAY: dict[str, Any] = {
    "id": "pay", "react": "Pay everybody.", "tools": ["pay"], "gives": {"n": "integer"}, "iterations": TURNS + 1,
}  # fmt: skip


class Payer:
    """Pays five people in each answer, by how often it answered, and keeps what it was sent."""

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []

    def room(self, role: str) -> int:
        return 40_000

    def name_of(self, role: str) -> str:
        return "gpt-4o"

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        if request.role == "summarise":
            return ModelAnswer("", facts={"usage_estimated": True})
        turn = len(self.requests)
        self.requests.append(request)
        if turn == TURNS:
            return replace(done(n=TURNS * AT_ONCE), facts={"usage_estimated": True})
        people = [("pay", {"to": f"P{turn * AT_ONCE + number:03}"}) for number in range(AT_ONCE)]
        return replace(calls(*people), facts={"usage_estimated": True})


def paid(arguments: Any, context: Any) -> dict[str, Any]:
    receipt = f"R-{arguments['to']}"
    return {"receipt": receipt, "note": f"{receipt} was paid. " + "Nothing else is to be said. " * 40}


async def test_no_approval_is_lost_and_none_counts_twice(sqlite_store: SqlStore, clock: HandClock) -> None:
    random, gate, model = Random(13), CardGate(ask=True), Payer()
    world = World(sqlite_store, clock, Tool("pay", paid, Effect.WRITE))
    world.gate, world.model = gate, model  # type: ignore[assignment]
    order = world.order(PAY)

    report = await world.run(order)
    while report.state is OrderState.WAITING:
        open_cards: list[CardId] = [card for card in gate.cards if card not in gate.decisions]
        for card in random.sample(open_cards, random.randint(1, len(open_cards))):
            gate.decide(card, True)
        report = await world.run(order)

    assert (report.state, report.output) == (OrderState.DONE, {"n": 200}), report.error
    everybody = [f"P{number:03}" for number in range(TURNS * AT_ONCE)]
    assert sorted(str(call["to"]) for call in world.tools["pay"].calls) == everybody
    assert (await world.kinds(order)).count("context.compacted") >= 3
    for number, request in enumerate(model.requests):
        shown = [str(message["tool_call_id"]) for message in request.messages if message["role"] == "tool"]
        handed_over = [name for message in request.messages for name in handed_over_in(str(message["content"]))]
        calls_before = [f"call_{turn}_{at}" for turn in range(1, number + 1) for at in range(1, AT_ONCE + 1)]
        assert sorted([*shown, *handed_over]) == sorted(calls_before), f"request {number}"


def handed_over_in(said: str) -> list[str]:
    """Return the calls that a hand-over tells as done."""
    lines = said.splitlines()
    if not lines or not lines[0].startswith("Hand-over."):
        return []
    document = json.loads(next(line for line in lines if line.startswith("{")))
    return [done["call"] for phase in document["phases"] for done in phase["done"]]
