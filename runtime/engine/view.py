"""The order's stream, folded: everything there is to know about an order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple, cast

from contracts import (
    Artifact,
    Budget,
    CardId,
    Event,
    EvidenceId,
    Limit,
    Money,
    OrderId,
    Problem,
    QuestionId,
    SlotAllocation,
    StatusReport,
    TaskOrder,
    Usage,
)
from runtime.context.memory import Insight
from runtime.engine.react.state import React
from runtime.engine.result import Result
from runtime.engine.states import UnitState

UnitKey = tuple[str, int | None]
"""A step, and which repetition of it; None for a step that is not repeated."""

NOTHING = Usage()
_WITH_OTHERS = (UnitState.DISPATCHED, UnitState.WAITING)


class _Unread:
    """Stands for a result that is in the ledger and was not read: to look at it before is a mistake, not a null."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"{name} of a result that was not read back yet; await recall.read_units first")


UNREAD = cast(Result, _Unread())


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
    instance: str | None = None
    """Which of several services of that name was to be called; only that one can tell whether it happened."""


@dataclass(frozen=True, slots=True)
class Child:
    """An order given to another employee, inline or by the hash of its stored text; neither once it is done."""

    order_id: OrderId
    order: Mapping[str, Any] | None
    order_sha256: str | None
    granted: Budget | None = None
    """What it may spend in all; None where nothing limits it."""
    counted: Usage = NOTHING
    """What it spent according to events of this order, which count it once."""


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
    """How the plan was changed for it last: `otherwise`, `again` or `skip`."""
    way: int = 0
    """Which of the other ways of its step it has come to; 0 is the step's own."""
    since_revision: int = 0
    """Failures from before the last revision, which no longer count against the retries."""
    waiting: tuple[CardId | QuestionId, ...] = ()
    """Cards and questions it raised last."""
    doubts: tuple[CardId | QuestionId, ...] = ()
    """Cards that ask whether its effect happened, since the last intent."""
    denied: tuple[CardId | QuestionId, ...] = ()
    """Cards it waits for since the other side did not let us in; empty once it was called again."""
    approved: str | None = None
    """The card that approved the effect to which we were not let in: it may approve it again."""
    intent: Intent | None = None
    child: Child | None = None
    result: Result | None = None
    """What it gave; `UNREAD` until `recall.read_units` brings it in, where an earlier run settled it."""
    settled_at: int = 0
    """Version of the event that says it is done or skipped."""
    held: Result | None = None
    """A suspicious result that a person has to judge."""
    react: React | None = None
    """The conversation with a model, as far as it went."""
    why: str = ""
    """Why it was skipped."""
    reserved: dict[str, tuple[Money, ...]] = field(default_factory=dict)
    """Which of its calls (`""` for its own) was announced with a price and is not settled → the price."""
    usage: Usage = NOTHING
    drawn: dict[str, dict[str, dict[Limit, Decimal]]] | None = None
    """What it has drawn from shared budgets and no event has settled: for which call, row → amounts."""
    call: str = ""
    """Of a part: the call of the model that became an order."""
    parts: dict[str, Unit] = field(default_factory=dict)
    """Call of its model that became an order → what the events tell of that order; its usage counts here."""

    def part(self, call: str) -> Unit:
        """Return what holds the order that a call became; a new one when the stream has not named it yet."""
        known = self.parts.get(call)
        if known is None:
            known = self.parts[call] = Unit(self.step, self.index, call=call)
        return known

    @property
    def holders(self) -> Iterator[Unit]:
        """Itself and its parts: everything that may be an order below."""
        yield self
        yield from self.parts.values()

    @property
    def place(self) -> dict[str, Any]:
        """Where it is, as every event about it says."""
        place: dict[str, Any] = {"step": self.step, "index": self.index}
        return {**place, "call": self.call} if self.call else place

    @property
    def granted(self) -> Budget | None:
        """What the order that it became may spend in all, while that grant is out."""
        return self.child.granted if self.child is not None and self.state in _WITH_OTHERS else None

    @property
    def holds(self) -> bool:
        """Whether its events say that something of the budget is set aside for it and not settled."""
        if self.state.settled:
            return False
        return bool(self.reserved) or any(holder.granted is not None for holder in self.holders)

    @property
    def attempt(self) -> int:
        """Number of the attempt that is going on, or was the last."""
        return len(self.failures) + (0 if self.state is UnitState.FAILED else 1)

    @property
    def problem(self) -> Problem | None:
        """What went wrong last."""
        return self.failures[-1] if self.failures else None

    @property
    def unsettled(self) -> bool:
        """Whether its effect was announced and has no receipt."""
        return self.intent is not None and self.intent.open and not self.state.settled


