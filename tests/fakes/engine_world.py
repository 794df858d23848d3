"""A small world for the step engine: capabilities that count, a gate of cards, and employees that are engines too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from contracts import (
    Ancestor,
    Answer,
    CardId,
    Effect,
    ExecutionId,
    Json,
    OrderId,
    Parameter,
    PlanDefinition,
    QuestionId,
    StatusReport,
    Step,
    TaskOrder,
    ValueType,
)
from runtime.blackboard import KeyRule, LedgerBlackboard
from runtime.capabilities.actions import ActionCheck
from runtime.capabilities.port import (
    Allowed,
    CallContext,
    CallResult,
    CapabilitySpec,
    EffectRequest,
    Refused,
    Told,
    Waiting,
)
from runtime.capabilities.registry import Registry
from runtime.capabilities.router import Router
from runtime.context.blocks import Block
from runtime.draining import Steps
from runtime.engine.engine import Engine
from runtime.engine.fold import fold_order
from runtime.engine.ports import SkillsShown
from runtime.engine.shared_budget import SharedBudgets
from runtime.engine.view import OrderView
from runtime.known import Known
from runtime.ledger.grip import StillHeld, always
from runtime.ledger.port import Append, NewEvent, Store
from runtime.model.port import Model
from runtime.settings.groups import BlackboardSettings, EngineSettings
from runtime.telemetry.redaction import redact
from tests.fakes.clock import HandClock

Act = Callable[[Mapping[str, Json], CallContext], Any]


class Tool:
    """A capability made of a function; remembers each call, and by key what happened."""

    def __init__(
        self, name: str, act: Act, effect: Effect = Effect.READ, *, can_look_up: bool = False, **spec: Any
    ) -> None:
        self.spec = CapabilitySpec(
            name=name,
            kind="builtin_tool",
            description=name,
            parameters={},
            gives={},
            effect=effect,
            open_arguments=True,
            can_look_up=can_look_up,
            **spec,
        )
        self._act = act
        self.calls: list[dict[str, Json]] = []
        self.contexts: list[CallContext] = []
        self.happened: dict[str, CallResult] = {}

    @property
    def keys(self) -> Counter[str]:
        return Counter(context.key for context in self.contexts)

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult | Waiting:
        self.calls.append(dict(arguments))
        self.contexts.append(context)
        given = self._act(arguments, context)
        if isinstance(given, Awaitable):
            given = await given
        if isinstance(given, Exception):
            raise given
        if isinstance(given, Waiting):
            return given
        result = given if isinstance(given, CallResult) else CallResult(output=given)
        self.happened[context.key] = result
        return result

    async def lookup(self, key: str, context: CallContext) -> CallResult | None:
        return self.happened.get(key)


def one_after_the_other(*answers: Any) -> Act:
    """Return a function that gives the answers in turn, the last one for ever; exceptions among them are raised."""
    left = list(answers)
    return lambda arguments, context: left.pop(0) if len(left) > 1 else left[0]


class CardGate:
    """Lets effects through that are in no list; otherwise a card each, decided by `decide`."""

    def __init__(self, *, ask: bool = False) -> None:
        self.ask = ask
        self.cards: dict[CardId, EffectRequest] = {}
        self.decisions: dict[CardId, bool | Told] = {}
        self.doubts: dict[CardId, EffectRequest] = {}

    def decide(self, card: CardId | QuestionId, yes: bool | Told) -> None:
        self.decisions[CardId(card)] = yes

    async def authorise(self, request: EffectRequest) -> Allowed | Waiting | Refused:
        if not self.ask:
            return Allowed()
        for card in request.pending:
            if card in self.decisions:
                return self._decided(card, request)
            return Waiting((card,))
        card = CardId.new()
        self.cards[card] = request
        return Waiting((card,), appends=[_card(card, request, 0, "card.raised")])

    def _decided(self, card: CardId, request: EffectRequest) -> Allowed | Refused:
        if not self.decisions[card]:
            return Refused("DENIED", "a person said no")
        return Allowed(card, appends=[_card(card, request, 1, "card.used")])

    async def in_doubt(self, request: EffectRequest) -> Waiting | Told | bool:
        for card in request.pending:
            return self.decisions[card] if card in self.decisions else Waiting((card,))
        card = CardId.new()
        self.doubts[card] = request
        return Waiting((card,), appends=[_card(card, request, 0, "card.raised")])


def _card(card: CardId, request: EffectRequest, version: int, event: str) -> Append:
    return Append(str(card), [NewEvent(event, {"key": request.key})], version, request.order.organisation, "/test")


class Staff:
    """Employees whose skills are plans, and who carry out one capability where a step names one."""

    def __init__(self, world: World, skills: Mapping[str, PlanDefinition]) -> None:
        self._world = world
        self._skills = skills
        self.orders: list[TaskOrder] = []
        self.tasks: list[str] = []
        """For which skills were chosen."""
        self.telling: Callable[[Json], str] | None = None
        self.refusal: Exception | None = None
        """Why nobody gets an order."""

    def order_for(
        self, parent: TaskOrder, step: Step, arguments: dict[str, Json], *, index: int | None, learnt: str | None
    ) -> TaskOrder:
        if self.refusal is not None:
            raise self.refusal
        plan = self._skills[step.skill] if step.skill else _one_step(step, arguments)
        above = Ancestor(order_id=parent.order_id, employee=parent.employee, skill=parent.skill, step=step.id)
        order = parent.model_copy(
            update={
                "order_id": OrderId.new(),
                "employee": step.by or parent.employee,
                "plan": plan,
                "skill": step.skill,
                "inputs": arguments,
                "chain": (*parent.chain, above),
                "authority": None,
            }
        )
        self.orders.append(order)
        return order

    def skill_tools(self, order: TaskOrder, skills: Sequence[str]) -> Sequence[CapabilitySpec]:
        plans = {name: self._skills[name] for name in skills}
        return [CapabilitySpec(name, "skill", f"Does {name}.", plan.parameters, {}) for name, plan in plans.items()]

    def told(self, skill: str, output: Json) -> str | None:
        return self.telling(output) if self.telling else None

    async def fitting_skills(self, order: TaskOrder, task: str, *, beside: Sequence[str]) -> SkillsShown:
        self.tasks.append(task)
        names = [name for name in self._skills if name in task or name in beside]
        return SkillsShown(names, dict.fromkeys(names, "fits"), [name for name in self._skills if name not in names])

    async def carry_out(self, order: TaskOrder) -> StatusReport:
        return await self._world.engine(delegate=self).run(order)


def _one_step(step: Step, arguments: Mapping[str, Json]) -> PlanDefinition:
    bound = {name: f"{{{{ {name} }}}}" for name in arguments}
    parameters = {name: Parameter(type=ValueType.ANY, required=False) for name in arguments}
    return PlanDefinition(
        parameters=parameters, steps=(Step.model_validate({"id": "do", "use": step.use, "with": bound}),)
    )


class World:
    """Everything an engine needs, around one store. `engine()` is a new process each time."""

    def __init__(self, store: Store, clock: HandClock, *tools: Tool, **settings: Any) -> None:
        self.store = store
        self.clock = clock
        self.tools = {tool.spec.name: tool for tool in tools}
        self.gate = CardGate()
        self.skills: dict[str, PlanDefinition] = {}
        self.settings = EngineSettings(**settings)
        self.cancelled = False
        self.cancelled_branches: set[str] = set()
        self.reopen = False
        self.snapshot_events = 3
        """Few, so that every test that goes on with an order does so by way of snapshots."""
        self.waits: list[float] = []
        self.meanwhile: Callable[[], object] = lambda: None
        """What happens while the engine waits."""
        self.execution_id = ExecutionId.new()
        self.key_rules: dict[str, KeyRule] = {}
        self.staff: Staff | None = None
        self.model: Model | None = None
        self.blocks: Sequence[Block] = ()
        self.steps: Steps | None = None
        self.known: Known | None = None
        """What the process knows; None where each engine is one that knows nothing."""
        self.grace_s = 0.0
        self.still_held: StillHeld = always
        self.shared: SharedBudgets | None = None
        """Budgets that its orders share with those of other worlds."""
        self.check: ActionCheck | None = None
        """What must hold at every call."""

    def engine(self, delegate: Staff | None = None) -> Engine:
        self.staff = delegate or Staff(self, self.skills)
        board = LedgerBlackboard(
            self.store.ledger, self.execution_id, organisation="acme", settings=BlackboardSettings(),
            rules=self.key_rules,
        )  # fmt: skip
        return Engine(
            store=self.store,
            router=Router(Registry(self.tools.values()), check=self.check),
            gate=self.gate,
            clock=self.clock,
            settings=self.settings,
            blackboard=board,
            delegate=self.staff,
            leases=(),
            cancelled=lambda: self.cancelled,
            cancelled_branches=lambda: self.cancelled_branches,
            still_held=self.still_held,
            redact=redact,
            reopen=self.reopen,
            sleep=self._sleep,
            grace_s=self.grace_s,
            snapshot_events=self.snapshot_events,
            model=self.model,
            steps=self.steps,
            known=self.known,
            blocks=self.blocks,
            shared=self.shared,
        )

    async def run(self, order: TaskOrder) -> StatusReport:
        return await self.engine().run(order)

    async def view(self, order: TaskOrder) -> OrderView:
        return fold_order(await self.store.ledger.read(str(order.order_id)))

    async def kinds(self, order: TaskOrder) -> list[str]:
        return [event.type for event in await self.store.ledger.read(str(order.order_id))]

    def order(self, *steps: dict[str, Any], **facts: Any) -> TaskOrder:
        plan = PlanDefinition.model_validate({"steps": steps, **facts.pop("plan", {})})
        return TaskOrder(
            order_id=OrderId.new(),
            execution_id=self.execution_id,
            organisation="acme",
            issued_by="ann",
            objective="Do it.",
            plan=plan,
            requested_by="ann",
            trace_id="0" * 32,
            **{"employee": "head", "known_at": self.clock.now(), **facts},
        )

    async def answer(self, question: QuestionId | CardId, value: Json) -> None:
        answer = Answer(question_id=QuestionId(question), value=value, by="ann", at=self.clock.now())
        event = NewEvent("question.answered", {"answer": answer.to_json()})
        await self.store.ledger.append(Append(str(question), [event], 1, "acme", "/test"))

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.meanwhile()


def with_store(world: World, store: Store) -> World:
    """Make the world write to another store from now on, as a new process would."""
    world.store = store
    return world
