"""Strategies and action chains: found in their domain alone, told once, inherited by whoever comes after."""

from __future__ import annotations

from typing import Any

import pytest

from contracts import Ancestor, TaskOrder
from memory.behaviour.behaviour import Behaviour, BehaviourKind
from memory.behaviour.finding import BehaviourFinder
from memory.behaviour.told import Behaviours, ToldBehaviour
from runtime.context.blocks import CHAINS, POLICIES, STRATEGIES, SYSTEM, About
from runtime.ledger.store import SqlStore
from runtime.settings import MemorySettings
from tests.fakes.orders import an_order

pytestmark = pytest.mark.anyio
STRATEGY, CHAIN = BehaviourKind.STRATEGY, BehaviourKind.CHAIN
ALL = (
    Behaviour(STRATEGY, "short-words", {"en": "Use short words.", "zh": "用短词。"}, preloaded=True),
    Behaviour(STRATEGY, "ask-oak", "Ask Oak first.", "a supplier is chosen", "purchasing"),
    Behaviour(STRATEGY, "ask-elm", "Ask Elm first.", "a supplier is chosen", "sales"),
    Behaviour(
        CHAIN, "snow", "What to do in snow.", "snow at an airport", None, ("Look at the runways.", "Ask the desk.")
    ),
    Behaviour(CHAIN, "snow-sales", "Sell shovels in snow.", "snow at an airport", "sales", ("Sell.",)),
)


def about(task: str, order: TaskOrder | None = None, step: str = "do", **changes: Any) -> About:
    return About(order or an_order(objective="Work.", **changes), step, task, ())


async def texts(store: SqlStore, about_: About, kind: BehaviourKind, **settings: Any) -> list[str]:
    chosen = MemorySettings(**settings)
    behaviours = Behaviours(ALL, store.ledger, chosen, lambda: None)
    return [part.text for part in await ToldBehaviour(kind, behaviours, chosen).parts(about_)]


async def test_what_always_counts_comes_first_then_what_fits_the_task_in_its_domain(sqlite_store: SqlStore) -> None:
    here = about("Choose a supplier of flour.", knowledge_scope=("purchasing",))
    strategies = await texts(sqlite_store, here, STRATEGY)
    assert [text.partition("(")[2].partition(")")[0] for text in strategies] == ["short-words", "ask-oak"]
    assert "gives way to rules" in strategies[0]
    [chain] = await texts(sqlite_store, about("It snows at the airport."), CHAIN)
    assert chain.endswith("(snow): What to do in snow.\n1. Look at the runways.\n2. Ask the desk.")
    assert await texts(sqlite_store, about("Bake bread."), CHAIN) == []


async def test_they_speak_the_language_of_the_order(sqlite_store: SqlStore) -> None:
    [text] = await texts(sqlite_store, about("x", language="zh"), STRATEGY)
    assert text.endswith("用短词。")


async def test_nothing_of_another_domain_is_found_in_ten_thousand_questions() -> None:
    finder = BehaviourFinder(
        [
            Behaviour(kind, f"{domain}-{n}", f"Ask {domain} about supplier {n}.", f"supplier {n} is chosen", domain)
            for domain in ("purchasing", "sales")
            for n in range(50)
            for kind in BehaviourKind
        ]
    )
    for n in range(10_000):
        for kind in BehaviourKind:
            found = await finder.find(f"sales supplier {n % 50}", kind, ["purchasing"], top=5)
            assert found and {each.domain for each in found} == {"purchasing"}
    keys = [f"strategy sales-{n}" for n in range(50)]
    assert finder.named(keys, ["purchasing"]) == [] and len(finder.named(keys, ["sales"])) == 50


async def test_a_step_is_told_the_same_again_and_later_steps_inherit_it(sqlite_store: SqlStore) -> None:
    order = an_order(objective="Work.", knowledge_scope=("purchasing",))
    first = await texts(sqlite_store, about("Choose a supplier.", order, "choose"), STRATEGY)
    head = await sqlite_store.ledger.head()
    assert await texts(sqlite_store, about("Choose a supplier.", order, "choose"), STRATEGY) == first
    assert await sqlite_store.ledger.head() == head
    assert await texts(sqlite_store, about("Write the letter.", order, "write"), STRATEGY) == first


async def test_orders_below_inherit_what_is_of_their_domains(sqlite_store: SqlStore) -> None:
    above = an_order(objective="Work.", knowledge_scope=("purchasing",))
    await texts(sqlite_store, about("Choose a supplier.", above), STRATEGY)
    chain = (Ancestor(order_id=above.order_id, employee="head"),)
    below = about("Write the letter.", knowledge_scope=("purchasing",), chain=chain)
    assert len(await texts(sqlite_store, below, STRATEGY)) == 2
    elsewhere = about("Write the letter.", knowledge_scope=("sales",), chain=chain)
    assert len(await texts(sqlite_store, elsewhere, STRATEGY)) == 1


async def test_no_more_than_there_is_room_for(sqlite_store: SqlStore) -> None:
    assert await texts(sqlite_store, about("x"), STRATEGY, behaviour_chars=10) == []
    here = about("Choose a supplier.", knowledge_scope=("purchasing",))
    assert len(await texts(sqlite_store, here, STRATEGY, strategies_found=0)) == 1


def test_policies_stand_before_strategies_and_those_before_chains() -> None:
    assert [SYSTEM.index(each) for each in (POLICIES, STRATEGIES, CHAINS)] == sorted(
        SYSTEM.index(each) for each in (POLICIES, STRATEGIES, CHAINS)
    )
