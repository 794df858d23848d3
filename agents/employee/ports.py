"""What an employee needs from others: the tree it stands in, the cluster, and the other employees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from contracts import Budget, Json, Name, PlanDefinition, StatusReport, TaskOrder, Text, Tier, Workspace
from runtime.capabilities.port import CapabilitySpec
from runtime.engine.ports import Delegate, SkillChoice

Isolation: TypeAlias = Literal["shared", "process"]
"""Whether an employee sits with others or in a process of its own, where the engine has several."""


class Node(Protocol):
    """One place in the tree of employees."""

    @property
    def id(self) -> Name: ...  # noqa: D102

    @property
    def title(self) -> Text: ...  # noqa: D102

    @property
    def skills(self) -> Sequence[Name]: ...  # noqa: D102

    @property
    def can(self) -> Sequence[str]: ...  # noqa: D102

    @property
    def manages(self) -> Sequence[Node]: ...  # noqa: D102

    @property
    def isolation(self) -> Isolation: ...  # noqa: D102

    @property
    def workspace(self) -> Workspace | None: ...  # noqa: D102


class KnownSkill(Protocol):
    """What an employee knows how to do."""

    @property
    def name(self) -> Name: ...  # noqa: D102

    @property
    def description(self) -> Text: ...  # noqa: D102

    @property
    def tier(self) -> Tier: ...  # noqa: D102

    @property
    def plan(self) -> PlanDefinition: ...  # noqa: D102


class Staff(Protocol):
    """The part of an organisation that carries out orders."""

    @property
    def name(self) -> Name: ...  # noqa: D102

    @property
    def time_zone(self) -> str: ...  # noqa: D102

    @property
    def head(self) -> Node: ...  # noqa: D102

    @property
    def skills(self) -> Mapping[Name, KnownSkill]: ...  # noqa: D102

    @property
    def budget(self) -> Budget: ...  # noqa: D102


class SkillForms(Protocol):
    """In which form models are shown skills."""

    def tool(self, skill: Name, *, language: str) -> CapabilitySpec:
        """Return the skill as a tool whose call becomes an order; raise KeyError where there is none of that name."""
        ...

    def told(self, skill: Name, output: Json) -> str | None:
        """Return what the skill gave in the words of its template; None where it has none that this fits."""
        ...


@dataclass(frozen=True, slots=True)
class Offer:
    """Skills for the models of one execution."""

    forms: SkillForms
    choice: SkillChoice


class Cluster(Protocol):
    """Where orders go that need a slot."""

    async def submit(self, order: TaskOrder) -> StatusReport:
        """Have the order done in a slot; the same order again goes on where it stood."""
        ...


class Workforce(Protocol):
    """Where orders go that another employee carries out."""

    async def deliver(self, order: TaskOrder) -> StatusReport:
        """Hand the order to its employee; the same order again goes on where it stood."""
        ...


class Running(Protocol):
    """The step engine, ready to run the orders of one execution."""

    async def run(self, order: TaskOrder) -> StatusReport:
        """Run the order's plan as far as it goes."""
        ...


EngineFor: TypeAlias = Callable[[Delegate], Running]
"""Gives an engine that sends employee steps to this delegate; leases and cancellation are in it already."""
