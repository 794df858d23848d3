"""Effects in doubt that are found out about outside their step: a cancellation met them, or no slot is to be had."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import cast

from contracts import Json, OrderId, OrderState, Usage
from runtime.bindings import resolve
from runtime.capabilities.port import CallContext, EffectRequest
from runtime.engine.cancelled import cancelled, not_taken_back
from runtime.engine.conflict import Conflicts
from runtime.engine.context import Run, failed
from runtime.engine.costs import settled
from runtime.engine.delegation import recorded
from runtime.engine.direct import draft_of
from runtime.engine.effects import CONFIRMED, find_out
from runtime.engine.finish import finish, finish_failed, undo_if_told
from runtime.engine.other_way import form_of
from runtime.engine.parallel import settle_all
from runtime.engine.pause import Pause, write_pause
from runtime.engine.react.undo import settle_call, unsettled_calls
from runtime.engine.repeat import scope_of
from runtime.engine.resume import open_view
from runtime.engine.view import OrderView, Unit
from runtime.errors import CapabilityFailed, LedgerError, SiliconError, VersionConflict, surely_not

_Asked = tuple[str, ...]
"""Cards on which people are asked whether an effect happened."""


def doubtful_units(view: OrderView) -> list[Unit]:
    """Return the units with an effect that was announced and has no receipt."""
    return [unit for unit in view.units.values() if _is_doubtful(unit)]


def _is_doubtful(unit: Unit) -> bool:
    return unit.unsettled or (unit.react is not None and any(call.unsettled for call in unit.react.calls))


async def settle(run: Run, units: Iterable[Unit], *, taken_out: bool = False, goes_on: bool = False) -> _Asked:
    """Find out about every effect of these units that was announced and has no receipt, about all at the same time.

    So do the orders below that a process which died left with such effects. What nobody but people can tell becomes a
    card; those are returned. With `taken_out` a unit whose effect happened has failed, though its receipt is kept:
    nothing after it may build on what it gave. With `goes_on` the order is not cancelled: what did not happen is to be
    tried again another time.
    """
    units = list(units)
    jobs: list[Callable[[], Awaitable[_Asked]]] = [
        *(partial(_settle_intent, run, unit, taken_out=taken_out, goes_on=goes_on) for unit in units if unit.unsettled),
        *[partial(settle_call, talk, call, goes_on=goes_on) async for talk, call in unsettled_calls(run, units)],
    ]
    asked = await settle_all([partial(_anew, run, job) for job in jobs], at_once=len(jobs), flow=run.flow)
    holders = [holder for unit in units if not unit.state.settled for holder in unit.holders]
    left = [each for each in holders if not each.state.settled and await _unsettled_below(run, each)]
    asked += await settle_all([partial(_settle_order, run, unit) for unit in left], at_once=len(left), flow=run.flow)
    return tuple(dict.fromkeys(card for cards in asked for card in cards))


async def _anew(run: Run, job: Callable[[], Awaitable[_Asked]]) -> _Asked:
    """Do it once more each time a person decides the card at hand in the same moment."""
    conflicts = Conflicts(run.journal)
    while True:
        try:
            return await job()
        except VersionConflict as conflict:
            refusal = await conflicts.refusal(conflict)
            if refusal is not None:
                raise refusal from conflict


async def _settle_intent(run: Run, unit: Unit, *, taken_out: bool, goes_on: bool) -> _Asked:
    intent, step = unit.intent, run.step(unit.step)
    assert intent is not None and intent.open
    try:
        scope = await scope_of(run, step, unit.index)
        step = form_of(step, unit)
        arguments = cast("dict[str, Json]", resolve(dict(step.arguments), scope.values))
        context = CallContext(order=run.order, step=step.id, key=intent.key, attempt=unit.attempt, now=run.clock.now())
        undo = undo_if_told(step, scope, dict(CONFIRMED))
        request = EffectRequest(
            run.order, step.id, run.router.spec(intent.use), arguments, intent.key,
            cancelled=not goes_on, way_back=undo.use if undo else None, gives=step.gives,
        )  # fmt: skip
        found = await find_out(run, step, unit, request, context)
    except LedgerError:
        raise
    except SiliconError as error:
        may_have = {"happened": True} if goes_on and not surely_not(error.facts) else {}
        await run.journal.write(failed(step, unit.index, error.problem(), final=True, **may_have))
        return ()
    if isinstance(found, Pause):
        await write_pause(run, step, unit, found)
        return found.ids
    if found is None and goes_on:
        did_not = CapabilityFailed(f"{intent.use} of step {unit.step} did not happen.", use=intent.use, happened="no")
        await run.journal.write(failed(step, unit.index, did_not.problem(), final=False))
        return ()
    if found is None:
        message = f"Step {unit.step} was cancelled before its effect took place."
        await run.give_up(step, unit.index, cancelled(message, happened="no"))
        return ()
    draft = draft_of(found, started_at=context.now, seconds=0.0, use=intent.use, happened=True)
    draft.usage = settled(found, unit.reserved.get("", ()), Usage.of_step(0.0))
    if not goes_on and step.compensate is not None and undo_if_told(step, scope, draft.output) is None:
        draft.events = (*draft.events, not_taken_back(run, step, unit.index, intent.key))
    if taken_out:
        problem = cancelled(f"The branch {run.branch} was cancelled.", branch=run.branch)
        await finish_failed(run, step, unit, scope, draft, problem=problem)
    else:
        await finish(run, step, unit, scope, replace(draft, confirmed=not goes_on or draft.output == CONFIRMED))
    return ()


async def _unsettled_below(run: Run, unit: Unit) -> bool:
    return unit.child is not None and await _is_unsettled(run, unit.child.order_id)


async def _is_unsettled(run: Run, order_id: OrderId) -> bool:
    """Whether an order that did not end has, itself or below, effects that were announced and have no receipt."""
    view = await open_view(run.ledger, str(order_id))
    if view.report is not None:
        return False
    for unit in view.units.values():
        if _is_doubtful(unit):
            return True
        for each in () if unit.state.settled else unit.holders:
            if not each.state.settled and await _unsettled_below(run, each):
                return True
    return False


async def _settle_order(run: Run, unit: Unit) -> _Asked:
    """Let an order below end, which takes its own effects back, and return what it waits for."""
    if run.delegate is None:
        return ()
    carried_out = run.delegate.carry_out(await recorded(run, unit))
    report = await run.interruptible(carried_out, grace_s=None)
    if report.state is not OrderState.WAITING:
        return ()
    asked = Pause(tuple(report.waiting_for))
    await write_pause(run, run.step(unit.step), unit, asked)
    return asked.ids
