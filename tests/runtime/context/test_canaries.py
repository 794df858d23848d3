"""Fifty agents at once, each with a word of its own: none of it reaches the prompts, events or board of another."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from contracts import OrderState, TaskOrder, Usage
from runtime.blackboard import LedgerBlackboard, ToldBoard
from runtime.known import Known
from runtime.ledger.store import SqlStore
from runtime.model.port import ModelAnswer, ModelRequest
from runtime.settings.context import ContextSettings
from runtime.settings.groups import BlackboardSettings
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import calls, done

pytestmark = pytest.mark.anyio
AGENTS = 50
CANARY = re.compile(r"canary-\d{2}")
ALIKE = "The same words stand in what every agent reads, so that nobody's data is known by its beginning. " * 90
STEPS: tuple[dict[str, Any], ...] = (
    {"id": "first", "react": "Look, and note what is odd.", "tools": ["look"], "with": {"about": "{{ about }}"},
     "gives": {"found": "string", "data": "any"}},
    {"id": "second", "react": "Tell the others.", "tools": ["look"], "after": ["first"], "output": "blackboard",
     "gives": {"found": "string"}},
    {"id": "third", "react": "Look once more.", "tools": ["look"], "after": ["second"],
     "with": {"found": "{{ first.found }}", "data": "{{ first.data }}"}, "gives": {"found": "string"}},
)  # fmt: skip
PLAN = {"parameters": {"about": {"type": "string"}}}


@dataclass
class Shared:
    """One model that all agents ask: it answers by the words of the request alone, one turn of the loop later."""

    prompts: dict[str, list[str]] = field(default_factory=dict)
    at_once: int = 0
    most_at_once: int = 0

    def most(self, request: ModelRequest) -> Usage:
        return Usage(tokens_in=10)

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        text = json.dumps([*request.messages, *request.tools])
        own = CANARY.search(str(request.messages[0]["content"]))
        assert own is not None
        self.prompts.setdefault(own[0], []).append(text)
        return self._answer(request, own[0])

    def _answer(self, request: ModelRequest, own: str) -> ModelAnswer:
        told = [json.loads(str(each["content"])) for each in request.messages if each["role"] == "tool"]
        first = "Step first" in str(request.messages[1]["content"])
        if not told:
            noting = [("working_memory", {"insight": f"{own} is odd."})] if first else []
            return calls(("look", {"at": own}), *noting)
        if not first:
            return done(found=f"{own} again")
        return done(found=own, data={"__ref": told[0]["__refId"]})


async def look(arguments: Mapping[str, Any], context: Any) -> dict[str, str]:
    await asyncio.sleep(0)
    return {"text": f"{ALIKE}{arguments['at']}{ALIKE}"}


class Agents:
    """Executions of their own in one process: one store, one model, one tool, and one memory of what is new."""

    def __init__(self, store: SqlStore, clock: HandClock) -> None:
        self.store = store
        self.model = Shared()
        self.names = [f"canary-{number:02}" for number in range(AGENTS)]
        tool, known = Tool("look", look), Known()
        self.worlds = {name: World(store, clock, tool) for name in self.names}
        for world in self.worlds.values():
            world.model, world.known = self.model, known
            world.blocks = [ToldBoard(self.board(world), ContextSettings())]

    def board(self, world: World) -> LedgerBlackboard:
        return LedgerBlackboard(
            self.store.ledger, world.execution_id, organisation="acme", settings=BlackboardSettings(), rules={}
        )

    async def run(self) -> dict[str, TaskOrder]:
        """Carry all orders out at the same time; return them by name."""
        orders = {
            name: world.order(*STEPS, plan=PLAN, constraints=(f"Find {name}.",), inputs={"about": f"about {name}"})
            for name, world in self.worlds.items()
        }
        reports = await asyncio.gather(*(self.worlds[name].run(order) for name, order in orders.items()))
        assert [report.error for report in reports if report.state is not OrderState.DONE] == []
        return orders


@pytest.fixture
async def agents(sqlite_store: SqlStore, clock: HandClock) -> Agents:
    return Agents(sqlite_store, clock)


def strangers(text: str, own: str) -> set[str]:
    return set(CANARY.findall(text)) - {own}


async def test_no_prompt_holds_the_word_of_another_agent(agents: Agents) -> None:
    await agents.run()

    assert agents.model.most_at_once > 1
    assert sorted(agents.model.prompts) == agents.names
    for own, prompts in agents.model.prompts.items():
        assert len(prompts) == 6 and not strangers("".join(prompts), own)
        assert f"about {own}" in prompts[0] and f"{own} is odd" in prompts[-1]
        assert f"{own} again" in prompts[-1].partition("On the blackboard of this execution:")[2]


async def test_no_event_of_an_agent_holds_the_word_of_another(agents: Agents) -> None:
    orders = await agents.run()

    for own, order in orders.items():
        events = await agents.store.ledger.read_execution(order.execution_id)
        events += await agents.store.ledger.read(str(order.order_id))
        told = json.dumps([event.data for event in events])
        assert own in told and not strangers(told, own)


async def test_no_board_of_an_agent_holds_the_word_of_another(agents: Agents) -> None:
    await agents.run()

    for own, world in agents.worlds.items():
        told = json.dumps([entry.value for entry in (await agents.board(world).entries()).values()])
        assert own in told and not strangers(told, own)
