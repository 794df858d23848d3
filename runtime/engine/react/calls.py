"""The calls of one answer: in chunks, each recorded when it ends, none made twice."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from contracts import Effect, ErrorCategory, Json, OutputMode, Problem, Usage
from runtime.canonical import clean, sha256
from runtime.capabilities.port import CallContext, CallResult, CapabilitySpec, EffectRequest, Origin, Waiting
from runtime.engine.conflict import Conflicts
from runtime.engine.context import clean_data
from runtime.engine.costs import is_unpriced, lost, reserve_costs, settled
from runtime.engine.delegation import ChildEnded
from runtime.engine.denied import after_denial, asked_about
from runtime.engine.direct import draft_of
from runtime.engine.effects import call_effect
from runtime.engine.finish import Draft, result_of, undo_if_told
from runtime.engine.origins import Origins
from runtime.engine.outcome import Stop
from runtime.engine.parallel import settle_all
from runtime.engine.pause import Pause
from runtime.engine.plausible import suspicions
from runtime.engine.questions import answer_to, new_question, question_append
from runtime.engine.react.below import Resting, end_part, have_done, told_of
from runtime.engine.react.control import CONTROL, Say, is_ending, read_control, require_readable
from runtime.engine.react.keeping import shown_as
from runtime.engine.react.offer import OWN, SKILL
from runtime.engine.react.own import carry_out_own
from runtime.engine.react.references import put_back_in
from runtime.engine.react.repeated import stop_repeated, twin_of
from runtime.engine.react.state import Call, Turn
from runtime.engine.react.talk import Talk
from runtime.engine.refused import refusals
from runtime.engine.retry import backoff
from runtime.engine.view import NOTHING
from runtime.errors import AccessDenied, BudgetExceeded, LedgerError, SiliconError, VersionConflict, surely_not
from runtime.ledger.port import NewEvent
from runtime.texts import in_language

_End = Pause | SiliconError | Stop | None
"""How a call ended for now: it waits for people, nobody may go on before it is settled, the execution is being
cancelled, or it is settled."""


async def carry_out(talk: Talk, turn: Turn) -> list[Pause]:
    """Settle the calls of an answer as far as that goes; return what waits for people.

    Calls run in chunks of `engine.calls_at_once`; one that fails is told to the model and leaves the others alone.
    Identical calls are made once.

    Raises:
        CallRepeated: the model makes the same call for the third time in a row.
        SiliconError: an effect is in doubt and nobody can settle it; the step fails.
        Stop: the execution is being cancelled; effects in progress have had their grace.
    """
    await put_back_in(talk, turn)
    await stop_repeated(talk, turn)
    calls = [call for call in turn.calls if not is_ending(call)]
    apart = [call for call in calls if not call.settled and twin_of(talk, call) is None]
    ends: list[_End] = []
    at_once = talk.run.settings.calls_at_once
    for start in range(0, len(apart), at_once):
        await talk.run.steps.rest()
        ends += await _carry_out_chunk(talk, apart[start : start + at_once])
        for end in ends:
            if isinstance(end, SiliconError | Stop):
                raise end
    for call in calls:
        twin = None if call.settled else twin_of(talk, call)
        if twin is not None and twin.settled:
            data = talk.of_call(call, same_as=twin.id, use=twin.use, arguments_sha256=twin.arguments_sha256)
            await talk.run.journal.write(NewEvent("call.shared", data))
    return [end for end in ends if isinstance(end, Pause)]


async def _carry_out_chunk(talk: Talk, chunk: Sequence[Call]) -> list[_End]:
    async with Resting(talk, chunk) as resting:
        jobs = [partial(_settle, talk, call, resting) for call in chunk]
        return await settle_all(jobs, at_once=len(jobs), flow=talk.run.flow)


async def _settle(talk: Talk, call: Call, resting: Resting) -> _End:
    try:
        return await _make(talk, call)
    except Stop as stop:  # a value, so that an effect beside it keeps its grace
        return stop
    finally:
        resting.settled(call)


async def _make(talk: Talk, call: Call) -> Pause | SiliconError | None:
    """Make a call as often as it takes; each failure is in the ledger before the next try."""
    conflicts = Conflicts(talk.run.journal)
    while not call.settled:
        error: SiliconError | None
        try:
            pause = await _attempt(talk, call)
            if pause is not None:
                return await write_wait(talk, call, pause)
            continue
        except VersionConflict as conflict:
            error = await conflicts.refusal(conflict)
            if error is None:
                continue
        except LedgerError:
            raise
        except SiliconError as caught:
            error = caught
        if isinstance(error, BudgetExceeded):
            return error
        if call.intent is not None and call.intent.open and not surely_not(error.facts):
            return error
        pause = await _put_to_people(talk, call, error) if isinstance(error, AccessDenied) else None
        if pause is not None:
            return pause
        await _fail_or_wait(talk, call, error)
    return None


async def _attempt(talk: Talk, call: Call) -> Pause | None:
    if call.name == CONTROL:
        return await _ask_person(talk, call)
    spec = talk.box.spec_for(call)
    arguments = talk.box.arguments_for(spec, call)
    if spec.kind == OWN:
        await finish_call(talk, call, await carry_out_own(talk, call, spec, arguments), None)
        return None
    if spec.kind == SKILL:
        given = await have_done(talk, call, spec, arguments)
        if isinstance(given, Pause):
            return given
        given.use = spec.name
        await finish_call(talk, call, given, sha256(clean(arguments)))
        return None
    origins = Origins(talk.box.origins_of(spec), talk.scope, talk.run.view, talk.run.order.employee)
    context = context_of(talk, call, origins)
    effect = talk.box.effect_of(spec).needs_gate
    if call.denied:
        by_hand = await after_denial(talk.run, talk.step, call, _request(talk, spec, arguments, context))
        if isinstance(by_hand, Pause):
            return by_hand
        if by_hand is not None:
            told = draft_of(by_hand, started_at=context.now, seconds=0.0, use=spec.name, happened=effect)
            await finish_call(talk, call, told, sha256(clean(arguments)))
            return None
    costs = await reserve_costs(talk.run, talk.step, talk.unit, spec, call=call.id)
    started = time.perf_counter()
    answer = await _made(talk, call, spec, arguments, context, effect=effect)
    if isinstance(answer, Pause):
        return answer
    if isinstance(answer, Waiting):
        return Pause(tuple(answer.ids), appends=answer.appends)
    draft = draft_of(
        answer, started_at=context.now, seconds=time.perf_counter() - started, use=spec.name, happened=effect
    )
    draft.data_sha256 = answer.data_sha256 or origins.data_sha256()
    draft.usage, draft.unpriced = settled(answer, costs, Usage()), is_unpriced(spec, costs, answer)
    await finish_call(talk, call, draft, sha256(clean(arguments)), odd=_odd(talk, spec, draft))
    return None


def context_of(talk: Talk, call: Call, origins: Mapping[str, Origin]) -> CallContext:
    """Return what a capability may know about the call."""
    run = talk.run
    return CallContext(
        order=run.order,
        step=talk.step.id,
        key=f"{run.call_key(talk.unit)}:{call.place}",
        attempt=call.attempt,
        now=run.clock.now(),
        sandbox=run.sandbox,
        blackboard=run.blackboard,
        origins=origins,
        pending=call.waiting,
        previous_error=call.problem.message if call.problem else None,
    )


async def _made(
    talk: Talk, call: Call, spec: CapabilitySpec, arguments: dict[str, Json], context: CallContext, *, effect: bool
) -> CallResult | Waiting | Pause:
    run, step = talk.run, talk.step
    if effect:
        return await call_effect(run, step, call, _request(talk, spec, arguments, context), context)
    if spec.effect is not Effect.READ:
        await run.still_held()
    make = partial(run.router.call, spec.name, arguments, context, timeout_s=step.timeout_s)
    if spec.every_call:
        return await run.interruptible(make(), grace_s=0)
    flying = run.flights.fly(spec.name, arguments, context, make, timeout_s=step.timeout_s)
    return await run.interruptible(flying, grace_s=0)


def _request(talk: Talk, spec: CapabilitySpec, arguments: dict[str, Json], context: CallContext) -> EffectRequest:
    back = talk.step.compensate
    return EffectRequest(
        talk.run.order, talk.step.id, spec, arguments, context.key, way_back=back.use if back else None
    )  # fmt: skip


async def _put_to_people(talk: Talk, call: Call, error: AccessDenied) -> Pause | None:
    """Let a call wait for people to which the other side did not let us in; None where nobody could decide."""
    spec = talk.box.spec_for(call)
    arguments = talk.box.arguments_for(spec, call)
    origins = Origins(talk.box.origins_of(spec), talk.scope, talk.run.view, talk.run.order.employee)
    async with talk.run.flow.asking:
        request = _request(talk, spec, arguments, context_of(talk, call, origins))
        pause = await asked_about(talk.run, call, request, error)
        if pause is None:
            return None
        await fail_call(talk, call, error.problem(), final=False)
        return await write_wait(talk, call, pause)


async def _ask_person(talk: Talk, call: Call) -> Pause | None:
    """Put the model's question to a person, or go on with the answer."""
    said = read_control(call, talk.step.gives)
    assert said.say is Say.NEED_INPUT  # one that ends the step is judged after the calls of its answer
    if not call.waiting:
        require_readable(said)
        question = new_question(talk.run, talk.step, text=said.words, choices=said.choices)
        return Pause((question.question_id,), appends=[question_append(talk.run, question)])
    answer = await answer_to(talk.run, call)
    if answer is None:
        return Pause(call.waiting)
    draft = Draft({"answer": answer.value}, started_at=talk.run.clock.now(), seconds=0.0)
    await finish_call(talk, call, draft, None)
    return None


