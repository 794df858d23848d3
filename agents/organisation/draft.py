"""An organisation as far as it could be read: what is missing has faults already, the rest can still be checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

from agents.cognition.advise.options import OptionsFile
from agents.cognition.sense.kinds import AnySensor
from agents.organisation.alerts_file import AlertsFile
from agents.organisation.fault import Fault
from agents.organisation.files import Files
from agents.organisation.org_file import EmployeeEntry, OrgFile
from agents.organisation.skill_files import SkillHeader
from agents.organisation.yaml_source import Path as Place
from agents.organisation.yaml_source import YamlSource
from contracts import MetricDefinition, PlanDefinition
from governance.policies import Policy
from memory.behaviour.behaviour import Behaviour
from memory.knowledge.tree import KnowledgeTree
from runtime.capabilities.connections import AnyConnection
from runtime.capabilities.port import CapabilitySpec

T = TypeVar("T")


@dataclass(frozen=True)
class Read(Generic[T]):
    """One thing that was read, with the source that knows its lines."""

    value: T
    source: YamlSource

    def fault(self, path: Place, what: str, hint: str = "") -> Fault:
        """Return a fault at a place of it."""
        return self.source.fault(path, what, hint)


@dataclass
class SkillDraft:
    """The files of one skill."""

    name: str
    header: Read[SkillHeader] | None = None
    plan: Read[PlanDefinition] | None = None
    options: dict[str, Read[OptionsFile]] = field(default_factory=dict)
    """By file name."""
    body: str = ""
    files: dict[str, str] = field(default_factory=dict)
    """Texts that a model may read, by path in the folder, where it follows the skill without a plan."""
    result: str = ""
    """Template in which a model is told what it gave."""


@dataclass
class Draft:
    """Everything that was read, and every fault so far."""

    files: Files
    folder: Path
    builtin: Mapping[str, CapabilitySpec]
    faults: list[Fault] = field(default_factory=list)
    org: Read[OrgFile] | None = None
    alerts: Read[AlertsFile] | None = None
    connections: dict[str, Read[AnyConnection]] = field(default_factory=dict)
    skills: dict[str, SkillDraft] = field(default_factory=dict)
    metrics: dict[str, Read[MetricDefinition]] = field(default_factory=dict)
    sensors: dict[str, Read[AnySensor]] = field(default_factory=dict)
    rules: dict[str, Read[Policy]] = field(default_factory=dict)
    specs: dict[str, CapabilitySpec] = field(default_factory=dict)
    """Capabilities, those built in and those of the connections that could be read."""
    packs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Pack → the capabilities it stands for."""
    behaviours: list[Behaviour] = field(default_factory=list)
    knowledge: KnowledgeTree = field(default_factory=KnowledgeTree)
    unread: set[str] = field(default_factory=set)
    """Names of connections that could not be read; what hangs on them is left unchecked."""

    @cached_property
    def employees(self) -> dict[str, EmployeeEntry]:
        """Employees by id, asked for once org.yaml was read; empty when it could not be."""
        if self.org is None:
            return {}
        return {entry.id: entry for entry in self.org.value.head.everybody()}
