"""The order's stream, folded: everything there is to know about an order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from contracts import (
    Artifact,
    CardId,
    DataProduct,
    EvidenceId,
    EvidenceItem,
    Finding,
    OrderId,
    Problem,
    QuestionId,
    SlotAllocation,
    StatusReport,
    TaskOrder,
    Usage,
)
from runtime.engine.result import Result
from runtime.engine.states import UnitState

UnitKey = tuple[str, int | None]
"""A step, and which repetition of it; None for a step that is not repeated."""


@dataclass(frozen=True, slots=True)
class Intent:
    """An effect that was announced before it was tried."""

    key: str
    use: str
    arguments_sha256: str
    capability_sha256: str
    card: str | None
    open: bool = True
    """Whether nobody knows yet if it happened."""


@dataclass(frozen=True, slots=True)
class Child:
    """An order given to another employee, inline or by the hash of its stored text."""

    order_id: OrderId
    order: Mapping[str, Any] | None
    order_sha256: str | None


@dataclass(slots=True)
class Unit:
    """One step, or one repetition of it, as the stream tells it."""

    step: str
    index: int | None
    state: UnitState = UnitState.PENDING
    failures: list[Problem] = field(default_factory=list)
    """What went wrong, oldest first; the last one is the reason when it failed for good."""
    revisions: int = 0
    change: str | None = None
    """How the plan was changed for it last: `otherwise` or `again`."""
    since_revision: int = 0
    """Failures from before the last revision, which no longer count against the retries."""
    waiting: tuple[CardId | QuestionId, ...] = ()
    """Cards and questions it raised last."""
    doubts: tuple[CardId | QuestionId, ...] = ()
    """Cards that ask whether its effect happened, since the last intent."""
    intent: Intent | None = None
    child: Child | None = None
    result: Result | None = None
    happened: bool = False
    """Whether an order below that failed had carried out an effect before."""
    sealed: tuple[EvidenceId, ...] = ()
    """Evidence packages of orders below that failed."""
    held: Result | None = None
    """A suspicious result that a person has to judge."""
    why: str = ""
    """Why it was skipped."""
    usage: Usage = field(default_factory=Usage)

    @property
    def attempt(self) -> int:
        """Number of the attempt that is going on, or was the last."""
        return len(self.failures) + (0 if self.state is UnitState.FAILED else 1)

    @property
    def problem(self) -> Problem | None:
        """What went wrong last."""
        return self.failures[-1] if self.failures else None


@dataclass(slots=True)
class OrderView:
    """What the stream of one order says. Only `runtime.engine.fold` changes it."""

    order: TaskOrder | None = None
    accepted_at: datetime | None = None
    """When the order was accepted; stands in for `known_at` where the order names no moment, also after a restart."""
    version: int = 0
    allocation: SlotAllocation | None = None
    units: dict[UnitKey, Unit] = field(default_factory=dict)
    finished: list[UnitKey] = field(default_factory=list)
    """Units whose work took place, in the order in which it ended."""
    revisions: int = 0
    products: list[DataProduct] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    artifacts: list[Artifact] = field(default_factory=list)
    evidence: list[EvidenceItem] = field(default_factory=list)
    children: list[OrderId] = field(default_factory=list)
    """Orders given to others, oldest first, those of earlier attempts too."""
    usage: Usage = field(default_factory=Usage)
    undone: dict[str, str] = field(default_factory=dict)
    """Key of an effect → how taking it back stands: `intended`, `done` or `failed`."""
    report: StatusReport | None = None
    reopened: int = 0

    def unit(self, step: str, index: int | None = None) -> Unit:
        """Return the unit; a new one when the stream has not named it yet."""
        return self.units.setdefault((step, index), Unit(step, index))

    def state_of(self, step: str) -> UnitState:
        """Return where a whole step stands, repetitions taken together."""
        whole = self.units.get((step, None))
        if whole is not None and whole.state is not UnitState.PENDING:
            return whole.state
        states = {unit.state for unit in self.units.values() if unit.step == step and unit.index is not None}
        for state in (UnitState.WAITING, UnitState.INTENDED, UnitState.DISPATCHED, UnitState.FAILED):
            if state in states:
                return state
        return UnitState.DISPATCHED if states - {UnitState.PENDING} else UnitState.PENDING

    def repetitions(self, step: str) -> list[Unit]:
        """Return the repetitions of a step, in their order."""
        return sorted(
            (unit for unit in self.units.values() if unit.step == step and unit.index is not None),
            key=lambda unit: unit.index or 0,
        )

    @property
    def waiting_for(self) -> tuple[str, ...]:
        """Ids of everything that people have to answer, each once."""
        waiting = (unit for unit in self.units.values() if unit.state is UnitState.WAITING)
        return tuple(dict.fromkeys(name for unit in waiting for name in unit.waiting))

    @property
    def changed_the_world(self) -> bool:
        """Whether an effect took place, or may have, here or in an order below, that must not be repeated."""
        return any(
            unit.happened
            or (unit.result is not None and unit.result.happened)
            or (unit.intent is not None and unit.intent.open and unit.state is not UnitState.DONE)
            for unit in self.units.values()
        )

    @property
    def intents(self) -> list[Unit]:
        """Units whose effect was announced and has no receipt."""
        return [unit for unit in self.units.values() if unit.intent and unit.intent.open and not unit.state.settled]

    @property
    def uses(self) -> tuple[str, ...]:
        """Every capability called, in orders below as well."""
        results = (unit.result for unit in self.units.values() if unit.result)
        return tuple(sorted({name for result in results for name in (*result.uses, result.use) if name}))
