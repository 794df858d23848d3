"""Taking effects back after a cancellation: as their steps declared, the last one first, each once.

A compensation was declared in the plan and approved together with its step, so no gate stands before it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from contracts import Json, OrderId, Problem, Step
from runtime.capabilities.port import CallContext, EffectRequest
from runtime.engine.branches import steps_in
from runtime.engine.cancelled import cancelled
from runtime.engine.context import Run, clean_data, failed
from runtime.engine.effects import look_up
from runtime.engine.fold import fold_order
from runtime.engine.outcome import End, Outcome
from runtime.engine.react.state import Call
from runtime.engine.react.undo import orders_of_calls, ways_back_of
from runtime.engine.refused import refusals
from runtime.engine.result import Undo
from runtime.engine.retry import backoff
from runtime.engine.states import UnitState
from runtime.engine.unsettled import settle
from runtime.engine.view import OrderView, Unit
from runtime.engine.withdraw import settle_calls, spent_by
from runtime.errors import EffectInDoubt, LedgerError, NetworkFault, SiliconError, surely_not
from runtime.ledger.port import NewEvent


@dataclass(frozen=True, slots=True)
class _Effect:
    """A finished effect that its step knows how to take back."""

    order_id: str
    step: str
    index: int | None
    undo: Undo
    call: str = ""
    """Of an effect that a model called: which call of the step it was."""

    @property
    def key(self) -> str:
        """Idempotency key of taking it back."""
        number = "" if self.index is None else f":{self.index}"
        return f"{self.order_id.partition('/')[2]}:{self.step}{number}{self.call and f':{self.call}'}:undo"


@dataclass(frozen=True, slots=True)
class _Doubt:
    """An effect of which nobody could or would say whether it happened."""

    use: str
    card: str | None
    """Which asked."""

    def __str__(self) -> str:
        return self.use if self.card is None else f"{self.use} ({self.card})"


@dataclass(frozen=True, slots=True)
class Left:
    """What a cancellation leaves, in the order and in those below."""

    asked: tuple[str, ...]
    """Cards on which a person is asked whether an effect happened; compensate again when they have answered."""
    taken_back: int
    standing: int
    """Effects that could not be taken back."""
    in_doubt: tuple[str, ...]
    """Capabilities of whose effect nobody can tell, each with the card that asked."""


async def compensate(run: Run) -> Left:
    """Take back every finished effect of the order and of the orders below it, where its step says how.

    Each attempt is recorded as `compensation.finished`, with `ok` and the problem where it did not work; one that
    fails does not keep the others from being tried. What an earlier run did is not done again.
    """
    asked = await settle(run, run.view.units.values())
    whole = await _whole(run)
    below = await _take_all_back(run, whole, whole.units.values(), whole.children)
    ends = [*run.view.undone.values(), *(end for end in below if isinstance(end, str))]
    back = ends.count("done")
    return Left(asked, back, len(ends) - back, tuple(str(end) for end in below if isinstance(end, _Doubt)))


async def take_out(run: Run, branch: Step, index: int | None) -> Outcome:
    """End one branch of a group that was cancelled alone: take its effects back, and record that it was cancelled.

    It waits as long as only people can tell whether one of its effects happened.
    """
    steps = {step.id for step in steps_in(branch)}
    asked = await settle(run, _units_of(run.view, steps, index), taken_out=True)
    whole = await _whole(run)
    units = _units_of(whole, steps, index)
    holders = [holder for unit in units for holder in unit.holders]
    await _take_all_back(run, whole, units, [each.child.order_id for each in holders if each.child is not None])
    problem = cancelled(f"The branch {run.branch} was cancelled.", branch=run.branch)
    own = run.view.unit(branch.id, index)
    for unit in (*(unit for unit in _units_of(run.view, steps, index) if unit is not own), own):
        if not (unit.state.settled or asked):
            await settle_calls(run, unit)
            spent = await spent_by(run, unit)
            event = failed(run.step(unit.step), unit.index, problem, final=True, usage=spent and spent.to_json())
            await run.journal.write(event)
        run.account.end(unit)  # what waits for people is not waited for by others
    return Outcome(End.WAITING) if asked else Outcome(End.FAILED, problem=own.problem)


def _units_of(view: OrderView, steps: Collection[str], index: int | None) -> list[Unit]:
    return [unit for unit in view.units.values() if unit.step in steps and index in (None, unit.index)]


async def _whole(run: Run) -> OrderView:
    """Return the order's view with everything that snapshots leave out."""
    return fold_order(await run.ledger.read(run.journal.stream))


