"""Puts the parts of one organisation together; the only place that knows every room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from agents.cognition.advise import AdviseCapability
from agents.cognition.attend import Attention, Sampling
from agents.cognition.evaluate import Evaluator, LedgerLabels, Proposals
from agents.cognition.explain_capability import ExplainCapability, WordFinding
from agents.cognition.heartbeat.act import PHASES
from agents.cognition.heartbeat.phases import Desk
from agents.cognition.heartbeat.work import WorkBook
from agents.cognition.reason_capability import AttributeCapability
from agents.cognition.sense import Sensors
from agents.employee.planning.conclude import StateResult
from agents.employee.planning.propose import ChooseSkill, ProposePlan
from agents.employee.ports import Offer
from agents.employee.report.capability import ReportCapability
from agents.organisation import BudgetsNow, Organisation, RulesNow, route
from agents.skills import SkillTools
from agents.skills.reading import ReadSkill
from agents.workforce import InlineWorkforce
from cluster import Bridge, ControlPlane, Engines, Gateway, driver_for, open_control_plane, this_node
from console.browser import SlotBrowser, slot_browser
from console.choosing import SkillChoices
from console.folders import folder_of
from console.memory_wiring import memory_capabilities, memory_room
from console.prompt_blocks import blocks_for
from console.scripts import SandboxedScripts
from console.texts import LANGUAGES, say_in
from contracts import Answer, ExecutionId, Json, QuestionId
from governance.alerts import Alerts
from governance.approvals import ApprovalGate, ApprovalGateway
from governance.costs.limits import StandingBudgets
from governance.notifications import Notify
from governance.policies import StandingPolicies
from memory.metric_capability import MetricCapability
from memory.metrics import MetricRegistry
from runtime.blackboard import LedgerBlackboard, ToldBoard
from runtime.capabilities.bridged import BridgeCalls, BridgedGate
from runtime.capabilities.browser.capability import browser_capabilities
from runtime.capabilities.builtin import builtin_capabilities
from runtime.capabilities.connected import Connected, connect
from runtime.capabilities.port import CapabilitySpec
from runtime.capabilities.registry import Registry
from runtime.capabilities.router import Router
from runtime.capabilities.secrets import Secrets
from runtime.capabilities.web.capability import web_capabilities
from runtime.clock import Clock
from runtime.context.blocks import Block
from runtime.context.budget import Gauge
from runtime.engine.engine import Engine
from runtime.engine.ports import Delegate, SkillChoice
from runtime.engine.questions import read_answer
from runtime.executor import ExecutionRun
from runtime.executor.register import Register
from runtime.ledger.grip import StillHeld
from runtime.ledger.port import Lease, Store
from runtime.model.naming import names_in
from runtime.model.opening import Models
from runtime.settings.load import Settings
from runtime.telemetry import redact

if TYPE_CHECKING:
    from memory.room import MemoryRoom
    from runtime.ledger.store import SqlStore  # it imports SQLAlchemy, which takes 0.4 s
    from runtime.search import Embedder


@dataclass
class Wired:
    """One organisation at work. Nothing is opened before it is used; `close` closes what was."""

    organisation: Organisation
    store: Store
    settings: Settings
    clock: Clock
    control_plane: ControlPlane
    bridge: Bridge
    models: Models
    choices: SkillChoices
    calls: BridgeCalls | None = None
    """Lays calls before bridges that speak HTTP."""
    _boards: WeakValueDictionary[ExecutionId, LedgerBlackboard] = field(init=False, default_factory=WeakValueDictionary)

    @cached_property
    def connected(self) -> Connected:
        """Its databases and services."""
        return connect(
            self.organisation.connections,
            folder=self.organisation.folder,
            home=self.settings.home,
            time_zone=self.organisation.time_zone,
            sql=self.settings.sql,
            http=self.settings.http,
            mcp=self.settings.mcp,
            browser=self.settings.browser,
            browser_told=lambda why_not: slot_browser(self.settings).record(why_not),
            secrets=Secrets(),
            views=self.organisation.views,
            calls=self.calls,
        )

    @cached_property
    def metrics(self) -> MetricRegistry:
        """Its metrics, read through its connections."""
        return MetricRegistry(
            self.organisation.metrics.values(),
            self._query,
            time_zone=self.organisation.time_zone,
            database_of=lambda source: self.connected.sql[source].database,
            run=SandboxedScripts(self.settings).run,
        )

    @cached_property
    def sensors(self) -> Sensors:
        """What lets its sensors look."""
        return Sensors(self.store, self.metrics, self.settings.sensor, self.organisation.name)

    @cached_property
    def alerts(self) -> Alerts:
        """Its alerts."""
        rules = self.organisation.alerts.rules(self.settings.alerts, self.settings.sensor, self.organisation.zone)
        return Alerts(self.store, self.organisation.name, rules)

    @cached_property
    def attention(self) -> Attention:
        """What is seen to first."""
        return Attention(self.store, self.alerts, self.organisation.name, self.settings.attention)

    @cached_property
    def sampling(self) -> Sampling:
        """How often its sensors look."""
        return Sampling(self.store, self.organisation.name, self.settings.attention)

    @cached_property
    def rounds(self) -> Desk:
        """What rounds of its heartbeat work with."""
        organisation, ledger = self.organisation, self.store.ledger
        return Desk(
            ledger,
            organisation.name,
            organisation.sensors,
            Register(self.store),
            WorkBook(ledger, organisation.name, self.settings.heartbeat),
            alerts=lambda: self.alerts,
            attention=lambda: self.attention,
            evaluator=lambda: self.evaluator,
            resolve_skill=lambda goal: route(goal, organisation.skills.values()).skill,
            language=organisation.language,
            stale=timedelta(seconds=self.settings.heartbeat.stale_s),
        )

    @cached_property
    def evaluator(self) -> Evaluator:
        """What holds promises of its cards against its metrics."""
        return Evaluator(
            self.store.ledger, self.metrics, self.organisation.name, self.settings.evaluation, self.proposals
        )

    @cached_property
    def proposals(self) -> Proposals:
        """What finds gaps, and proposes skills for them."""
        return Proposals(
            self.store.ledger, self.approvals, self.organisation.approvals, self.organisation.name,
            self.settings.evaluation, clock=self.clock, languages={name: say_in(name) for name in LANGUAGES},
        )  # fmt: skip

    @cached_property
    def approvals(self) -> ApprovalGateway:
        """Its decision cards."""
        return ApprovalGateway(self.store, self.clock, self.organisation.people, self.organisation.name)

    @cached_property
    def policies(self) -> StandingPolicies:
        """What must hold at every call: the rules that were pinned, and those of the folder now."""
        return StandingPolicies(self.organisation.rules, RulesNow(self.organisation.folder))

    @cached_property
    def budgets(self) -> StandingBudgets:
        """What its departments and processes may spend in a period, as the folder says now."""
        return StandingBudgets(self.organisation.budgets, BudgetsNow(self.organisation.folder))

    @cached_property
    def registry(self) -> Registry:
        """Everything its employees can use."""
        return Registry(
            [
                *builtin_capabilities(self.settings.slot),
                *browser_capabilities(self.connected.browsers),
                *web_capabilities(self.connected.web),
                *self.connected.capabilities,
                AttributeCapability(say_in),
                ExplainCapability(self.metrics, say_in),
                WordFinding(),
                AdviseCapability(
                    self._specs,
                    self.organisation.approvals,
                    self.approvals,
                    self.policies.book,
                    say_in=say_in,
                    metrics=self.metrics,
                    labels=LedgerLabels(self.store.ledger, self.organisation.name),
                ),
                ReportCapability(say_in),
                MetricCapability(self.metrics),
                *memory_capabilities(
                    self.organisation,
                    self.store.ledger,
                    self.settings.memory,
                    gateway=self.approvals,
                    clock=self.clock,
                    memory=lambda: self.memory,
                    embedder=self._embedder,
                ),
                ReadSkill({name: skill.files for name, skill in self.organisation.skills.items() if skill.files}),
                ProposePlan(self.organisation),
                StateResult(),
                *(phase(self.rounds) for phase in PHASES),
                Notify(self.store.ledger, self.organisation.people),
                ChooseSkill(self.organisation, self._answer_to),
            ]
        )

    @cached_property
    def memory(self) -> MemoryRoom:
        """What it remembers."""
        return memory_room(
            self.organisation, self.store, self.settings, clock=self.clock, models=self.models, choices=self.choices
        )

    def _embedder(self) -> Embedder | None:
        return self.choices.embedder(self.organisation, names_in(self.settings.model, self.organisation.models))

    @cached_property
    def router(self) -> Router:
        """The way to them; it remembers the form of each one's arguments."""
        return Router(self.registry, timeout_s=self.settings.engine.step_timeout_s, check=self.policies)

    @cached_property
    def skill_tools(self) -> SkillTools:
        """Its skills, as models call them."""
        return SkillTools(self.organisation.skills)

    @cached_property
    def workforce(self) -> InlineWorkforce:
        """Its employees."""
        return InlineWorkforce(
            self.organisation,
            store=self.store,
            specs=self.registry.specs(),
            engine_for=lambda run, delegate: self._engine(run, delegate, (), run.still_held),
            cluster_for=self._cluster,
            clock=self.clock,
            offer_for=lambda run: Offer(self.skill_tools, self.skills_for(run)),
            settings=self.settings.engine,
        )

    async def close(self) -> None:
        """Close databases and connections; a local service goes on."""
        if "connected" in self.__dict__:
            await self.connected.close()

    def reading(self, run: ExecutionRun) -> Engine:
        """Return an engine that looks at orders of an execution and carries none out."""
        return self._engine(run, self.workforce.shift(run).delegate, (), run.still_held)

    def engine_in_slot(self, run: ExecutionRun, slot: Sequence[Lease], still_held: StillHeld) -> Engine:
        """Return the engine of an order that holds a slot; the slot is asked about before the execution's lease."""

        async def both() -> None:
            await still_held()
            await run.still_held()

        return self._engine(run, None, slot, both)

    def _engine(
        self, run: ExecutionRun, delegate: Delegate | None, slot: Sequence[Lease], still_held: StillHeld
    ) -> Engine:
        approval = ApprovalGate(
            self.approvals,
            self.policies.book,
            self.organisation.approvals,
            say_in=say_in,
            clock=self.clock,
        )
        gate = BridgedGate(approval, self.calls, timeout_s=self.settings.engine.step_timeout_s)
        return Engine(
            store=self.store,
            router=self.router,
            gate=gate,
            clock=self.clock,
            settings=self.settings.engine,
            blackboard=self._board(run),
            delegate=delegate,
            leases=(*run.leases, *slot),
            cancelled=run.cancelled,
            cancelled_branches=run.cancelled_branches,
            still_held=still_held,
            redact=redact,
            reopen=run.reopened,
            grace_s=self.settings.executor.cancel_grace_s,
            steps=run.steps,
            known=run.known,
            model=self.models.for_run(self.organisation.name, run.models, self.organisation.prices),
            snapshot_events=self.settings.ledger.snapshot_events,
            context=self.settings.context,
            gauge=self._gauge,
            shared=self.budgets,
            blocks=(*self._told, ToldBoard(self._board(run), self.settings.context)),
        )

    @cached_property
    def _gauge(self) -> Gauge:
        """What tells whether prompts fit; one for all executions, since it learns."""
        return Gauge()

    @cached_property
    def _told(self) -> Sequence[Block]:
        """What the models of every execution are told, as it was pinned."""
        return blocks_for(
            self.organisation, self.store.ledger, self.settings, clock=self.clock, memory=lambda: self.memory,
            embedder=self._embedder,
        )  # fmt: skip

    def skills_for(self, run: ExecutionRun) -> SkillChoice:
        """Return what chooses the skills that the models of an execution see, by the embeddings that it pinned."""
        return self.choices.of(self.organisation, run.models)

    def _board(self, run: ExecutionRun) -> LedgerBlackboard:
        """Return the board of an execution: one for all its engines, so that none reads what another one knows."""
        board = self._boards.get(run.execution_id)
        if board is None:
            board = self._boards[run.execution_id] = LedgerBlackboard(
                self.store.ledger,
                run.execution_id,
                organisation=self.organisation.name,
                settings=self.settings.blackboard,
                trace_id=run.trace_id,
                rules=self.organisation.blackboard,
            )
        return board

    async def _answer_to(self, question_id: QuestionId, step: str) -> Answer | None:
        return await read_answer(self.store.ledger, question_id, self.clock, step=step)

    def _cluster(self, run: ExecutionRun) -> Gateway:
        return Gateway(
            self.control_plane,
            self.bridge,
            lambda leases, still_held: self.engine_in_slot(run, leases, still_held),
            leases=run.leases,
            leaving=lambda: run.steps.draining,
        )

    def _specs(self) -> Mapping[str, CapabilitySpec]:
        return self.registry.specs()  # asked for when a card is made: the registry holds whoever asks

    async def _query(
        self, connection: str, sql: str, parameters: dict[str, Json], known_at: datetime
    ) -> Sequence[Mapping[str, Any]]:
        table = await self.connected.sql[connection].query(sql, parameters, known_at)
        return [row for row in table.rows if isinstance(row, dict)]


