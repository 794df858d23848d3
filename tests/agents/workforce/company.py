"""A department at work for tests: the real engine, executor and store, and capabilities that need nothing else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from agents.employee.ports import Cluster, Offer
from agents.employee.report import ReportCapability
from agents.employee.tree import everyone
from agents.skills import SkillChooser, SkillTools
from agents.workforce import InlineWorkforce
from contracts import (
    EvidenceId,
    EvidenceItem,
    EvidencePackage,
    ExecutionRequest,
    Json,
    QuestionId,
    StatusReport,
    TaskOrder,
)
from runtime.blackboard.on_ledger import LedgerBlackboard
from runtime.canonical import sha256
from runtime.capabilities.port import (
    Allowed,
    CallContext,
    CallResult,
    Capability,
    CapabilitySpec,
    EffectRequest,
    Waiting,
)
from runtime.capabilities.registry import Registry
from runtime.capabilities.router import Router
from runtime.engine.engine import Engine
from runtime.engine.ports import Delegate
from runtime.engine.result import Result
from runtime.executor import ExecutionRun, Executor
from runtime.ledger.port import Append, NewEvent, Store
from runtime.model.port import Model
from runtime.settings.groups import BlackboardSettings, EngineSettings, ExecutorSettings
from tests.agents.employee.report.conftest import say
from tests.agents.employee.staff import SPECS, FakeStaff
from tests.fakes.clock import HandClock
from tests.fakes.hosts import InHosts

Seals = Callable[[EvidenceItem], bool]
Given = CallResult | Waiting
Answer = Callable[[Mapping[str, Json], CallContext], Given | Awaitable[Given]]


def same(arguments: Mapping[str, Json], context: CallContext) -> CallResult:
    """Give back the text."""
    return CallResult({"text": arguments["text"]})


def rows(arguments: Mapping[str, Json], context: CallContext) -> CallResult:
    """Give what a query would."""
    answer = {"text": [{"carrier": "UA", "cancelled": 7}, {"carrier": "EV", "cancelled": 13}]}
    return CallResult(answer, query_sha256=sha256("select"), data_sha256=sha256("flights"))


def everything(item: EvidenceItem) -> bool:
    """Leave no evidence out."""
    return True


@dataclass(frozen=True)
class Scripted:
    """A capability that answers as the test says."""

    spec: CapabilitySpec
    answer: Answer

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult | Waiting:
        given = self.answer(arguments, context)
        return await given if isinstance(given, Awaitable) else given


class OpenGate:
    """Lets everything pass."""

    async def authorise(self, request: EffectRequest) -> Allowed:
        return Allowed()

    async def in_doubt(self, request: EffectRequest) -> bool:
        return True


@dataclass
class EngineCluster:
    """A cluster without slots: the engine runs the order where it stands, and what it did is sealed."""

    engine: Engine
    orders: list[TaskOrder]
    store: Store
    clock: HandClock
    seals: Seals | None

    async def submit(self, order: TaskOrder) -> StatusReport:
        self.orders.append(order)
        report = await self.engine.run(order)
        return await self._sealed(order, report) if report.state.final and self.seals else report

    async def _sealed(self, order: TaskOrder, report: StatusReport) -> StatusReport:
        assert self.seals is not None
        items = [
            item
            for event in await self.store.ledger.read(str(order.order_id))
            if event.type == "step.finished" and event.data
            for item in Result.from_data(event.data, event.time).evidence(str(event.data["step"]))
            if self.seals(item)
        ]
        stream = EvidenceId(f"evidence/{order.order_id.ulid}")
        package = EvidencePackage(
            evidence_id=stream, order_id=order.order_id, execution_id=order.execution_id, employee=order.employee,
            items=tuple(items), seal=sha256([item.to_json() for item in items]), sealed_at=self.clock.now(),
            count=len(items),
        )  # fmt: skip
        version = len(await self.store.ledger.read(stream))
        event = NewEvent("evidence.sealed", {"package": package.to_json()})
        await self.store.ledger.append(Append(stream, [event], version, order.organisation, "/test"))
        return report.model_copy(update={"evidence": (*report.evidence, stream)})


@dataclass
class Company:
    """One organisation with its own workforce, on a store that others may share."""

    in_hosts: ClassVar[bool] = False
    """Whether its employees sit in hosts, of which there are two without processes."""
    staff: FakeStaff
    store: Store
    clock: HandClock
    answers: dict[str, Answer] = field(default_factory=dict)
    submitted: list[TaskOrder] = field(default_factory=list)
    seals: Seals | None = everything
    """Which evidence the cluster seals; None lets it seal nothing at all."""
    settings: EngineSettings = field(default_factory=EngineSettings)
    model: Model | None = None
    more: Sequence[Capability] = ()
    """What its employees can use beside."""

    def __post_init__(self) -> None:
        owned = {node.id: node.skills for node in everyone(self.staff.head)}
        self.offer = Offer(SkillTools(self.staff.skills), SkillChooser(self.staff.skills, owned))
        answers: dict[str, Answer] = {"flights.query": rows, "echo": same, "desk.waive": same, **self.answers}
        scripted = [Scripted(SPECS[name], answer) for name, answer in answers.items()]
        registry = Registry([*scripted, ReportCapability(lambda _: say), *self.more])
        self.router = Router(registry)
        self.workforce = InlineWorkforce(
            self.staff, store=self.store, specs=registry.specs(), engine_for=self.engine, cluster_for=self.cluster,
            clock=self.clock, offer_for=lambda run: self.offer, settings=self.settings,
        )  # fmt: skip
        body = InHosts(self.store, self.workforce) if self.in_hosts else self.workforce
        self.executor = Executor(self.store, self.clock, ExecutorSettings(), body, f"test-{self.staff.name}")

    def engine(self, run: ExecutionRun, delegate: Delegate | None) -> Engine:
        board = LedgerBlackboard(
            self.store.ledger, run.execution_id, organisation=self.staff.name, settings=BlackboardSettings()
        )
        return Engine(
            store=self.store, router=self.router, gate=OpenGate(), clock=self.clock, settings=self.settings,
            blackboard=board, delegate=delegate, leases=run.leases, cancelled=run.cancelled, redact=lambda value: value,
            reopen=run.reopened, model=self.model,
        )  # fmt: skip

    def cluster(self, run: ExecutionRun) -> Cluster:
        return EngineCluster(self.engine(run, None), self.submitted, self.store, self.clock, self.seals)

    async def ask(self, skill: str | None, **more: Any) -> StatusReport:
        request = {"organisation": self.staff.name, "goal": "Why?", "skill": skill, "requested_by": "ann", **more}
        asked = ExecutionRequest.model_validate(request)
        execution_id = (await self.executor.submit(asked, "0" * 64, Path("/nowhere"))).execution_id
        return await self.executor.run(execution_id)

    async def orders(self) -> list[TaskOrder]:
        events = await self.store.ledger.read_all(limit=10_000)
        return [TaskOrder.read(event.data["order"]) for event in events
                if event.type == "order.accepted" and event.data]  # fmt: skip


class AskOnce:
    """Waits for a person the first time it is called."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult | Waiting:
        self.calls += 1
        return Waiting((QuestionId.new(),)) if not context.pending else CallResult({"text": arguments["text"]})
