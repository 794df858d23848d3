"""Calls that change the world: allowed, announced, made once, and never silently made again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from contracts import CardId, EvidenceItem, EvidenceKind, Json, Step
from runtime.bindings import CONFIRMED_BY_PERSON
from runtime.canonical import clean, sha256
from runtime.capabilities.actions import ActionRefused
from runtime.capabilities.port import (
    Allowed,
    CallContext,
    CallResult,
    Edits,
    EffectRequest,
    Refused,
    Told,
    Waiting,
)
from runtime.engine.context import Run
from runtime.engine.costs import costs_of, reserved
from runtime.engine.pause import Pause
from runtime.engine.react.state import Call
from runtime.engine.retry import backoff
from runtime.engine.view import Intent, Unit
from runtime.errors import (
    CapabilityFailed,
    LedgerError,
    NetworkFault,
    SiliconError,
    surely_not,
)
from runtime.ledger.port import NewEvent

CONFIRMED: Mapping[str, Json] = {CONFIRMED_BY_PERSON: True}
"""Output of an effect of which only is known that it happened, because a person said so."""


async def call_effect(
    run: Run, step: Step, unit: Unit | Call, request: EffectRequest, context: CallContext
) -> CallResult | Waiting | Pause:
    """Carry the effect out, or say that people have to be asked first.

    The gate is asked, and the intent committed together with what the gate says is used up. Then comes the call; its
    receipt is the step's checkpoint. A failure whose facts do not say that nothing happened (`surely_not`) leaves the
    effect in doubt, as a crash in between does: the capability is asked by key if it can tell, else a person is. A
    person's no, or the capability's, leads to a new intent under the same approval. What is raised without that fact
    leaves the intent open, so that nobody goes on before it is settled.
    """
    request = await _as_approved(run, unit, request)
    if unit.intent is not None and unit.intent.open:
        settled = await find_out(run, step, unit, request, context)
        if settled is not None:
            return settled
    if unit.intent is not None and _same(unit.intent, request):
        await _announce(run, step, unit, request, card=unit.intent.card)
    else:
        paused = await _authorise(run, step, unit, request)
        if paused is not None:
            return paused
    return await _call(run, step, unit, request, context)


async def _as_approved(run: Run, unit: Unit | Call, request: EffectRequest) -> EffectRequest:
    """Return the call with the arguments that people gave it before they approved it, where they did."""
    earlier = () if unit.approved is None else (unit.approved,)
    pending = cards_among((*earlier, *(() if unit.doubts else unit.waiting)))
    if not pending or not isinstance(run.gate, Edits):
        return request
    edited = await run.interruptible(run.gate.edited(replace(request, pending=pending)), grace_s=0)
    return request if edited is None else replace(request, arguments=edited)


async def _call(
    run: Run, step: Step, unit: Unit | Call, request: EffectRequest, context: CallContext
) -> CallResult | Pause:
    await run.still_held()
    call = run.router.call(request.spec.name, request.arguments, context, timeout_s=step.timeout_s)
    try:
        answer = await run.interruptible(call, grace_s=run.grace_s)
        if isinstance(answer, Waiting):
            raise CapabilityFailed(
                f"{request.spec.name} wants to wait for people although its effect was announced; what changes the "
                f"world asks before, at the gate.",
                use=request.spec.name,
            )
        return answer
    except LedgerError:
        raise
    except SiliconError as error:
        if surely_not(error.facts):
            raise
        settled = await find_out(run, step, unit, request, context)
        if settled is None:
            error.facts["happened"] = "no"
            raise
        return settled


async def _authorise(run: Run, step: Step, unit: Unit | Call, request: EffectRequest) -> Pause | None:
    raised = () if unit.doubts else unit.waiting
    earlier = () if unit.approved is None else (unit.approved,)
    asked = replace(request, pending=cards_among((*earlier, *raised)))
    answer = await run.interruptible(run.gate.authorise(asked), grace_s=0)  # a bridge may be long in asking
    match answer:
        case Waiting():
            return Pause(tuple(answer.ids), appends=answer.appends)
        case Refused():
            raise ActionRefused(answer, request.spec.name)
        case Allowed():
            await _announce(run, step, unit, request, card=answer.card, allowed=answer)
    return None


async def _announce(
    run: Run, step: Step, unit: Unit | Call, request: EffectRequest, *, card: str | None, allowed: Allowed | None = None
) -> None:
    """Commit the intent, with the approval marked as used, before anything is sent."""
    arguments = clean(request.arguments)
    shown = run.journal.redact(arguments)
    digest, blob = run.journal.blob_of(shown)
    apart = len(blob) > run.settings.inline_output
    called = {"call": unit.id} if isinstance(unit, Call) else {}
    intent = NewEvent(
        "call.intended" if called else "effect.intended",
        {
            "step": step.id,
            "index": unit.index,
            **called,
            "attempt": unit.attempt,
            "key": request.key,
            "use": request.spec.name,
            **({"stored_sha256": digest} if apart else {"arguments": shown}),
            "arguments_sha256": sha256(arguments),
            "capability_sha256": request.spec.sha256,
            "card": card,
            **({"reserved": reserved(costs)} if (costs := costs_of(run, step, request.spec)) else {}),
            **({"instance": instance} if (instance := run.router.instance(request.spec.name)) else {}),
        },
    )
    await run.journal.write(intent, appends=allowed.appends if allowed else (), blobs=[blob] if apart else ())


async def find_out(
    run: Run, step: Step, unit: Unit | Call, request: EffectRequest, context: CallContext
) -> CallResult | Pause | None:
    """Return what the effect gave if it happened, None if it did not, or that a person is asked."""
    if request.spec.can_look_up:
        try:
            if _can_tell(run, unit, request):
                return await look_up(run, request, context)
        except CapabilityFailed:
            pass  # it cannot be told: a person is asked
    answer = await run.gate.in_doubt(replace(request, pending=cards_among(unit.doubts)))
    if isinstance(answer, Waiting):
        return Pause(tuple(answer.ids), appends=answer.appends, in_doubt=True)
    if not answer:
        return None
    output = {**answer.output, **CONFIRMED} if isinstance(answer, Told) else CONFIRMED
    told = [_confirmation(run, step, unit, request, output=output, by=answer.by if isinstance(answer, Told) else None)]
    return CallResult(output=output, evidence=told, data_sha256=sha256(clean(request.arguments)))


def _can_tell(run: Run, unit: Unit | Call, request: EffectRequest) -> bool:
    """Whether the one asked is the one called: a local service of another home knows nothing of what this one did."""
    called = unit.intent.instance if unit.intent is not None else None
    return called is None or called == run.router.instance(request.spec.name)


def _confirmation(
    run: Run, step: Step, unit: Unit | Call, request: EffectRequest, *, output: Mapping[str, Json], by: str | None
) -> EvidenceItem:
    """Return the evidence that an effect happened: a person's word, and whose it is where they told what it gave."""
    return EvidenceItem(
        kind=EvidenceKind.RECEIPT,
        at=run.clock.now(),
        step=step.id,
        capability=request.spec.name,
        sha256=sha256(dict(output)),
        facts={"key": request.key, "cards": list(unit.doubts), **({"told_by": by} if by is not None else {})},
    )