@dataclass(slots=True)
class Recent:
    """Where in the stream what stands that no snapshot covers yet; see `runtime.engine.snapshot`."""

    since: int = 0
    """The version up to which snapshots cover the stream."""
    units: dict[UnitKey, list[int]] = field(default_factory=dict)
    """Unit → versions of its events."""
    order: list[int] = field(default_factory=list)
    """Versions of the events that are about the order as a whole."""
    uses: set[str] = field(default_factory=set)


class Said(NamedTuple):
    """An order or report with its JSON, so that whoever wrote it need not read it back."""

    value: TaskOrder | StatusReport
    data: Mapping[str, Any]


@dataclass(slots=True)
class OrderView:
    """What the stream of one order says. Only `runtime.engine.fold` and `runtime.engine.snapshot` change it.

    Going on with an order takes little of what its finished units left: that they are done. Such a unit stands in
    `settled` with the place of its event, and its result is read when something asks for it.
    """

    order: TaskOrder | None = None
    said: Said | None = None
    """What the engine is about to record, as it has it already; taken over where just that was stored."""
    accepted_at: datetime | None = None
    """When the order was accepted; stands in for `known_at` where the order names no moment, also after a restart."""
    version: int = 0
    allocation: SlotAllocation | None = None
    units: dict[UnitKey, Unit] = field(default_factory=dict)
    """Those whose events were read, or that were asked for."""
    settled: dict[UnitKey, int] = field(default_factory=dict)
    """Unit that an earlier run finished, or skipped → version of the event that says so; from snapshots."""
    skipped: set[UnitKey] = field(default_factory=set)
    """Which of the settled ones were skipped."""
    finished: list[UnitKey] = field(default_factory=list)
    """Units whose work took place, in the order in which it ended; without those that snapshots tell of."""
    revisions: int = 0
    artifacts: dict[int, tuple[Artifact, ...] | None] = field(default_factory=dict)
    """Version of an event → files it names; None where they were not read."""
    sealed: dict[int, tuple[EvidenceId, ...]] = field(default_factory=dict)
    """Version of an event → evidence packages of orders below that it names."""
    children: list[OrderId] = field(default_factory=list)
    """Orders given to others, oldest first, those of earlier attempts too; without those that snapshots tell of."""
    usage: Usage = NOTHING
    used: set[str] = field(default_factory=set)
    happened: bool = False
    """Whether an effect took place, here or in an order below."""
    undone: dict[str, str] = field(default_factory=dict)
    """Key of an effect → how taking it back stands: `intended`, `done` or `failed`."""
    answers_before: int = 0
    """Answers of models to the settled units."""
    insights: list[Insight] = field(default_factory=list)
    """What models noted in the working memory, oldest first."""
    report: StatusReport | None = None
    reopened: int = 0
    narrowed: int | None = None
    """Steps at once to which the dispatch of the plan was narrowed last; None while it never was."""
    draws: bool = False
    """Whether it draws on budgets that others share."""
    recent: Recent = field(default_factory=Recent)
    tallies: dict[str, Counter[UnitState]] = field(default_factory=dict)
    """Step → how many of its repetitions are in each state, apart from those that have not begun."""
    read_events: Callable[[Sequence[int]], Awaitable[Sequence[Event]]] | None = None
    """Reads events of the stream by their versions; set where `settled` holds anything."""

    def unit(self, step: str, index: int | None = None) -> Unit:
        """Return the unit; a new one when the stream has not named it yet."""
        key = (step, index)
        known = self.units.get(key)
        if known is None:
            known = Unit(step, index, state=self.state(key), settled_at=self.settled.get(key, 0))
            if known.state is UnitState.DONE:
                known.result = UNREAD
            self.units[key] = known
        return known

    def known(self, key: UnitKey) -> Unit | None:
        """Return the unit if the stream has named it."""
        return self.unit(*key) if key in self.units or key in self.settled else None

    def state(self, key: UnitKey) -> UnitState:
        """Return where one unit stands."""
        known = self.units.get(key)
        if known is not None:
            return known.state
        if key not in self.settled:
            return UnitState.PENDING
        return UnitState.SKIPPED if key in self.skipped else UnitState.DONE

    def move(self, unit: Unit, state: UnitState) -> None:
        """Put a unit into another state."""
        if unit.index is not None:
            self.count(unit.step, unit.state, -1)
            self.count(unit.step, state, 1)
        unit.state = state

    def count(self, step: str, state: UnitState, change: int) -> None:
        """Count repetitions of a step in or out of a state."""
        if state is not UnitState.PENDING:
            tally = self.tallies.get(step)
            if tally is None:
                tally = self.tallies[step] = Counter()
            tally[state] += change

    def spend(self, version: int, unit: Unit, usage: Usage) -> None:
        """Count what the event of that version says was spent, unless a snapshot has counted it for the order."""
        unit.usage = usage if unit.usage is NOTHING else unit.usage + usage
        if version > self.recent.since:
            self.usage = self.usage + usage

    def use(self, version: int, names: Iterable[str]) -> None:
        """Take in the capabilities that were called, by the event of that version."""
        found = set(names)
        self.used.update(found)
        if version > self.recent.since:
            self.recent.uses.update(found)

    def seal(self, version: int, sealed: Iterable[EvidenceId]) -> None:
        """Take in the evidence packages that the event of that version names."""
        names = dict.fromkeys((*self.sealed.get(version, ()), *sealed))
        if names:
            self.sealed[version] = tuple(names)

    def state_of(self, step: str) -> UnitState:
        """Return where a whole step stands, repetitions taken together."""
        whole = self.state((step, None))
        if whole is not UnitState.PENDING:
            return whole
        parts = self.tallies.get(step)
        if not parts:
            return UnitState.PENDING
        for state in (UnitState.WAITING, UnitState.INTENDED, UnitState.DISPATCHED, UnitState.FAILED):
            if parts[state]:
                return state
        return UnitState.DISPATCHED if any(parts.values()) else UnitState.PENDING

    def part_failed(self, step: str) -> bool:
        """Whether a repetition of the step failed for good."""
        parts = self.tallies.get(step)
        return parts is not None and parts[UnitState.FAILED] > 0

    def repetitions(self, step: str) -> list[Unit]:
        """Return the repetitions of a step, in their order."""
        keys = {key for key in (*self.units, *self.settled) if key[0] == step and key[1] is not None}
        return [self.unit(*key) for key in sorted(keys, key=lambda key: key[1] or 0)]

    @property
    def size(self) -> int:
        """How many units there are."""
        return len(self.units.keys() | self.settled.keys())

    @property
    def answers(self) -> int:
        """How many answers of models the guards count."""
        talks = (unit.react for unit in self.units.values() if unit.react is not None)
        return self.answers_before + sum(len(talk.counted) for talk in talks)

    @property
    def done(self) -> frozenset[str]:
        """Steps of which something was done, not skipped."""
        whole = {key[0] for key in self.settled if key[1] is None and key not in self.skipped}
        whole |= {unit.step for unit in self.units.values() if unit.state is UnitState.DONE}
        return frozenset(whole | {step for step, parts in self.tallies.items() if parts[UnitState.DONE]})

    @property
    def waiting_for(self) -> tuple[str, ...]:
        """Ids of everything that people have to answer, each once."""
        waiting = (unit for unit in self.units.values() if unit.state is UnitState.WAITING)
        return tuple(dict.fromkeys(name for unit in waiting for name in unit.waiting))

    @property
    def changed_the_world(self) -> bool:
        """Whether an effect took place, or may have, here or in an order below, that must not be repeated."""
        return self.happened or any(
            (unit.intent is not None and unit.intent.open and unit.state is not UnitState.DONE)
            or (unit.react is not None and unit.react.changed_the_world)
            for unit in self.units.values()
        )

    @property
    def intents(self) -> list[Unit]:
        """Units whose effect was announced and has no receipt."""
        return [unit for unit in self.units.values() if unit.unsettled]

    @property
    def uses(self) -> tuple[str, ...]:
        """Every capability called, in orders below as well."""
        return tuple(sorted(self.used))
