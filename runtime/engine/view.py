"""The order's stream, folded: everything there is to know about an order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from contracts import (
    Artifact,
    CardId,
    DataProduct,
    Event,
    EvidenceId,
    EvidenceItem,
    EvidencePackage,
    Finding,
    OrderId,
    PlanDefinition,
    Problem,
    QuestionId,
    SlotAllocation,
    StatusReport,
    TaskOrder,
    Usage,
    asked_id,
)
from runtime.engine.result import Result
from runtime.engine.states import Move, UnitState, next_state

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
    """What the stream of one order says. `apply` is the only thing that changes it."""

    order: TaskOrder | None = None
    accepted_at: Any = None
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
    packages: list[EvidencePackage] = field(default_factory=list)
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
        for state in (UnitState.WAITING, UnitState.INTENDED, UnitState.DISPATCHED):
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
        """Whether an effect took place, here or in an order below, that must not be repeated."""
        units = self.units.values()
        return any(unit.happened or (unit.result is not None and unit.result.happened) for unit in units)

    @property
    def intents(self) -> list[Unit]:
        """Units whose effect was announced and has no receipt."""
        return [unit for unit in self.units.values() if unit.intent and unit.intent.open and not unit.state.settled]

    @property
    def uses(self) -> tuple[str, ...]:
        """Every capability called, in orders below as well."""
        results = (unit.result for unit in self.units.values() if unit.result)
        return tuple(sorted({name for result in results for name in (*result.uses, result.use) if name}))

    def apply(self, event: Event) -> None:
        """Take in the next event of the stream."""
        self.version = event.stream_version
        handle = _HANDLERS.get(event.type)
        if handle is not None and event.data is not None:
            handle(self, event, event.data)


def fold_order(events: Iterable[Event]) -> OrderView:
    """Return what the events of one order's stream say together, in their order."""
    view = OrderView()
    for event in events:
        view.apply(event)
    return view


def group_of(plan: PlanDefinition) -> dict[str, str]:
    """Return branch → the group it belongs to, for every branch of the plan."""
    return {branch.id: step.id for step in plan.all_steps() for branch in step.parallel}


Data = Mapping[str, Any]


def _unit(view: OrderView, data: Data, move: Move) -> Unit:
    unit = view.unit(data["step"], data.get("index"))
    unit.state = next_state(unit.state, move)
    return unit


def _accepted(view: OrderView, event: Event, data: Data) -> None:
    view.order = TaskOrder.read(data["order"])
    view.accepted_at = event.time


def _allocated(view: OrderView, event: Event, data: Data) -> None:
    view.allocation = SlotAllocation.read(data["allocation"])


def _dispatched(view: OrderView, event: Event, data: Data) -> None:
    unit = _unit(view, data, Move.DISPATCH)
    unit.child = Child(OrderId(data["order_id"]), data.get("order"), data.get("order_sha256"))
    view.children.append(unit.child.order_id)


def _intended(view: OrderView, event: Event, data: Data) -> None:
    unit = _unit(view, data, Move.INTEND)
    unit.intent = Intent(
        data["key"], data["use"], data["arguments_sha256"], data["capability_sha256"], data.get("card")
    )
    unit.waiting, unit.doubts = (), ()


def _waiting(view: OrderView, event: Event, data: Data) -> None:
    unit = _unit(view, data, Move.WAIT)
    unit.waiting = tuple(asked_id(each) for each in data["ids"])
    if data.get("in_doubt"):
        unit.doubts = unit.waiting
    if "held" in data:
        unit.held = Result.from_data(data["held"])


def _finished(view: OrderView, event: Event, data: Data) -> None:
    unit = _unit(view, data, Move.FINISH)
    unit.result = Result.from_data(data)
    unit.held = None
    view.finished.append((unit.step, unit.index))
    _take_in(view, unit, unit.result)


def _failed(view: OrderView, event: Event, data: Data) -> None:
    final = bool(data.get("final"))
    unit = _unit(view, data, Move.GIVE_UP if final else Move.RETRY)
    unit.failures.append(Problem.read(data["problem"]))
    unit.waiting, unit.child, unit.held = (), unit.child if final else None, None
    if unit.intent is not None:
        unit.intent = Intent(
            unit.intent.key, unit.intent.use, unit.intent.arguments_sha256, unit.intent.capability_sha256,
            unit.intent.card, open=bool(data.get("in_doubt")),
        )  # fmt: skip
    if "result" in data:  # the effect happened, but its result was not accepted
        unit.result = Result.from_data(data["result"])
        view.finished.append((unit.step, unit.index))
        _take_in(view, unit, unit.result)
    unit.happened = unit.happened or bool(data.get("happened"))
    unit.sealed += tuple(EvidenceId(name) for name in data.get("sealed", ()))
    if "usage" in data:
        unit.usage = unit.usage + Usage.read(data["usage"])
        view.usage = view.usage + Usage.read(data["usage"])


def _take_in(view: OrderView, unit: Unit, result: Result) -> None:
    unit.usage = unit.usage + result.usage
    view.usage = view.usage + result.usage
    view.evidence.extend(result.evidence)
    view.artifacts.extend(result.artifacts)


def _skipped(view: OrderView, event: Event, data: Data) -> None:
    _unit(view, data, Move.SKIP).why = data["why"]


def _revised(view: OrderView, event: Event, data: Data) -> None:
    view.revisions = data["revision"]
    unit = view.unit(data["step"], data.get("index"))
    unit.revisions += 1
    unit.change = data["change"]
    unit.since_revision = len(unit.failures)
    unit.intent = None


def _reopened(view: OrderView, event: Event, data: Data) -> None:
    view.reopened += 1
    view.report = None
    groups = group_of(view.order.plan) if view.order else {}
    for unit in view.units.values():
        group = groups.get(unit.step, "")
        around = (view.units.get((group, index)) for index in (None, unit.index))
        over = any(whole is not None and whole.state is UnitState.DONE for whole in around)
        if unit.state is UnitState.FAILED and not over and unit.result is None:
            unit.state = next_state(unit.state, Move.REOPEN)
            unit.since_revision, unit.revisions, unit.change = len(unit.failures), 0, None


def _undo(view: OrderView, event: Event, data: Data) -> None:
    intended = event.type == "compensation.intended"
    view.undone[data["key"]] = "intended" if intended else ("done" if data["ok"] else "failed")


_HANDLERS: Mapping[str, Callable[[OrderView, Event, Data], None]] = {
    "order.accepted": _accepted,
    "order.allocated": _allocated,
    "order.reopened": _reopened,
    "step.dispatched": _dispatched,
    "effect.intended": _intended,
    "step.waiting": _waiting,
    "step.finished": _finished,
    "step.failed": _failed,
    "step.skipped": _skipped,
    "plan.revised": _revised,
    "product.made": lambda view, event, data: view.products.append(DataProduct.read(data["product"])),
    "finding.made": lambda view, event, data: view.findings.append(Finding.read(data["finding"])),
    "compensation.intended": _undo,
    "compensation.finished": _undo,
    "order.evidence_sealed": lambda view, event, data: view.packages.append(EvidencePackage.read(data["package"])),
    "order.finished": lambda view, event, data: setattr(view, "report", StatusReport.read(data["report"])),
}
