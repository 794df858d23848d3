"""Direct steps: a capability with bound parameters, no model."""

from __future__ import annotations

import time
from datetime import datetime
from typing import cast

from contracts import Effect, Json, Step, Usage
from runtime.bindings import resolve
from runtime.capabilities.port import CallContext, CallResult, EffectRequest, Waiting
from runtime.engine.context import Run
from runtime.engine.effects import CONFIRMED, call_effect
from runtime.engine.finish import Draft
from runtime.engine.origins import data_hash_of, origins_of
from runtime.engine.pause import Pause
from runtime.engine.scope import Scope
from runtime.engine.view import Unit


async def call_capability(run: Run, step: Step, unit: Unit, scope: Scope) -> Draft | Pause:
    """Bind the arguments, call the capability, and return what it gave or that it waits for people."""
    assert step.use is not None
    spec = run.router.spec(step.use)
    arguments = cast("dict[str, Json]", resolve(dict(step.arguments), scope.values))
    origins = origins_of(step.arguments, scope, run.view, run.order.employee)
    started_at, started = run.clock.now(), time.perf_counter()
    context = CallContext(
        order=run.order,
        step=step.id,
        key=run.call_key(unit),
        attempt=unit.attempt,
        now=started_at,
        sandbox=run.sandbox,
        blackboard=run.blackboard,
        origins=origins,
        pending=unit.waiting,
        previous_error=unit.problem.message if unit.problem else None,
    )
    answer: CallResult | Waiting | Pause
    changes_the_world = stronger(spec.effect, step.effect).needs_gate
    if changes_the_world:
        request = EffectRequest(run.order, step.id, spec, arguments, context.key)
        answer = await call_effect(run, step, unit, request, context)
    else:
        answer = await run.interruptible(
            run.router.call(step.use, arguments, context, timeout_s=step.timeout_s), grace_s=0
        )
    if isinstance(answer, Pause):
        return answer
    if isinstance(answer, Waiting):
        return Pause(tuple(answer.ids), appends=answer.appends)
    draft = draft_of(
        answer, started_at=started_at, seconds=time.perf_counter() - started, use=step.use, happened=changes_the_world
    )
    draft.data_sha256 = answer.data_sha256 or data_hash_of(origins.values())
    return draft


def draft_of(answer: CallResult, *, started_at: datetime, seconds: float, use: str, happened: bool) -> Draft:
    """Return what a call gave in the form in which it is judged and stored."""
    return Draft(
        output=cast(Json, answer.output),
        started_at=started_at,
        seconds=seconds,
        evidence=answer.evidence,
        files=answer.files,
        events=answer.events,
        appends=answer.appends,
        query_sha256=answer.query_sha256,
        data_sha256=answer.data_sha256,
        usage=Usage(seconds=seconds, steps=1),
        use=use,
        happened=happened,
        confirmed=answer.output is CONFIRMED,
    )


def stronger(declared: Effect, asked: Effect | None) -> Effect:
    """Return the stronger of what the capability declares and the step says."""
    order = list(Effect)
    return declared if asked is None else max(declared, asked, key=order.index)