def _odd(talk: Talk, spec: CapabilitySpec, draft: Draft) -> tuple[str, ...] | None:
    """Return what is odd about a result by the rules of its capability, in the words that the model is told.

    None says that there was nothing to judge by.
    """
    if not spec.plausible or draft.confirmed or not isinstance(draft.output, dict):
        return None
    odd = suspicions(spec.plausible, draft.output)
    return tuple(in_language(message, talk.run.order.language) for message in odd)


async def finish_call(
    talk: Talk, call: Call, draft: Draft, arguments_sha256: str | None, *, odd: tuple[str, ...] | None = None
) -> None:
    """Store what the call gave, with everything that belongs to it, in one append."""
    run = talk.run
    draft.output = run.journal.redact(draft.output)
    if draft.order_id is None:  # the usage of an order tells its time
        draft.usage = Usage(seconds=draft.seconds) + (draft.usage or NOTHING)  # and no step
    result, blobs = result_of(run, talk.step.model_copy(update={"output": OutputMode.INLINE}), draft)
    result.suspicious = odd or ()
    if draft.happened and draft.order_id is None:  # an order takes its own effects back
        result = replace(result, undo=undo_if_told(talk.step, talk.scope, draft.output))
    data = talk.of_call(call, **result.to_data(), arguments_sha256=arguments_sha256)
    if odd == ():
        data["judged"] = True  # and found plausible
    facts, more = shown_as(talk, draft, apart=result.output_sha256 is not None)
    data, blobs = {**data, **facts}, [*blobs, *more]
    await run.journal.write(
        *draft.events, NewEvent("call.finished", clean_data(data)), appends=draft.appends, blobs=blobs
    )
    run.account.give_back(talk.unit, call.id)
    end_part(talk, call)


