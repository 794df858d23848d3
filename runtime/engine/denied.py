"""Calls to which the other side did not let us in: put to people who can grant it or do it, and gone on with after."""

from __future__ import annotations

from dataclasses import replace

from contracts import EvidenceItem, EvidenceKind, Json, Problem, Step
from runtime.canonical import clean, sha256
from runtime.capabilities.access import AsksForAccess
from runtime.capabilities.port import (
    Allowed,
    CallResult,
    EffectRequest,
    Refused,
    Told,
    Waiting,
)
from runtime.engine.context import Run
from runtime.engine.effects import CONFIRMED, cards_among
from runtime.engine.pause import Pause
from runtime.engine.react.state import Call
from runtime.engine.states import UnitState
from runtime.engine.view import Unit
from runtime.errors import AccessDenied, PermissionRefused

DENIED_USE = "denied_use"
"""Fact of a problem: the capability."""


class NotGranted(PermissionRefused):
    """Nobody granted the access or did it by hand: a no, silence, or that it is left."""

    code = "ACCESS_NOT_GRANTED"


async def after_denial(run: Run, step: Step, unit: Unit | Call, request: EffectRequest) -> CallResult | Pause | None:
    """Return what a call gave that was done by hand, that people are still asked, or None: it is to be called again.

    Raises:
        NotGranted: it is left, and why.
        AccessDenied: the card was about another call, and this one has to be asked about anew.
    """
    why = unit.problem.message if unit.problem else ""
    answer = await _decided(run, replace(request, pending=cards_among(unit.denied)), why)
    match answer:
        case Waiting(ids=ids, appends=()):
            return Pause(tuple(ids), denied=True)
        case Waiting():  # another call was done by hand: whoever waits for the same asks together
            raise AccessDenied(why, **{**(unit.problem.facts if unit.problem else {}), "happened": "no"})
        case Told():
            return _by_hand(run, step, request, answer)
        case Allowed():
            return None
    left = answer.reason if isinstance(answer, Refused) else "nobody is there any more who could decide."
    raise NotGranted(f"{why} {left}", use=request.spec.name, happened="no")


async def asked_about(run: Run, unit: Unit | Call, request: EffectRequest, error: AccessDenied) -> Pause | None:
    """Return that people are asked, None when nobody could decide. Hold `run.flow.asking` until that is stored.

    Calls of one capability of the order wait for the same card.
    """
    for ids in (_open_cards(run, request.spec.name), ()):
        answer = await _decided(run, replace(request, pending=cards_among(ids)), error.message)
        if isinstance(answer, Waiting):
            return Pause(tuple(answer.ids), appends=answer.appends, denied=True)
    return None


def denied_at(problem: Problem, use: str | None) -> Problem:
    """Return the problem with the capability to which we were not let in."""
    return problem.model_copy(update={"facts": {**problem.facts, DENIED_USE: use}})


def _open_cards(run: Run, use: str) -> tuple[str, ...]:
    """Return the cards that calls of the capability in this order wait for."""
    ids: dict[str, None] = {}
    for unit in run.view.units.values():
        if unit.state is UnitState.WAITING and unit.denied and _use_of(unit) == use:
            ids |= dict.fromkeys(unit.denied)
        for call in unit.react.calls if unit.react is not None else ():
            if call.denied and call.use == use:
                ids |= dict.fromkeys(call.denied)
    return tuple(ids)


def _use_of(unit: Unit) -> Json:
    return unit.problem.facts.get(DENIED_USE) if unit.problem is not None else None


async def _decided(run: Run, request: EffectRequest, why: str) -> Allowed | Waiting | Told | Refused | None:
    return await run.gate.access(request, why) if isinstance(run.gate, AsksForAccess) else None


def _by_hand(run: Run, step: Step, request: EffectRequest, told: Told) -> CallResult:
    """Return the result on a person's word."""
    output = {**told.output, **CONFIRMED} if told.output else CONFIRMED
    item = EvidenceItem(
        kind=EvidenceKind.RECEIPT if request.spec.effect.needs_gate else EvidenceKind.CALL,
        at=run.clock.now(), step=step.id, capability=request.spec.name, sha256=sha256(dict(output)),
        facts={"key": request.key, "cards": [str(told.card)], "told_by": told.by},
    )  # fmt: skip
    return CallResult(output=output, evidence=[item], data_sha256=sha256(clean(request.arguments)))
