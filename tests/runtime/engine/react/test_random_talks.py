"""What must hold for any conversation, any faults of its calls and any moment of death."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contracts import Effect
from runtime.errors import BusinessRefusal, NetworkFault
from runtime.ledger import open_store
from runtime.ledger.store import SqlStore
from runtime.model.port import ModelAnswer
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import Crash, CrashingStore
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import PlayedModel, calls, done, says

CALLS = st.sampled_from(
    [
        ("look", {"at": 1}),
        ("look", {"at": 2}),
        ("look", {"fault": "network"}),
        ("look", {"fault": "refused"}),
        ("look", {"fault": "stray"}),
        ("pay", {"to": "ann"}),
        ("pay", {"to": "bob"}),
        ("pay", {"to": "nobody"}),
        ("poke", {}),
        ("nothing_like_that", {}),
    ]
)
TURNS = st.lists(CALLS, min_size=1, max_size=7).map(lambda asked: calls(*asked))
TALKS = st.lists(st.one_of(TURNS, TURNS, st.just(says("no object")), st.just(done(n="x"))), max_size=5)
DEATHS = st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=3)
THINK = {"id": "think", "react": "Go.", "tools": ["look", "pay", "poke"], "gives": {"n": "integer"}}


def look(arguments: Any, context: Any) -> Any:
    match arguments.get("fault"):
        case "network" if context.attempt < 3:
            return NetworkFault("reset")
        case "refused":
            return BusinessRefusal("no")
        case "stray":
            return RuntimeError("bug")
    return {"seen": arguments.get("at")}


def pay(arguments: Any, context: Any) -> Any:
    return BusinessRefusal("no such person", happened="no") if arguments["to"] == "nobody" else {"paid": True}


@dataclass
class Ended:
    """What is left when a conversation has ended."""

    outcome: tuple[object, ...]
    requests: list[object]
    paid: list[tuple[str, object]]
    asked_most: int


class Laboratory:
    """One store and one event loop for all examples; each example has an order of its own."""

    def __init__(self, runner: asyncio.Runner, store: SqlStore) -> None:
        self._runner = runner
        self._store = store

    def carry_out(self, talk: list[ModelAnswer], deaths: list[tuple[int, bool]]) -> Ended:
        """Carry the step out by one process after the other; each dies at its append, the last one lives."""
        return self._runner.run(self._carried_out(talk, deaths))

    async def _carried_out(self, talk: list[ModelAnswer], deaths: list[tuple[int, bool]]) -> Ended:
        tools = (
            Tool("look", look),
            Tool("pay", pay, Effect.WRITE, can_look_up=True),
            Tool("poke", lambda a, c: {}, Effect.IDEMPOTENT),
        )
        world = World(self._store, HandClock(), *tools)
        world.model = model = PlayedModel(*talk, *[done(n=1)] * 3)
        order = world.order(THINK)
        for at, committed in deaths:
            world.store = CrashingStore(self._store, at, committed=committed)
            with suppress(Crash):
                await world.run(order)
        world.store = self._store
        report = await world.run(order)
        events = await self._store.ledger.read(str(order.order_id))
        made = world.tools["pay"]
        paid = [(c.key.partition(":")[2], a["to"]) for c, a in zip(made.contexts, made.calls, strict=True)]
        return Ended(
            outcome=(report.state, report.output, report.error.code if report.error else None),
            requests=[e.data["request_sha256"] for e in events if e.type == "model.answered" and e.data],
            paid=sorted(each for each in paid if each[1] != "nobody"),  # type: ignore[type-var]
            asked_most=max(model.asked.values()),
        )


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    logging.disable(logging.ERROR)  # hundreds of stray exceptions are meant here
    with asyncio.Runner() as runner:
        home = tmp_path_factory.mktemp("store")
        store = runner.run(open_store(LedgerSettings(synchronous="NORMAL"), home=home, clock=HandClock()))
        yield Laboratory(runner, store)
        runner.run(store.close())
    logging.disable(logging.NOTSET)


LOOKS = calls(("look", {"at": 1}))


@settings(max_examples=40, deadline=None)
@given(TALKS, DEATHS)
@example([LOOKS, LOOKS, LOOKS], [(6, True)])  # between the call that is stopped and the end of its step
def test_dying_changes_nothing_about_a_conversation(
    laboratory: Laboratory, talk: list[ModelAnswer], deaths: list[tuple[int, bool]]
) -> None:
    unharmed, killed = laboratory.carry_out(talk, []), laboratory.carry_out(talk, deaths)

    assert killed.outcome == unharmed.outcome
    assert killed.requests == unharmed.requests, "every request is the same one, after any stop"
    assert killed.paid == unharmed.paid
    assert len({who for _, who in unharmed.paid}) == len(unharmed.paid), "an identical effect is done once"
    assert killed.asked_most <= 1 + len(deaths)