async def _take_all_back(
    run: Run, whole: OrderView, units: Iterable[Unit], children: Sequence[OrderId]
) -> list[_Doubt | str]:
    """Take back what can be; return what nobody can tell about, and what came of taking back in orders below."""
    others: list[_Doubt | str] = []
    async for effect in _effects(run, whole, run.journal.stream, units, children):
        if not isinstance(effect, _Effect):
            others.append(effect)
        elif run.view.undone.get(effect.key) not in ("done", "failed"):
            await _take_back(run, effect)
    return others


async def _effects(
    run: Run, view: OrderView, order_id: str, units: Iterable[Unit], children: Sequence[OrderId]
) -> AsyncIterator[_Effect | _Doubt | str]:
    """Yield what these units did that can be taken back, the last finished first.

    What orders did that were not finished comes before.
    """
    among = {(unit.step, unit.index): unit for unit in units}
    finished = [among[key] for key in view.finished if key in among]
    ended = {unit.result.order_id for unit in finished if unit.result} | orders_of_calls(among.values())
    for child in reversed([child for child in children if child not in ended]):
        async for effect in _below(run, child):
            yield effect
    begun = [unit for key, unit in among.items() if unit.react is not None and key not in view.finished]
    for doubt in _doubts_of(among.values()):
        yield doubt
    for unit in (*reversed(begun), *reversed(finished)):
        for call, undo in ways_back_of(unit):
            if isinstance(undo, Undo):
                yield _Effect(order_id, unit.step, unit.index, undo, call)
                continue
            async for effect in _below(run, undo):
                yield effect
        result = unit.result
        if result is not None and result.undo is not None:
            yield _Effect(order_id, unit.step, unit.index, result.undo)
        elif result is not None and result.order_id is not None:
            async for effect in _below(run, result.order_id):
                yield effect


async def _below(run: Run, child: str) -> AsyncIterator[_Effect | _Doubt | str]:
    view = fold_order(await run.ledger.read(str(child)))
    async for effect in _effects(run, view, str(child), view.units.values(), view.children):
        if not isinstance(effect, _Effect) or effect.key not in view.undone:  # a cancelled order took its own back
            yield effect
    for end in view.undone.values():
        yield end


def _doubts_of(units: Iterable[Unit]) -> Iterator[_Doubt]:
    """Yield the effects that were given up on while nobody knew whether they had happened."""
    for unit in units:
        calls = unit.react.calls if unit.react is not None else ()
        given_up: list[Unit | Call] = [call for call in calls if call.failed and call.in_doubt]
        if unit.state is UnitState.FAILED and unit.intent is not None and unit.intent.open and unit.result is None:
            given_up.append(unit)
        for each in given_up:
            assert each.intent is not None
            card = each.problem.facts.get("card") if each.problem is not None else None
            yield _Doubt(each.intent.use, None if card is None else str(card))


async def _take_back(run: Run, effect: _Effect) -> None:
    problem: Problem | None = None
    forbidden: list[NewEvent] = []
    try:
        spec = run.router.spec(effect.undo.use)
        begun = run.view.undone.get(effect.key) == "intended"
        if not begun and spec.effect.needs_gate:
            instance = run.router.instance(effect.undo.use)
            sent_to = {} if instance is None else {"instance": instance}
            await run.journal.write(NewEvent("compensation.intended", {**_data(effect), **sent_to}))
        if not (begun and await _did_happen(run, effect)):
            await _call(run, effect)
    except LedgerError:
        raise
    except SiliconError as error:
        problem, forbidden = error.problem(), refusals(error, effect.step, effect.index)
    data = {**_data(effect), "ok": problem is None, "problem": problem.to_json() if problem else None}
    await run.journal.write(*forbidden, NewEvent("compensation.finished", clean_data(data)))


async def _did_happen(run: Run, effect: _Effect) -> bool:
    """Tell whether a compensation that was announced took place; raise EffectInDoubt when nobody can."""
    spec = run.router.spec(effect.undo.use)
    if not spec.can_look_up or await _sent_elsewhere(run, effect):
        raise EffectInDoubt(
            f"{effect.undo.use} was begun to take back step {effect.step}, and nobody knows whether it happened. "
            f"Look at the other side and mend it by hand.",
            step=effect.step, key=effect.key,
        )  # fmt: skip
    undo = EffectRequest(run.order, effect.step, spec, effect.undo.arguments, effect.key, cancelled=True)
    return await look_up(run, undo, _context(run, effect)) is not None


async def _sent_elsewhere(run: Run, effect: _Effect) -> bool:
    """Whether it was sent to a local service of another home, of which the one here knows nothing."""
    for event in await run.ledger.read(run.journal.stream):
        data = event.data or {}
        if event.type == "compensation.intended" and data.get("key") == effect.key:
            return data.get("instance") not in (None, run.router.instance(effect.undo.use))
    return False


async def _call(run: Run, effect: _Effect) -> None:
    for tried in range(run.settings.network_retries + 1):
        try:
            await run.still_held()
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
