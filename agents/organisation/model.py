"""An organisation that was read and found sound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from zoneinfo import ZoneInfo

from agents.cognition.advise.options import OptionsFile
from agents.cognition.heartbeat.terms import HeartbeatTerms
from agents.cognition.sense.cron import CronDefinition
from agents.cognition.sense.definition import SensorDefinition
from agents.cognition.sense.event import EventDefinition
from agents.cognition.sense.kinds import AnySensor
from agents.employee.ports import Isolation
from agents.organisation.alerts_file import AlertsFile
from agents.skills.reach import Reach, ShowRule
from contracts import Budget, CapabilityName, MetricDefinition, Name, PlanDefinition, Text, Tier, Workspace
from governance.access import People
from governance.approvals.rule import ApprovalRule
from governance.policies import Policy
from memory.behaviour.behaviour import Behaviour
from memory.knowledge.tree import KnowledgeTree
from runtime.blackboard.rules import KeyRule
from runtime.capabilities.connections import AnyConnection
from runtime.capabilities.port import CapabilitySpec
from runtime.engine.shared_budget import SharedBudget
from runtime.model.prices import Prices


@dataclass(frozen=True)
class EmployeeNode:
    """One employee with everybody below."""

    id: Name
    title: Text = ""
    skills: tuple[Name, ...] = ()
    can: tuple[CapabilityName, ...] = ()
    manages: tuple[EmployeeNode, ...] = ()
    isolation: Isolation = "shared"
    """Whether it sits in a process of its own, where the engine has several."""
    workspace: Workspace | None = None
    """Files of its own, where it has any."""

    def everybody(self) -> Iterator[EmployeeNode]:
        """Yield this employee and everybody below, in reading order."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.manages))


@dataclass(frozen=True)
class Skill:
    """Something an employee can be asked to do."""

    name: Name
    description: str
    plan: PlanDefinition
    """Its steps, contents of files in the place of their names."""
    folder: Path
    when_to_use: str = ""
    when_not_to_use: str = ""
    words: tuple[str, ...] = ()
    tier: Tier = Tier.COGNITIVE
    reach: Reach = Reach.EXTENDED
    """How readily a model is shown it."""
    show_when: str = ""
    """Condition over the goal, for the long tail."""
    memory: bool = False
    """Whether what is remembered stands in the prompts of its steps."""
    options: OptionsFile | None = None
    """Choices of its decision, where it has one."""
    body: str = ""
    """The instructions below the frontmatter, for people and models."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Texts that a model may read, by path in the folder, where it follows the skill without a plan of its own."""
    result: str = ""
    """Template in which a model that had it done is told what it gave; empty tells it as JSON."""


@dataclass(frozen=True)
class Organisation:
    """Everything that stands in the folder."""

    name: Name
    folder: Path
    """Where its data is."""
    head: EmployeeNode
    time_zone: str = "UTC"
    language: str = "en"
    title: Text = ""
    stands_at: datetime | None = None
    """The moment at which a replayed world stands, aware; None means now."""
    skills: Mapping[Name, Skill] = field(default_factory=dict)
    connections: Mapping[str, AnyConnection] = field(default_factory=dict)
    metrics: Mapping[Name, MetricDefinition] = field(default_factory=dict)
    sensors: Mapping[Name, AnySensor] = field(default_factory=dict)
    """Of all kinds."""
    rules: tuple[Policy, ...] = ()
    behaviours: tuple[Behaviour, ...] = ()
    """Strategies and action chains."""
    knowledge: KnowledgeTree = field(default_factory=KnowledgeTree)
    """What is written down in knowledge/."""
    approvals: Mapping[str, ApprovalRule] = field(default_factory=dict)
    people: People = field(default_factory=lambda: People(()))
    budget: Budget = Budget()  # noqa: RUF009  (frozen)
    budgets: tuple[SharedBudget, ...] = ()
    """What departments and processes may spend in a period."""
    goals: Mapping[Name, Text] = field(default_factory=dict)
    """What it is for, key → in words."""
    heartbeat: HeartbeatTerms = HeartbeatTerms()  # noqa: RUF009  (frozen)
    """Whether and how often a server beats for it."""
    models: Mapping[str, str] = field(default_factory=dict)
    """Role → name of its model, of those that the folder names."""
    prices: Prices = field(default_factory=dict)
    """What models cost."""
    views: Mapping[str, str] = field(default_factory=dict)
    """File that a connection names under `known` → its text, as it stood when the organisation was read."""
    blackboard: Mapping[str, KeyRule] = field(default_factory=dict)
    """Keys of the blackboard with a rule."""
    alerts: AlertsFile = field(default_factory=AlertsFile)
    """What it says about its alerts."""
    show: tuple[ShowRule, ...] = ()
    """Rules by which models are shown skills, beside those of the skills themselves."""
    specs: Mapping[str, CapabilitySpec] = field(default_factory=dict)
    """Declarations of everything its employees can do."""

    @property
    def zone(self) -> ZoneInfo:
        """Its time zone."""
        return ZoneInfo(self.time_zone)

    @cached_property
    def thresholds(self) -> Mapping[Name, SensorDefinition]:
        """Its sensors that watch a metric, in order of their names."""
        found = sorted(self.sensors.items())
        return {name: sensor for name, sensor in found if isinstance(sensor, SensorDefinition)}

    @cached_property
    def schedules(self) -> Mapping[Name, CronDefinition]:
        """Its sensors that speak at set times, in order of their names, each with the time zone that holds."""
        found = sorted(self.sensors.items())
        return {
            name: replace(sensor, time_zone=sensor.time_zone or self.time_zone)
            for name, sensor in found
            if isinstance(sensor, CronDefinition)
        }

    @cached_property
    def listeners(self) -> Mapping[Name, EventDefinition]:
        """Its sensors that listen to events, in order of their names."""
        found = sorted(self.sensors.items())
        return {name: sensor for name, sensor in found if isinstance(sensor, EventDefinition)}

    @cached_property
    def employees(self) -> Mapping[Name, EmployeeNode]:
        """Every employee by id, in reading order."""
        return {node.id: node for node in self.head.everybody()}

    @cached_property
    def superiors(self) -> Mapping[Name, Name]:
        """Employee → the employee it reports to; the head has none."""
        return {below.id: node.id for node in self.head.everybody() for below in node.manages}

    def is_below(self, employee: Name, superior: Name) -> bool:
        """Whether `employee` reports to `superior`, directly or through others."""
        above = self.superiors.get(employee)
        while above is not None and above != superior:
            above = self.superiors.get(above)
        return above is not None

    def owners(self, skill: Name) -> tuple[EmployeeNode, ...]:
        """Return the employees that carry the skill out, in reading order."""
        return tuple(self._owners.get(skill, ()))

    @cached_property
    def _owners(self) -> Mapping[Name, list[EmployeeNode]]:
        owners: dict[Name, list[EmployeeNode]] = {}
        for node in self.head.everybody():
            for skill in dict.fromkeys(node.skills):
                owners.setdefault(skill, []).append(node)
        return owners
