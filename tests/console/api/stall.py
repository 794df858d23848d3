"""An organisation whose arm is a bridge's, and bridges that a test moves word by word."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from console.api import create_api
from console.application import open_application
from console.ports import Application
from console.views import ExecutionOutcome, RunOptions
from contracts import Event, ExecutionId
from runtime.settings import ClusterSettings, EngineSettings, LedgerSettings, ServerSettings, SlotSettings
from runtime.settings.load import Settings
from tests.fakes.clock import HandClock
from tests.stores import lay_empty_ledger

PATIENCE_S = 90.0
LEASE_S = 5.0
CAPABILITIES = ("arm.look", "arm.push", "arm.press", "arm.set")
ORG = """\
name: stall
title: The stall
time_zone: Europe/Berlin
people:
  - {id: clerk, name: Robin, roles: [operator], login: any}
  - {id: owner, name: Morgan, roles: [approver], groups: [owners]}
approvals:
  default: {mode: strict, who: [owners], within: 24h}
head:
  id: head
  title: Head
  skills: [look, push, press, set, both, one-by-one]
  manages:
    - {id: worker, title: Worker, skills: [look-twice, in-turn], can: [arm.look, arm.push, arm.press, arm.set]}
"""
CONNECTIONS = """\
arm:
  kind: bridge
  label: arm
  description: An arm of steel.
  operations:
    look:
      effect: read
      parameters: {at: {type: integer, default: 1, description: Where., example: 1}}
      gives: {n: integer}
    push: {effect: write, parameters: {force: {type: integer, description: Force.}}, gives: {done: string}}
    press:
      effect: write
      lookup: true
      parameters: {force: {type: integer, description: Force.}}
      gives: {done: string}
    set: {effect: idempotent, parameters: {force: {type: integer, description: Force.}}, gives: {done: string}}
"""
RULE = """\
text: Nobody pushes harder than 10.
applies_to: [arm.push, arm.press]
allow_when: arguments.force <= 10
examples:
  - {use: arm.push, with: {force: 3}, allowed: true, why: Usual.}
  - {use: arm.push, with: {force: 30}, allowed: false, why: It breaks.}
"""
SKILL = """\
---
name: {name}
description: Lets the arm {name}.
metadata: {{when_to_use: The arm is to {name}., words: arm {name}, tier: {tier}}}
---
It is done.
"""


def make_stall(folder: Path) -> Path:
    """Write the organisation."""
    (folder / "rules").mkdir(parents=True)
    (folder / "org.yaml").write_text(ORG)
    (folder / "connections.yaml").write_text(CONNECTIONS)
    (folder / "rules" / "force.yaml").write_text(RULE)
    given = {"force": {"type": "integer", "description": "How hard.", "default": 3, "example": 3}}
    force = {"use": "arm.push", "with": {"force": "{{ force }}"}}
    plans = {
        "look": [{"id": "it", "by": "worker", "use": "arm.look"}],
        **{name: [{"id": "it", "by": "worker", **force, "use": f"arm.{name}"}] for name in ("push", "press", "set")},
        "both": [{"id": "it", "by": "worker", "skill": "look-twice"}],
        "look-twice": [{"id": f"at_{n}", "use": "arm.look", "with": {"at": n}, "after": []} for n in (1, 2)],
        "one-by-one": [{"id": "it", "by": "worker", "skill": "in-turn"}],
        "in-turn": [
            {"id": "at_1", "use": "arm.look", "with": {"at": 1}},
            {"id": "at_2", "use": "arm.look", "with": {"at": 2}, "after": ["at_1"]},
        ],
    }
    for name, steps in plans.items():
        skill = folder / "skills" / name
        skill.mkdir(parents=True)
        gives = {step["id"]: f"{{{{ {step['id']} }}}}" for step in steps}
        parameters = given if "force" in json.dumps(steps) else {}
        plan = {"parameters": parameters, "steps": steps, "gives": gives}
        (skill / "plan.yaml").write_text(json.dumps(plan))
        tier = "execution" if name in ("look-twice", "in-turn") else "cognitive"
        (skill / "SKILL.md").write_text(SKILL.format(name=name, tier=tier))
    return folder


@dataclass
class Word:
    """An order in the hands of a bridge, and what is said about it."""

    arm: Arm
    session: str
    order_id: str
    fence: int
    given: Mapping[str, Any]

    async def say(self, what: str, *, expect: int | None = 200, **more: Any) -> Any:
        """Say something about the order."""
        path = f"{self.arm.path}/orders/{self.order_id.partition('/')[2]}/{what}"
        word = {"session": self.session, "slot_id": self.given["allocation"]["slot_id"], "fence": self.fence}
        return await self.arm.post(path, expect=expect, **word, **more)

    async def next(self, **more: Any) -> dict[str, Any]:
        """Return what is next, waiting for it."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                told = await self.say("next", wait_s=5, **more)
                if told["call"] or told["report"]:
                    return dict(told)

    async def call(self, **more: Any) -> dict[str, Any]:
        """Return the next call."""
        return dict((await self.next(**more))["call"])

    async def intend(self, call: Mapping[str, Any], *, expect: int = 200, **more: Any) -> dict[str, Any]:
        """Ask for leave."""
        said = {"call_id": call["call_id"], "arguments_sha256": call["arguments_sha256"], **more}
        return dict(await self.say("intent", expect=expect, **said))

    async def done(self, call: Mapping[str, Any], output: Any, *, expect: int = 200, **more: Any) -> dict[str, Any]:
        """Send the receipt of a call that was carried out."""
        said = {"call_id": call["call_id"], "outcome": "done", "output": output, **more}
        return dict(await self.say("receipt", expect=expect, **said))


