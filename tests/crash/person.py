"""What people do with the reference process, as often as it takes: ask for it, answer, decide, and look at the end."""

from __future__ import annotations

import json
import os
import re
import urllib.request
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from console.application import SiliconApplication
from console.resources import Resources
from console.told import events_of
from console.views import CardStanding, ExecutionOutcome, Product, RunOptions, StepNode
from contracts import CardKind, Event, OrderState
from runtime.ledger.port import Store
from runtime.settings.load import Settings, load
from tests.crash.dying_store import Death, DyingStore

GOAL = "Close the month."
_ID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")
_HASH = re.compile(r"\b[0-9a-f]{64}\b")


@dataclass(frozen=True)
class Task:
    """One life of a process: where its state is, what it works for, and where it dies, if it does."""

    home: str
    url: str
    folder: str
    desk: int
    """Port of the service."""
    key: str
    label: str = ""
    nth: int = 0
    after: bool = False
    in_call: str = ""
    """Path of the service in whose call it dies, after the effect and before the answer."""
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Told:
    """What a life that came to its end tells."""

    execution: str
    state: str
    result: dict[str, Any]
    """The products and what every step gave, without ids, times and hashes."""
    doubts: list[str]
    """Capabilities for which a person had to say whether their effect had happened."""
    writes: list[str]
    """Every write of this life, by label."""
    finished_before: list[str]
    """Idempotency keys of the calls whose step was finished when this life began."""
    twice: list[str]
    """Units that were finished or handed on more than once, in all lives together."""


class DyingResources(Resources):
    """The resources of a process that dies at a write."""

    def __init__(self, settings: Settings, death: Death) -> None:
        super().__init__(settings)
        self._death = death
        self._dying: Any = None

    async def store(self) -> Store:
        if self._dying is None:
            self._dying = DyingStore(await super().store(), self._death)
            self._store = self._dying
        store: Store = self._dying
        return store


async def live(task: Task) -> Told:
    """Bring the execution to its end, from wherever it stands."""
    settings = load(
        {
            "home": task.home,
            "ledger.url": task.url,
            "ledger.synchronous": "NORMAL",
            "engine.settle_s": 0.0,
            "slot.count": 4,
            **task.settings,
        }
    )
    death = Death(task.label, task.nth, task.after)
    resources = DyingResources(settings, death)
    try:
        return await Person(resources, task, death).see_it_through()
    finally:
        await resources.close()


class Person:
    def __init__(self, resources: Resources, task: Task, death: Death) -> None:
        self._resources = resources
        self._application = SiliconApplication(resources)
        self._task = task
        self._death = death

    async def see_it_through(self) -> Told:
        if self._task.in_call:
            ask_desk(self._task.desk, "/kill", {"pid": os.getpid(), "path": self._task.in_call})
        before = finished_calls(await self._events())
        options = RunOptions(goal=GOAL, skill="close-month", by="ann", key=self._task.key)
        outcome = await self._application.run(Path(self._task.folder), options, watch=_ignore)
        while outcome.state is OrderState.WAITING:
            for question in outcome.questions:
                await self._application.answer(question.question_id, "all", by="ann")
            for standing in outcome.cards:
                await self._decide(standing)
            outcome = await self._application.resume(outcome.execution_id, watch=_ignore)
        return await self._told(outcome, before)

    async def _decide(self, standing: CardStanding) -> None:
        card = standing.card
        option = "pay"
        if card.kind is CardKind.IN_DOUBT:
            option = "happened" if self._happened(str(card.order_id), card.step or "") else "again"
        await self._application.decide(card.card_id, option=option, reason="I looked.", by="bea")

    def _happened(self, order: str, step: str) -> bool:
        """Look at the other side, as the card asks."""
        keys = {call["key"] for call in ask_desk(self._task.desk, "/log")}
        return any(key.startswith(f"{order.rpartition('/')[2]}:{step}") for key in keys)

    async def _events(self) -> list[Event]:
        """Return what the ledger has of the execution so far."""
        executor, store = await self._resources.executor(), await self._resources.store()
        execution = await executor.find("counting-house", self._task.key)
        return [] if execution is None else [event async for event in events_of(store, execution)]

    async def _told(self, outcome: ExecutionOutcome, before: set[str]) -> Told:
        tree = await self._application.show(outcome.execution_id)
        products = {product.title: _text_of(product) for product in outcome.products}
        result = {
            "output": outcome.output,
            "error": outcome.error and outcome.error.to_json(),
            "products": products,
            "steps": _steps(tree.root.steps) if tree.root else None,
        }
        events = await self._events()
        units = Counter(
            (event.type, event.subject, event.data.get("step"), event.data.get("index"))
            for event in events
            if event.type in ("step.finished", "step.dispatched") and event.data
        )
        doubts = [each.card for each in (*outcome.cards, *outcome.decided) if each.card.kind is CardKind.IN_DOUBT]
        return Told(
            execution=str(outcome.execution_id),
            state=outcome.state.value,
            result=result,
            doubts=sorted(action.use or "" for card in doubts for option in card.options for action in option.actions),
            writes=self._death.met,
            finished_before=sorted(before),
            twice=[f"{unit}" for unit, times in units.items() if times > 1],
        )


def _text_of(product: Product) -> str:
    return "" if product.path is None else _without_ids(product.path.read_text())


def finished_calls(events: Iterable[Event]) -> set[str]:
    """Return the idempotency keys of the calls whose step is finished."""
    return {
        f"{event.subject.rpartition('/')[2]}:{event.data['step']}"
        for event in events
        if event.type == "step.finished" and event.data and event.data.get("use")
    }


def ask_desk(port: int, path: str, body: Any = None, *, within_s: float = 10) -> Any:
    """Return what the service answers; a POST where there is a body."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=data)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def _steps(steps: Sequence[StepNode]) -> list[Any]:
    """Return what each step came to, with its branches and the orders below it."""
    return [
        {
            "step": step.id, "index": step.index, "state": step.state.value, "output": _plain(step.output),
            "problem": step.problem and step.problem.code, "why": step.why, "branches": _steps(step.steps),
            "orders": [[below.employee, below.state.value, _steps(below.steps)] for below in step.orders],
        }
        for step in steps
    ]  # fmt: skip


def _plain(value: Any) -> Any:
    return json.loads(_without_ids(json.dumps(value)))


def _without_ids(text: str) -> str:
    return _HASH.sub("<hash>", _ID.sub("<id>", text))


def _ignore(event: object) -> None:
    """Watch nothing."""
