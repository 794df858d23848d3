"""What people do with the mill, one scene for each thing that can become of an execution."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from console.application import SiliconApplication
from console.resources import Resources
from console.views import ExecutionOutcome, RunOptions
from contracts import Event, ExecutionId, OrderState
from tests.crash.office import ignore
from tests.crash.person import ask_desk


@dataclass
class Mill:
    """The mill under one of the engines."""

    resources: Resources
    application: SiliconApplication
    home: Path
    folder: Path
    desk: int
    executions: list[ExecutionId] = field(default_factory=list)

    async def ask(self, skill: str, budget: Mapping[str, str] | None = None, **values: Any) -> ExecutionOutcome:
        """Ask for a skill, and return how it stands after its first stretch; whoever watched was told all of it."""
        told: list[Event] = []
        options = RunOptions(goal=f"Please {skill}.", skill=skill, by="ann", values=values, budget=budget or {})
        outcome = await self.application.run(self.folder, options, watch=told.append)
        stored = [each async for each in self.application.events(outcome.execution_id, after=0, follow=False)]
        assert [each.type for each in told] == [each.type for each in stored if each.type != "execution.requested"]
        self.executions.append(outcome.execution_id)
        return outcome

    async def see_through(
        self, outcome: ExecutionOutcome, *, option: str | None, answer: str = "all"
    ) -> ExecutionOutcome:
        """Answer every question and decide every card in the same way, until nothing waits any more."""
        while outcome.state is OrderState.WAITING:
            for question in outcome.questions:
                await self.application.answer(question.question_id, "all", by="ann")
            for standing in outcome.cards:
                await self.application.decide(standing.card.card_id, option=option, reason="As asked.", by="bea")
            outcome = await self.application.resume(outcome.execution_id, watch=ignore)
        return outcome


@dataclass(frozen=True)
class Scene:
    """What is done, and what has to come of it under whatever engine."""

    act: Callable[[Mill], Awaitable[ExecutionOutcome]]
    state: OrderState
    output: Any = None
    code: str | None = None
    calls: tuple[str, ...] = ()
    """Effects that the service saw."""
    branches: bool = False
    """Whether orders are given at the same moment."""


@dataclass(frozen=True)
class Seen:
    """Everything that can be seen of a scene."""

    outcome: ExecutionOutcome
    events: tuple[tuple[Event, ...], ...]
    """Of each execution."""
    products: Mapping[str, bytes]
    calls: tuple[str, ...]
    """Of the service, in no order."""


async def play(scene: Scene, mill: Mill, *, holding: str = "") -> Seen:
    """Play a scene and return what was seen; the service holds calls of one path until it is told otherwise."""
    ask_desk(mill.desk, "/begin", {})
    ask_desk(mill.desk, "/hold", {"path": holding})
    mill.executions.clear()
    outcome = await scene.act(mill)
    told = [
        tuple([event async for event in mill.application.events(each, after=0, follow=False)])
        for each in mill.executions
    ]
    products = {product.title: product.path.read_bytes() for product in outcome.products if product.path}
    calls = tuple(sorted(call["path"] for call in ask_desk(mill.desk, "/log")))
    return Seen(outcome, tuple(told), products, calls)


def _once(skill: str, **values: Any) -> Callable[[Mill], Awaitable[ExecutionOutcome]]:
    return lambda mill: mill.ask(skill, **values)


def _with_people(skill: str, option: str | None) -> Callable[[Mill], Awaitable[ExecutionOutcome]]:
    async def act(mill: Mill) -> ExecutionOutcome:
        return await mill.see_through(await mill.ask(skill), option=option)

    return act


async def _given_more(mill: Mill) -> ExecutionOutcome:
    stopped = await mill.ask("count", budget={"steps": "3"})
    assert stopped.state is OrderState.PARTIAL and stopped.asks is not None
    return await mill.application.resume(stopped.execution_id, watch=ignore, budget={"steps": "30"}, by="ann")


async def _mended(mill: Mill) -> ExecutionOutcome:
    failed = await mill.ask("look-late")
    assert failed.state is OrderState.FAILED
    ask_desk(mill.desk, "/open", {"account": "late", "balance": 5})
    return await mill.application.resume(failed.execution_id, watch=ignore, by="ann")


async def _noted_twice(mill: Mill) -> ExecutionOutcome:
    await mill.ask("keep-notes", number=7)
    return await mill.ask("keep-notes", number=5)


async def _cancelled(mill: Mill) -> ExecutionOutcome:
    waiting = await mill.ask("try-out")
    await mill.application.decide(waiting.cards[0].card.card_id, option="do", reason="", by="bea")
    waiting = await mill.application.resume(waiting.execution_id, watch=ignore)
    return await mill.application.cancel(waiting.execution_id, by="ann")


DONE, FAILED, PARTIAL, CANCELLED = OrderState.DONE, OrderState.FAILED, OrderState.PARTIAL, OrderState.CANCELLED
SCENES = {
    "when, for each and until": Scene(_once("branch"), DONE, {"turns": 3, "rich": 1, "poor": None}, branches=True),
    "a repetition at its bound": Scene(_once("turn-for-ever"), PARTIAL, code="REPETITION_LIMIT"),
    "five levels of employees": Scene(_once("go-down"), DONE, {"balance": 70}),
    "a board that hosts write at once": Scene(_once("note-all"), DONE, {"sum": 321, "versions": 3}, branches=True),
    "a question, a card and its effects once": Scene(
        _with_people("close-month", "pay"), DONE,
        {"held": 70, "missing": "BUSINESS_REFUSAL", "paid": 70, "decision": "approved"},
        calls=("/letters", "/payments"), branches=True,
    ),
    "a card that is denied": Scene(
        _with_people("close-month", None), DONE,
        {"held": 70, "missing": "BUSINESS_REFUSAL", "paid": None, "decision": "denied"}, branches=True,
    ),
    "a rule that refuses one branch": Scene(
        _once("overpay"), DONE, {"why": "POLICY_VIOLATED", "held": 70}, branches=True
    ),
    "a budget that ends, and more of it": Scene(_given_more, DONE, {"known": 70, "last": 1}),
    "another way after what was not met": Scene(_once("doubt-first"), DONE, {"balance": 70}),
    "a step that failed and is resumed": Scene(_mended, DONE, {"late": 5}),
    "a workspace that goes on": Scene(_noted_twice, DONE, {"total": 12}),
    "effects taken back on cancel": Scene(_cancelled, CANCELLED, calls=("/payments", "/payments/back")),
    "what is remembered and looked up": Scene(
        _once("remember"), DONE,
        {"became": "written", "said": "The wheel of the mill turns left.", "text": "Open the lower gate first."},
    ),
    "a model that there is not": Scene(_once("think"), FAILED, code="MODEL_REQUIRED"),
    "a program that fails and is done without": Scene(_once("stumble"), DONE, {"program": None}),
}  # fmt: skip