@dataclass
class Arm:
    """A bridge in the hand of a test."""

    client: httpx.AsyncClient
    name: str
    path: str = ""
    session: str = ""
    entry: Mapping[str, Any] = field(default_factory=dict)

    async def post(self, path: str, *, expect: int | None = 200, **said: Any) -> Any:
        """Say something; return the answer, which must have that status, where one is given."""
        answer = await self.client.post(path, json=said)
        assert expect in (None, answer.status_code), f"{path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    async def register(
        self, *, asks_first: bool = True, capabilities: Sequence[str] = CAPABILITIES, **more: Any
    ) -> Arm:  # fmt: skip
        """Enter the node."""
        said = {"name": self.name, "labels": ["arm"], "capabilities": capabilities, "asks_first": asks_first, **more}
        self.entry = await self.post("/nodes", expect=201, **said)
        self.path, self.session = f"/nodes/{self.entry['node_id'].partition('/')[2]}", self.entry["session"]
        return self

    async def beat(self, **more: Any) -> dict[str, Any]:
        """Give a sign of life."""
        return dict(await self.post(f"{self.path}/beat", session=self.session, **more))

    async def order(self, running: asyncio.Task[ExecutionOutcome] | None = None, **more: Any) -> Word:
        """Return the order that comes next, waiting for it; `running` is what it comes from."""
        async with asyncio.timeout(PATIENCE_S):
            while not (orders := (await self.beat(wait_s=0.5, **more))["orders"]):
                assert running is None or not running.done(), running.result()
        return self.word(orders)

    def word(self, orders: Sequence[Mapping[str, Any]]) -> Word:
        """Return the one order that was told."""
        (given,) = orders
        return Word(self, self.session, given["order"]["order_id"], given["allocation"]["fence"], given)


@dataclass
class Stall:
    """The organisation at work in one process, and the API of that process."""

    application: Application
    api: FastAPI
    clock: HandClock
    folder: Path
    token: str
    settings: Settings
    _clients: list[httpx.AsyncClient] = field(default_factory=list)
    _keys = itertools.count()

    def client(self, token: str | None = None, path: str = "/bridge", api: FastAPI | None = None) -> httpx.AsyncClient:
        """Return a client of the API, a bridge's unless another token is given."""
        client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app=api or self.api), base_url=f"http://stall/api/v1{path}",
            headers={"Authorization": f"Bearer {token or self.token}"}, timeout=PATIENCE_S,
        )  # fmt: skip
        self._clients.append(client)
        return client

    def arm(self, name: str = "arm-1", **more: Any) -> Arm:
        """Return a bridge that is not registered yet."""
        return Arm(self.client(**more), name)

    def run(self, skill: str, **given: str) -> asyncio.Task[ExecutionOutcome]:
        """Begin an execution, as `silicon run` does."""
        options = RunOptions(goal=f"Let the arm {skill}", skill=skill, given=given, key=f"{skill}-{next(self._keys)}")
        running = self.application.run(self.folder, options, watch=lambda event: None)
        return asyncio.create_task(_bounded(running))

    async def go_on(self, execution_id: ExecutionId, option: str | None = None) -> asyncio.Task[ExecutionOutcome]:
        """Decide the card that is open with that option, and let the execution go on."""
        if option is not None:
            (card,) = await self.application.cards(all_=False)
            await self.application.decide(card.card.card_id, option=option, reason="So it is.", by="owner")
        return asyncio.create_task(_bounded(self.application.go_on(execution_id, watch=lambda event: None)))

    async def events(self, execution_id: ExecutionId, of: str = "") -> list[Event]:
        """Return the events of an execution whose type begins like that."""
        found = [event async for event in self.application.events(execution_id, after=0, follow=False)]
        return [event for event in found if event.type.startswith(of)]

    async def close(self) -> None:
        """Close every client."""
        for client in self._clients:
            await client.aclose()


async def _bounded(running: Any) -> ExecutionOutcome:
    async with asyncio.timeout(PATIENCE_S):
        return await running  # type: ignore[no-any-return]


def settings_of(home: Path) -> Settings:
    """Return settings under which nothing waits longer than it has to, and leases run by a clock moved by hand."""
    return Settings(
        home=home,
        ledger=LedgerSettings(synchronous="NORMAL"),
        server=ServerSettings(rate_burst=100_000),
        slot=SlotSettings(lease_s=LEASE_S, count=1),
        cluster=ClusterSettings(pull_s=0.02, beat_s=0.2, lost_after=75),
        engine=EngineSettings(settle_s=0.01),
    )


@asynccontextmanager
async def open_stall(tmp_path: Path) -> AsyncIterator[Stall]:
    """Give the stall at work."""
    home, folder = tmp_path / "home", make_stall(tmp_path / "stall")
    lay_empty_ledger(home)
    settings, clock = settings_of(home), HandClock()
    async with open_application(settings, clock) as application:
        _, token = await application.create_bridge_token("arm", folders=[folder], labels=["arm"])
        api = create_api(application, settings=settings, wake=lambda _: None, clock=clock)
        stall = Stall(application, api, clock, folder, token, settings)
        try:
            yield stall
        finally:
            await stall.close()
