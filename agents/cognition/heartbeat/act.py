"""Act: the goals of the alerts that are seen to become executions, each under the key of its signal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.cognition.attend import LeftOutWhy
from agents.cognition.heartbeat.noticed import Noticed, raises_goal
from agents.cognition.heartbeat.phases import (
    Decide,
    Desk,
    Evaluate,
    Observe,
    Orient,
    Phase,
    noticed_at,
    objects,
)
from agents.cognition.heartbeat.specs import ACT
from agents.cognition.heartbeat.work import REFUSED, MetaRefused
from contracts import AlertId, ExecutionId, ExecutionRequest, Json
from governance.alerts import noted
from runtime.canonical import clean
from runtime.capabilities.port import CallContext, CallResult
from runtime.errors import CapabilityFailed, LedgerError
from runtime.executor import ExecutionView, KeyInUse
from runtime.ledger.port import Append, NewEvent

ACTED = "round.acted"
"""A round has acted on every signal up to `until`; `waiting` are those it had no room for."""
STALE = "stale"
"""Why a goal is not begun: it was noticed too long ago, such as while no rounds were made."""
MERGED = "merged"
"""Another event of the same key was acted on in this round."""
_WAITING_MOST = 1_000

Place = tuple[str, str, tuple[tuple[str, str], ...]]
"""Source, kind and labels: what one alert is about."""


@dataclass(slots=True)
class _Outcome:
    begun: list[dict[str, Json]] = field(default_factory=list)
    held: list[dict[str, Json]] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    refused: list[NewEvent] = field(default_factory=list)
    places: set[Place] = field(default_factory=set)
    """What was begun is about these."""


class Act(Phase):
    """Has goals carried out."""

    name = ACT

    async def do(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Begin what is seen to, and return that, what is held back with the reason, and what waits for room."""
        desk = self._desk
        round_ = await desk.register.view(context.order.execution_id)
        order, left_out = objects(arguments["order"]), objects(arguments["left_out"])
        seen_to = {_place(each): each for each in order}
        passed = {_place(each): each for each in left_out}
        outcome = _Outcome()
        places = [int(each["position"]) for each in objects(arguments["signals"]) if each.get("raises")]
        for noticed in await noticed_at(desk.ledger, places):
            place = _place_of(noticed)
            if context.known_at - noticed.at > self._desk.stale:
                outcome.held.append(_held(noticed, STALE, ""))
            elif place in seen_to and noticed.may_merge and place in outcome.places:
                outcome.held.append(_held(noticed, MERGED, str(seen_to[place]["alert"])))
            elif place in seen_to:
                outcome.places.add(place)
                await self._begin(noticed, round_, context, outcome)
            else:
                await self._pass(noticed, passed.get(place), round_, context, outcome)
        scores = {AlertId(each["alert"]): float(each["score"]) for each in order}
        if scores:
            await desk.alerts().attend(list(scores), context.known_at, scores)
        output = {"begun": outcome.begun, "held": outcome.held, "waiting": outcome.waiting[-_WAITING_MOST:]}
        data = {"until": arguments["until"], "waiting": output["waiting"], "begun": len(outcome.begun)}
        appends = [await _append(desk, f"heartbeat/{desk.organisation}", [_event(ACTED, data)], context)]
        if outcome.refused:
            appends.append(await _append(desk, f"heartbeat/{desk.organisation}/refused", outcome.refused, context))
        return CallResult(output, appends=appends)

    async def _pass(
        self, noticed: Noticed, left: dict[str, Any] | None, round_: ExecutionView, context: CallContext,
        outcome: _Outcome,
    ) -> None:  # fmt: skip
        """Do with a signal whose alert is not seen to now what its reason says."""
        why = str(left["why"]) if left is not None else "gone"
        if why == LeftOutWhy.NO_ROOM:
            outcome.waiting.append(noticed.position)
        elif why == LeftOutWhy.SEEN_TO and not noticed.may_merge:
            await self._begin(noticed, round_, context, outcome)
        else:
            by = str(left.get("by", "")) if left is not None else ""
            outcome.held.append(_held(noticed, why, by))

    async def _begin(
        self, noticed: Noticed, round_: ExecutionView, context: CallContext, outcome: _Outcome
    ) -> None:  # fmt: skip
        """Record the goal of a signal, or why it is not begun."""
        desk = self._desk
        sensor = desk.sensors.get(noticed.signal.sensor)
        if not raises_goal(noticed, desk.sensors):
            return
        try:
            request = noticed.request(sensor, desk.language)
            if request is None:
                return
            begun = await self._submit(request, round_, context)
        except MetaRefused as error:
            outcome.held.append(_held(noticed, error.code, error.message))
            about = {"sensor": noticed.signal.sensor, "key": noticed.signal.key}
            outcome.refused.append(_event(REFUSED, {**about, "problem": error.problem().to_json()}))
        except LedgerError:
            raise
        except CapabilityFailed as error:
            outcome.held.append(_held(noticed, error.code, error.message))
        else:
            told: dict[str, Json] = {"execution": str(begun), "goal": request.goal, "advances": request.advances}
            outcome.begun.append({"sensor": noticed.signal.sensor, "key": noticed.signal.key, **told})

    async def _submit(self, request: ExecutionRequest, round_: ExecutionView, context: CallContext) -> ExecutionId:
        """Return the execution of a goal; one that was begun before is that one, whatever is allowed now."""
        desk = self._desk
        known = await desk.register.find(desk.organisation, str(request.idempotency_key))
        if known is not None:
            return known
        if request.skill is None:
            request = request.model_copy(update={"skill": desk.resolve_skill(request.goal)})
        await desk.book.require_room(request, context.now)
        try:
            submitted = await desk.register.submit(
                request, round_.organisation_sha256, round_.home, models=round_.models
            )  # fmt: skip
        except KeyInUse as error:  # somebody began it meanwhile, at a moment of their own
            return ExecutionId(str(error.facts["execution_id"]))
        return submitted.execution_id


async def _append(desk: Desk, stream: str, events: list[NewEvent], context: CallContext) -> Append:
    newest = await desk.ledger.read_newest(stream)
    version = newest[0].stream_version if newest else 0
    source = f"/organisation/{desk.organisation}/heartbeat"
    return Append(stream, events, version, desk.organisation, source, context.order.execution_id)


def _event(type_: str, data: Mapping[str, Any]) -> NewEvent:
    return NewEvent(type_, {name: clean(value) for name, value in data.items()})


def _place_of(noticed: Noticed) -> Place:
    about = noted(noticed.signal)
    return about.source, about.kind, tuple(sorted(about.labels.items()))


def _place(alert: Mapping[str, Any]) -> Place:
    """Return what an alert is about; views name its source and kind among the labels as well."""
    labels = {name: str(value) for name, value in alert["labels"].items() if name not in ("source", "kind")}
    return str(alert["source"]), str(alert["kind"]), tuple(sorted(labels.items()))


def _held(noticed: Noticed, why: str, by: str) -> dict[str, Json]:
    return {"sensor": noticed.signal.sensor, "key": noticed.signal.key, "why": why, "by": by}


PHASES: tuple[type[Phase], ...] = (Observe, Orient, Decide, Act, Evaluate)
"""Every phase, in order."""