async def _fail_or_wait(talk: Talk, call: Call, error: SiliconError) -> None:
    """Record why the call failed, and wait where it is to be made again."""
    if isinstance(error, ChildEnded):  # whoever had the order has tried again already
        problem, left = told_of(error)
        await fail_call(talk, call, problem, final=True, left=left)
        end_part(talk, call)
        return
    run, problem = talk.run, error.problem()
    wait_s = None
    if problem.category is ErrorCategory.NETWORK:
        most = run.settings.network_retries if talk.step.retries is None else talk.step.retries
        tried = sum(earlier.category is ErrorCategory.NETWORK for earlier in call.failures)
        wait_s = backoff(tried, problem, run.settings, patience_s=run.patience_s) if tried < most else None
    await fail_call(
        talk, call, problem, final=wait_s is None, beside=refusals(error, talk.unit.step, talk.unit.index, call=call.id)
    )
    if wait_s:
        await run.pause(wait_s)


async def fail_call(
    talk: Talk, call: Call, problem: Problem, *, final: bool, left: Mapping[str, Any] = MappingProxyType({}),
    beside: Sequence[NewEvent] = (),
) -> None:  # fmt: skip
    """Record why the call failed, what is `left` of the order that it became, and what else belongs to it."""
    use, digest = talk.key_of(call) or (None, None)
    gone = lost(talk.unit, [call.id]) if final and not surely_not(problem.facts) else None
    data = talk.of_call(
        call, problem=problem.to_json(), final=final, use=use, arguments_sha256=digest,
        usage=gone.to_json() if gone is not None else None,
    )  # fmt: skip
    data |= left
    await talk.run.journal.write(*beside, NewEvent("call.failed", clean_data(data)))
    if call.id not in talk.unit.reserved:
        talk.run.account.give_back(talk.unit, call.id)


async def write_wait(talk: Talk, call: Call, pause: Pause) -> Pause:
    """Store that a call waits, with what it raised; nothing when that is stored already."""
    if pause.appends or pause.usage is not None or call.waiting != tuple(pause.ids):
        data = talk.of_call(
            call, ids=list(pause.ids), in_doubt=pause.in_doubt or None, denied=pause.denied or None
        )  # fmt: skip
        data |= {"usage": pause.usage.to_json()} if pause.usage is not None else {}
        await talk.run.journal.write(NewEvent("call.waiting", clean_data(data)), appends=pause.appends)
    end_part(talk, call)
    return Pause(pause.ids, in_doubt=pause.in_doubt, denied=pause.denied)


def merged(pauses: Sequence[Pause]) -> Pause:
    """Return one pause for all of them."""
    return Pause(tuple(dict.fromkeys(name for pause in pauses for name in pause.ids)))
