"""Effects of a conversation that are in doubt: found out about outside it, so that they can be taken back or kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import replace

from contracts import OrderId
from runtime.canonical import clean, sha256
from runtime.capabilities.port import EffectRequest
from runtime.engine.cancelled import cancelled, not_taken_back
from runtime.engine.context import Run
from runtime.engine.costs import settled
from runtime.engine.direct import draft_of
from runtime.engine.effects import CONFIRMED, find_out
from runtime.engine.finish import undo_if_told
from runtime.engine.other_way import form_of
from runtime.engine.pause import Pause
from runtime.engine.react.beginning import prepare
from runtime.engine.react.calls import context_of, fail_call, finish_call, write_wait
from runtime.engine.react.references import put_back
from runtime.engine.react.state import Call
from runtime.engine.react.talk import Talk, recall_answers
from runtime.engine.repeat import scope_of
from runtime.engine.result import Undo
from runtime.engine.view import NOTHING, Unit
from runtime.errors import CapabilityFailed, LedgerError, SiliconError


def ways_back_of(unit: Unit) -> Iterator[tuple[str, Undo | OrderId]]:
    """Yield which call it was and how its effect is taken back, or the order that did it, the last one first."""
    for call in reversed(list(unit.react.calls)) if unit.react is not None else ():
        if call.same_as is not None or call.result is None:
            continue
        way = call.result.undo or call.result.order_id
        if way is not None:
            yield call.place, way


def orders_of_calls(units: Iterable[Unit]) -> set[OrderId | None]:
    """Return the orders that calls of models became and that were done."""
    results = (result for unit in units if unit.react is not None for result in unit.react.results)
    return {result.order_id for result in results}


async def unsettled_calls(run: Run, units: Iterable[Unit]) -> AsyncIterator[tuple[Talk, Call]]:
    """Yield every effect of these units that was announced by a model's call and has no receipt."""
    for unit in units:
        open_calls = [call for call in unit.react.calls if call.unsettled] if unit.react is not None else []
        if not open_calls or unit.react is None:
            continue
        await recall_answers(run, unit.react)
        step = form_of(run.step(unit.step), unit)
        talk = await prepare(run, step, unit, await scope_of(run, run.step(unit.step), unit.index))
        for call in open_calls:
            await put_back(talk, call)
            yield talk, call


async def settle_call(talk: Talk, call: Call, *, goes_on: bool) -> tuple[str, ...]:
    """Find out about the effect of one call; return the cards on which people are asked about it.

    If it happened it gets its receipt; if it did not, it is recorded as cancelled, or with `goes_on` as not done; when
    nobody can tell it stays in doubt, and says so.
    """
    run, step = talk.run, talk.step
    context = context_of(talk, call, {})
    try:
        spec = talk.box.spec_for(call)
        arguments = talk.box.arguments_for(spec, call)
        undo = undo_if_told(step, talk.scope, dict(CONFIRMED))
        request = EffectRequest(
            run.order, step.id, spec, arguments, context.key, cancelled=not goes_on, way_back=undo.use if undo else None
        )
        found = await find_out(run, step, call, request, context)
    except LedgerError:
        raise
    except SiliconError as error:
        await fail_call(talk, call, error.problem(), final=True)
        return ()
    if isinstance(found, Pause):
        await write_wait(talk, call, found)
        return found.ids
    if found is None and goes_on:
        did_not = CapabilityFailed(f"{spec.name} of step {call.step} did not happen.", use=spec.name, happened="no")
        await fail_call(talk, call, did_not.problem(), final=False)
        return ()
    if found is None:
        message = f"{spec.name} of step {call.step} was cancelled before its effect took place."
        await fail_call(talk, call, cancelled(message, happened="no"), final=True)
        return ()
    draft = draft_of(found, started_at=context.now, seconds=0.0, use=spec.name, happened=True)
    if not goes_on and step.compensate is not None and undo_if_told(step, talk.scope, draft.output) is None:
        draft.events = (*draft.events, not_taken_back(run, step, call.index, context.key))
    draft.usage = settled(found, talk.unit.reserved.get(call.id, ()), NOTHING)
    await finish_call(talk, call, replace(draft, confirmed=True), sha256(clean(arguments)))
    return ()