def control_plane_of(store: SqlStore, settings: Settings, clock: Clock) -> ControlPlane:
    """Return the control plane, in which this machine is one node; all processes of one home folder share its slots."""
    driver = driver_for(settings.slot)(0)
    labels = tuple(dict.fromkeys((*SlotBrowser(settings, driver).labels, *settings.cluster.labels)))
    node = this_node(
        node_folder(settings), settings.slot, labels=labels, driver=driver.name, cannot_enforce=driver.cannot_enforce
    )
    return open_control_plane(store, node, clock, slot=settings.slot, cluster=settings.cluster)


def bridge_of(store: Store, plane: ControlPlane, engines: Engines, settings: Settings, clock: Clock) -> Bridge:
    """Return the bridge of this process."""
    node, driver = plane.node, driver_for(settings.slot)
    assert node is not None, "the plane of a process that has a bridge has a node"
    return Bridge(
        store, plane, lambda index: driver(node.user_of(index)), home=node_folder(settings), clock=clock,
        settings=settings.slot, files=settings.files, cluster=settings.cluster, engines=engines,
    )  # fmt: skip


def node_folder(settings: Settings) -> Path:
    """Return the folder in which this node keeps its id and its slots."""
    return folder_of(Path(settings.cluster.folder)) if settings.cluster.folder else settings.home
