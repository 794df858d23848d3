"""Direct steps: a capability with bound parameters, no model."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import cast

from contracts import Effect, Json, Step, StepMode, Usage
from runtime.bindings import resolve
from runtime.capabilities.port import CallContext, CallResult, CapabilitySpec, EffectRequest, Waiting
from runtime.engine.context import Run
from runtime.engine.costs import is_unpriced, reserve_costs, settled
from runtime.engine.denied import after_denial, asked_about
from runtime.engine.effects import CONFIRMED, call_effect
from runtime.engine.finish import Draft
from runtime.engine.origins import Origins
from runtime.engine.pause import Pause
from runtime.engine.scope import Scope
from runtime.engine.view import Unit
from runtime.errors import AccessDenied


async def call_capability(run: Run, step: Step, unit: Unit, scope: Scope) -> Draft | Pause:
    """Bind the arguments, call the capability, and return what it gave or that it waits for people."""
    assert step.use is not None
    spec = run.router.spec(step.use)
    arguments = cast("dict[str, Json]", resolve(dict(step.arguments), scope.values))
    origins = Origins(step.arguments, scope, run.view, run.order.employee)
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
    effect = stronger(spec.effect, step.effect)
    changes_the_world = effect.needs_gate
    request = request_of(run, step, unit, spec, arguments)
    if unit.denied:
        by_hand = await after_denial(run, step, unit, request)
        if isinstance(by_hand, Pause):
            return by_hand
        if by_hand is not None:
            return draft_of(by_hand, started_at=started_at, seconds=0.0, use=step.use, happened=changes_the_world)
    costs = await reserve_costs(run, step, unit, spec)
    answer: CallResult | Waiting | Pause
    if effect is not Effect.READ:
        await run.journal.flush()
    if changes_the_world:
        answer = await call_effect(run, step, unit, request, context)
    else:
        if spec.effect is not Effect.READ:
            await run.still_held()
        call = partial(run.router.call, step.use, arguments, context, timeout_s=step.timeout_s)
        flying = (
            call() if spec.every_call else run.flights.fly(step.use, arguments, context, call, timeout_s=step.timeout_s)
        )
        answer = await run.interruptible(flying, grace_s=0)
    if isinstance(answer, Pause):
        return answer
    if isinstance(answer, Waiting):
        return Pause(tuple(answer.ids), appends=answer.appends)
    seconds = time.perf_counter() - started
    began = started_at if changes_the_world else None
    draft = draft_of(answer, started_at=began, seconds=seconds, use=step.use, happened=changes_the_world)
    draft.data_sha256 = answer.data_sha256 or origins.data_sha256()
    draft.unpriced = is_unpriced(spec, costs, answer)
    if costs:
        draft.usage = settled(answer, costs, Usage.of_step(seconds))
    return draft


def request_of(run: Run, step: Step, unit: Unit, spec: CapabilitySpec, arguments: Mapping[str, Json]) -> EffectRequest:
    """Return the call of a direct step, as the gate is asked about it."""
    return EffectRequest(
        run.order, step.id, spec, arguments, run.call_key(unit),
        way_back=step.compensate.use if step.compensate else None, gives=step.gives,
    )  # fmt: skip


async def put_to_people(run: Run, step: Step, unit: Unit, scope: Scope, error: AccessDenied) -> Pause | None:
    """Return that people are asked about the call of a direct step, None where nobody could decide.

    Hold `run.flow.asking` until that is stored.
    """
    if step.mode is not StepMode.DIRECT or step.use is None:
        return None
    arguments = cast("dict[str, Json]", resolve(dict(step.arguments), scope.values))
    return await asked_about(run, unit, request_of(run, step, unit, run.router.spec(step.use), arguments), error)


def draft_of(answer: CallResult, *, started_at: datetime | None, seconds: float, use: str, happened: bool) -> Draft:
    """Return what a call gave in the form in which it is judged and stored."""
    return Draft(
        output=cast(Json, answer.output),
        started_at=started_at,
        seconds=seconds,
        seen=answer.seen,
        evidence=answer.evidence,
        files=answer.files,
        events=answer.events,
        appends=answer.appends,
        query_sha256=answer.query_sha256,
        data_sha256=answer.data_sha256,
        use=use,
        happened=happened,
        confirmed=answer.output is CONFIRMED,
    )


def stronger(declared: Effect, asked: Effect | None) -> Effect:
    """Return the stronger of what the capability declares and the step says."""
    return declared if asked is None else max(declared, asked, key=list(Effect).index)