async def look_up(run: Run, request: EffectRequest, context: CallContext) -> CallResult | None:
    """Ask the capability whether the effect with this key happened.

    "It is not there" is believed only when it is said twice, `engine.settle_s` apart: the service may still be at work
    on a call whose answer was lost. A cancellation ends the asking, unless it is what asks.

    Raises:
        CapabilityFailed: it cannot be told.
        Stop: the execution is being cancelled.
    """
    found = await _look(run, request, context)
    if found is not None:
        return found
    await _wait(run, request, run.settings.settle_s)
    return await _look(run, request, context)


async def _look(run: Run, request: EffectRequest, context: CallContext) -> CallResult | None:
    """Look up once, again after passing faults."""
    for tried in range(run.settings.network_retries + 1):
        try:
            asking = run.router.lookup(request.spec.name, request.arguments, context)
            return await run.interruptible(asking, grace_s=None if request.cancelled else run.grace_s)
        except NetworkFault as fault:
            wait_s = backoff(tried, fault.problem(), run.settings)
            if tried == run.settings.network_retries or wait_s is None:
                raise
            await _wait(run, request, wait_s)
    raise AssertionError("unreachable")


async def _wait(run: Run, request: EffectRequest, seconds: float) -> None:
    await (run.sleep(seconds) if request.cancelled else run.pause(seconds))


def cards_among(ids: Iterable[str]) -> tuple[CardId, ...]:
    """Return the ids that are cards; questions are left out."""
    return tuple(CardId(name) for name in ids if name.startswith(f"{CardId.KIND}/"))


def _same(intent: Intent, request: EffectRequest) -> bool:
    """Whether the approval of an earlier attempt covers this one: the very same call of the very same tool."""
    return (intent.key, intent.arguments_sha256, intent.capability_sha256) == (
        request.key,
        sha256(clean(request.arguments)),
        request.spec.sha256,
    )
