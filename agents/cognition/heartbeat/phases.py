"""What each phase of a round does. Every one may run twice: what it did before is found by id, and not done again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from agents.cognition.attend import Attention
from agents.cognition.heartbeat.noticed import RAISED, Noticed, raises_goal
from agents.cognition.heartbeat.specs import DECIDE, EVALUATE, OBSERVE, ORIENT, SPECS
from agents.cognition.heartbeat.work import WorkBook
from agents.cognition.sense.causes import HEARTBEAT
from agents.cognition.sense.kinds import AnySensor
from contracts import Json, Name
from governance.alerts import Alerts, AlertView
from runtime.capabilities.port import CallContext, CallResult, CapabilitySpec
from runtime.errors import AccessDenied
from runtime.executor.register import Register
from runtime.ledger.port import Ledger

_SHOWN = 20
"""Signals and alerts of a kind that a round shows; of the others it tells how many there were."""


class Evaluation(Protocol):
    """What one look at promises gave: `agents.cognition.evaluate.Evaluated`."""

    @property
    def judged(self) -> Sequence[Any]:
        """Promises that were held against what happened."""
        ...

    @property
    def changed(self) -> Sequence[Any]:
        """Labels that are shown otherwise from now on."""
        ...

    @property
    def waiting(self) -> int:
        """Promises whose time has not come."""
        ...


class Evaluates(Protocol):
    """Holds what decided cards promised against what happened: `agents.cognition.evaluate.Evaluator`."""

    async def due(self, at: datetime) -> Evaluation:
        """Judge every promise whose period is over, once each."""
        ...


@dataclass(frozen=True)
class Desk:
    """Everything that rounds of one organisation work with; what takes long to open is made when it is used."""

    ledger: Ledger
    organisation: Name
    sensors: Mapping[Name, AnySensor]
    register: Register
    book: WorkBook
    alerts: Callable[[], Alerts]
    attention: Callable[[], Attention]
    evaluator: Callable[[], Evaluates | None]
    resolve_skill: Callable[[str], Name | None]
    """Gives the skill that a goal's words decide for."""
    language: str = "en"
    stale: timedelta = timedelta(days=1)
    """What was noticed longer ago is not acted on any more."""


class Phase(ABC):
    """One phase as a capability."""

    name = ""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.spec: CapabilitySpec = SPECS[self.name]

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Do it; raise AccessDenied for anybody but a round."""
        if context.order.requested_by != f"{HEARTBEAT}{self._desk.organisation}" or context.order.chain:
            raise AccessDenied(
                f"`{self.spec.name}` is a phase of the heartbeat and no tool of an employee.", happened="no"
            )
        return await self.do(arguments, context)

    @abstractmethod
    async def do(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Do it for a round."""


class Observe(Phase):
    """Reads what sensors said."""

    name = OBSERVE

    async def do(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Return the signals between two positions, and those that earlier rounds had no room for."""
        after, until = int(str(arguments["after"])), int(str(arguments["until"]))
        desk = self._desk
        found = await noticed_at(desk.ledger, positions(arguments["waiting"]))
        found += await noticed_between(desk.ledger, desk.organisation, after, until)
        signals = [each.to_json(raises=raises_goal(each, desk.sensors)) for each in found]
        return CallResult({"signals": signals, "count": len(signals)})


class Orient(Phase):
    """Makes alerts of signals."""

    name = ORIENT

    async def do(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Take the signals in, and return what came of them; those that were taken in before count once."""
        found = await noticed_at(self._desk.ledger, [int(each["position"]) for each in objects(arguments["signals"])])
        taken = await self._desk.alerts().take([each.signal for each in found], context.known_at)
        return CallResult(
            {
                "opened": len(taken.opened),
                "grown": len(taken.grown),
                "resolved": len(taken.resolved),
                "suppressed": dict(taken.why),
            }
        )


class Decide(Phase):
    """Gives attention."""

    name = DECIDE

    async def do(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Return the alerts that are seen to now, the first first, and the others with the reason."""
        attended = await self._desk.attention().give(context.known_at)
        order = [
            alert_json(each.alert) | {"score": round(each.score, 6), "parts": dict(each.parts)}
            for each in attended.order
        ]
        left_out = [alert_json(each.alert) | {"why": each.why.value, "by": each.by} for each in attended.left_out]
        return CallResult({"order": order, "left_out": left_out})


class Evaluate(Phase):
    """Looks at what came of it."""

    name = EVALUATE

    async def do(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Return which promises were judged now, and how much of the work advances a goal."""
        evaluator = self._desk.evaluator()
        found = None if evaluator is None else await evaluator.due(context.known_at)
        counts = await self._desk.book.counts(context.now)
        work: dict[str, Json] = {**counts.to_data(), "meta_most": self._desk.book.most(counts)}
        judged = [] if found is None else [each.to_json() for each in found.judged[:_SHOWN]]
        return CallResult(
            {
                "judged": judged,
                "changed": 0 if found is None else len(found.changed),
                "waiting": 0 if found is None else found.waiting,
                "work": work,
            }
        )


async def noticed_between(ledger: Ledger, organisation: Name, after: int, until: int) -> list[Noticed]:
    """Return the signals of an organisation behind the one position, up to the other."""
    found: list[Noticed] = []
    while page := await ledger.read_all(after=after, until=until, types=(RAISED,)):
        found += [one for each in page if each.organisation == organisation and (one := Noticed.of(each)) is not None]
        after = page[-1].position
    return found


async def noticed_at(ledger: Ledger, places: Sequence[int]) -> list[Noticed]:
    """Return the signals at these positions; those that were pruned are left out."""
    found: list[Noticed] = []
    for place in places:
        events = await ledger.read_all(after=place - 1, until=place, types=(RAISED,))
        found += [one for each in events if (one := Noticed.of(each)) is not None]
    return found


def positions(value: Json) -> list[int]:
    """Return the positions in a list."""
    return [int(str(each)) for each in value] if isinstance(value, list) else []


def objects(value: Json) -> list[dict[str, Any]]:
    """Return the objects in a list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def alert_json(alert: AlertView) -> dict[str, Any]:
    """Return what tells an alert apart."""
    return {
        "alert": alert.alert_id,
        "source": alert.source,
        "kind": alert.kind,
        "labels": dict(alert.labels),
        "severity": alert.severity.value,
    }
