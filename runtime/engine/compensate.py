"""Taking effects back after a cancellation: as their steps declared, the last one first, each once.

A compensation was declared in the plan and approved together with its step, so no gate stands before it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import cast

from contracts import ErrorCategory, Json, Problem
from runtime.bindings import resolve
from runtime.capabilities.port import CallContext
from runtime.engine.context import Run, clean_data, failed
from runtime.engine.direct import draft_of
from runtime.engine.finish import finish
from runtime.engine.fold import fold_order
from runtime.engine.other_way import form_of
from runtime.engine.repeat import scope_of
from runtime.engine.result import Undo
from runtime.engine.retry import backoff
from runtime.engine.view import OrderView, Unit
from runtime.errors import EffectInDoubt, LedgerError, NetworkFault, SiliconError, surely_not
from runtime.ledger.port import NewEvent


@dataclass(frozen=True, slots=True)
class _Effect:
    """A finished effect that its step knows how to take back."""

    order_id: str
    step: str
    index: int | None
    undo: Undo

    @property
    def key(self) -> str:
        """Idempotency key of taking it back."""
        number = "" if self.index is None else f":{self.index}"
        return f"{self.order_id.partition('/')[2]}:{self.step}{number}:undo"


async def compensate(run: Run) -> None:
    """Take back every finished effect of the order and of the orders below it, where its step says how.

    Each attempt is recorded as `compensation.finished`, with `ok` and the problem where it did not work; one that
    fails does not keep the others from being tried. What an earlier run did is not done again.
    """
    for unit in run.view.intents:
        await _settle_intent(run, unit)
    async for effect in _effects(run, run.view, str(run.order.order_id)):
        if run.view.undone.get(effect.key) not in ("done", "failed"):
            await _take_back(run, effect)


async def _effects(run: Run, view: OrderView, order_id: str) -> AsyncIterator[_Effect]:
    """Yield what can be taken back, the last finished first; orders that were not finished come before."""
    finished = [view.units[key] for key in view.finished]
    ended = {unit.result.order_id for unit in finished if unit.result}
    for child in reversed([child for child in view.children if child not in ended]):
        async for effect in _below(run, child):
            yield effect
    for unit in reversed(finished):
        result = unit.result
        if result is not None and result.undo is not None:
            yield _Effect(order_id, unit.step, unit.index, result.undo)
        elif result is not None and result.order_id is not None:
            async for effect in _below(run, result.order_id):
                yield effect


async def _below(run: Run, child: str) -> AsyncIterator[_Effect]:
    view = fold_order(await run.ledger.read(str(child)))
    async for effect in _effects(run, view, str(child)):
        if effect.key not in view.undone:  # a cancelled order took its own back
            yield effect


async def _take_back(run: Run, effect: _Effect) -> None:
    problem: Problem | None = None
    try:
        spec = run.router.spec(effect.undo.use)
        begun = run.view.undone.get(effect.key) == "intended"
        if not begun and spec.effect.needs_gate:
            await run.journal.write(NewEvent("compensation.intended", _data(effect)))
        if not (begun and await _did_happen(run, effect)):
            await _call(run, effect)
    except LedgerError:
        raise
    except SiliconError as error:
        problem = error.problem()
    data = {**_data(effect), "ok": problem is None, "problem": problem.to_json() if problem else None}
    await run.journal.write(NewEvent("compensation.finished", clean_data(data)))


async def _did_happen(run: Run, effect: _Effect) -> bool:
    """Tell whether a compensation that was announced took place; raise EffectInDoubt when nobody can."""
    spec = run.router.spec(effect.undo.use)
    if not spec.can_look_up:
        raise EffectInDoubt(
            f"{effect.undo.use} was begun to take back step {effect.step}, and nobody knows whether it happened. "
            f"Look at the other side and mend it by hand.",
            step=effect.step, key=effect.key,
        )  # fmt: skip
    found = await run.router.lookup(effect.undo.use, effect.undo.arguments, _context(run, effect))
    return found is not None


async def _call(run: Run, effect: _Effect) -> None:
    for tried in range(run.settings.network_retries + 1):
        try:
            await run.router.call(effect.undo.use, effect.undo.arguments, _context(run, effect), timeout_s=None)
            return
        except LedgerError:
            raise
        except SiliconError as error:
            sure = surely_not(error.facts) or not run.router.spec(effect.undo.use).effect.needs_gate
            if not sure and await _did_happen(run, effect):
                return
            wait_s = backoff(tried, error.problem(), run.settings)
            if not isinstance(error, NetworkFault) or tried == run.settings.network_retries or wait_s is None:
                raise
            await run.sleep(wait_s)


def _context(run: Run, effect: _Effect) -> CallContext:
    return CallContext(
        order=run.order, step=effect.step, key=effect.key, attempt=1, now=run.clock.now(),
        sandbox=run.sandbox, blackboard=run.blackboard,
    )  # fmt: skip


def _data(effect: _Effect) -> dict[str, Json]:
    return {
        "step": effect.step,
        "index": effect.index,
        "order_id": effect.order_id,
        "key": effect.key,
        "use": effect.undo.use,
        "arguments": dict(effect.undo.arguments),
    }


async def _settle_intent(run: Run, unit: Unit) -> None:
    """Find out about an effect that the cancellation met in the middle, so that it can be taken back if it happened."""
    intent, step = unit.intent, run.step(unit.step)
    assert intent is not None and intent.open
    try:
        spec = run.router.spec(intent.use)
        if not spec.can_look_up:
            raise EffectInDoubt(
                f"The execution was cancelled while {intent.use} of step {unit.step} was under way, and nobody knows "
                f"whether it happened. Look at the other side.",
                step=unit.step, key=intent.key,
            )  # fmt: skip
        scope = await scope_of(run, step, unit.index)
        step = form_of(step, unit)
        arguments = cast("dict[str, Json]", resolve(dict(step.arguments), scope.values))
        context = CallContext(order=run.order, step=step.id, key=intent.key, attempt=unit.attempt, now=run.clock.now())
        found = await run.router.lookup(intent.use, arguments, context)
    except LedgerError:
        raise
    except SiliconError as error:
        await run.journal.write(failed(step, unit.index, error.problem(), final=True))
        return
    if found is None:
        message = f"Step {unit.step} was cancelled before its effect took place."
        await run.give_up(step, unit.index, cancelled(message, happened="no"))
        return
    draft = draft_of(found, started_at=context.now, seconds=0.0, use=intent.use, happened=True)
    await finish(run, step, unit, scope, replace(draft, confirmed=True))


def cancelled(message: str, **facts: Json) -> Problem:
    """Return the problem of what was cancelled."""
    return Problem(code="CANCELLED", category=ErrorCategory.PERMISSION, message=message, facts=facts)
