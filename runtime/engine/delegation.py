"""Steps that another employee does: an order of its own, recorded before it begins, the same one after a crash."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from pydantic import ValidationError

from contracts import Action, Budget, CardId, Json, Limit, OrderState, Problem, StatusReport, Step, TaskOrder, Usage
from runtime.bindings import BindingFault, Reference, references, resolve
from runtime.engine.amounts import amounts_of
from runtime.engine.branches import path_of
from runtime.engine.context import Run, clean_data
from runtime.engine.extension import remaining
from runtime.engine.finish import Draft
from runtime.engine.grants import first_grant, grant_again, more
from runtime.engine.guards import guard_chain
from runtime.engine.order_json import json_of
from runtime.engine.outcome import Stop
from runtime.engine.pause import Pause
from runtime.engine.react.state import place_of
from runtime.engine.resume import open_view
from runtime.engine.scope import Scope
from runtime.engine.source import source_of
from runtime.engine.states import UnitState
from runtime.engine.view import Unit
from runtime.engine.way_back import with_way_back
from runtime.engine.withdraw import spent_so_far, withdraw
from runtime.errors import BudgetExceeded, CapabilityFailed, CapabilityTimeout, InvalidArguments, SiliconError
from runtime.ledger.port import NewEvent
from runtime.plain_words import in_plain_words

PROPOSED = "steps"
"""The argument under which whoever makes the order gets the steps that were proposed."""


class ChildEnded(SiliconError):
    """An order given to another employee ended without being done; its report says why."""

    code = "ORDER_FAILED"

    def __init__(self, report: StatusReport, step: str, *, spent: Usage, happened: bool) -> None:
        super().__init__(f"The order of step {step} ended {report.state.value}.", order_id=str(report.order_id))
        self.report = report
        self.spent = spent
        """What it spent that no event of this order counts yet."""
        self.happened = happened
        """Whether it carried out an effect before it ended; another way would then be a second execution."""

    def problem(self) -> Problem:
        """Return the child's own problem, so that the reason is not lost on the way up."""
        error, asks = self.report.error, self.report.asks
        if error is None:
            return super().problem()
        facts = {**error.facts, "order_id": str(self.report.order_id)}
        if asks is not None:  # what it asks for is what has to be free here
            facts["needs"] = remaining(self.report, asks.least).to_json()
            facts["asked"] = remaining(self.report, asks.asked).to_json()
        return error.model_copy(update={"facts": facts})


Make = Callable[[], TaskOrder]
"""Makes the order, with a fresh id, where it is not recorded yet."""


async def delegate_step(run: Run, step: Step, unit: Unit, scope: Scope) -> Draft | Pause:
    """Have the step done by whom it names, and return what came back or that people are waited for.

    Raises:
        ChildEnded: the order failed, or reached a limit.
    """
    return await _delegated(run, step, unit, scope, partial(_order_of, run, step, unit, scope))


async def delegate_call(run: Run, step: Step, part: Unit, scope: Scope, arguments: dict[str, Json]) -> Draft | Pause:
    """Have done what a call of the step's model asks for, and return what came back or that people are waited for.

    Args:
        step: as the call has it done: with the skill in place of the model.
        part: holds the order.
        arguments: as the model gave them; nothing in them is a binding.

    Raises:
        ChildEnded: the order failed, or reached a limit.
        CapabilityFailed: it cannot be given.
    """
    return await _delegated(run, step, part, scope, partial(_ordered, run, step, part, arguments))


async def _delegated(run: Run, step: Step, unit: Unit, scope: Scope, make: Make) -> Draft | Pause:
    if run.delegate is None:
        raise CapabilityFailed(f"Step {step.id} is another employee's work, and orders cannot be passed on from here.")
    started_at = run.clock.now()
    if unit.child is None:
        child = await _dispatch(run, step, unit, scope, make())
    else:
        child = await recorded(run, unit)
        child = child.model_copy(update={"budget": await grant_again(run, step, unit)})
    report = await _within_grants(run, step, unit, child)
    if report.state in (OrderState.WAITING, OrderState.RUNNING):
        return Pause(tuple(report.waiting_for), usage=await spent_so_far(run, unit))
    if report.state is OrderState.CANCELLED and run.cancelled():
        raise Stop
    source = run.known.take_end(child.order_id)
    if source is None:
        source = await source_of(await open_view(run.ledger, str(child.order_id)))
    assert unit.child is not None
    spent = report.usage.since(unit.child.counted)
    if report.state is not OrderState.DONE:
        raise ChildEnded(report, step.id, spent=spent, happened=source.changed_the_world)
    return Draft(
        output=report.output,
        started_at=started_at,
        seconds=spent.seconds,
        query_sha256=source.query_sha256,
        data_sha256=source.data_sha256,
        usage=spent,
        uses=source.uses,
        order_id=child.order_id,
        sealed=report.evidence,
        happened=source.changed_the_world,
    )


async def _within_grants(run: Run, step: Step, unit: Unit, child: TaskOrder) -> StatusReport:
    """Return the report of the order, which gets more each time it stops at a limit and there is more for it."""
    spent, given = None, frozenset[Limit]()
    while True:
        report = await _carried_out(run, step, unit, child)
        if report.usage != spent:
            spent, given = report.usage, frozenset()
        try:
            budget = await more(run, step, unit, report, given=given)
        except (BudgetExceeded, Stop):  # there is nothing more for it: it ended as its report says
            if run.cancelled():
                raise Stop from None
            return report
        if budget is None or report.asks is None:
            return report
        given |= amounts_of(report.asks.least).keys()
        child = child.model_copy(update={"budget": budget})


async def _carried_out(run: Run, step: Step, unit: Unit, child: TaskOrder) -> StatusReport:
    """Return the child's report; raise ChildEnded when its time is up, which its own stream does not know."""
    assert run.delegate is not None
    run.known.await_end(child.order_id)
    try:
        async with asyncio.timeout(step.timeout_s):
            return await run.interruptible(run.delegate.carry_out(child), grace_s=None)
    except TimeoutError:
        late = CapabilityTimeout(f"The order of step {step.id} took longer than {step.timeout_s:g} s and was stopped.")
    usage = await withdraw(run, child.order_id)
    view = await open_view(run.ledger, str(child.order_id))
    holders = (holder for unit in view.units.values() for holder in unit.holders)
    below = any(holder.state is UnitState.DISPATCHED for holder in holders)
    report = StatusReport(order_id=child.order_id, state=OrderState.FAILED, usage=usage, error=late.problem())
    assert unit.child is not None
    spent = usage.since(unit.child.counted)
    raise ChildEnded(report, step.id, spent=spent, happened=below or view.changed_the_world)


def _order_of(run: Run, step: Step, unit: Unit, scope: Scope) -> TaskOrder:
    """Return the order for a step, with the way back that the step declares."""
    if step.order is not None:
        child = _approved_order(run, step, unit, scope)
    else:
        given: dict[str, Json] = dict(step.arguments) if step.plan is None else {PROPOSED: step.plan}
        child = _ordered(run, step, unit, cast("dict[str, Json]", resolve(given, scope.values)))
    return with_way_back(child, step, scope)


def _ordered(run: Run, step: Step, unit: Unit, arguments: dict[str, Json]) -> TaskOrder:
    assert run.delegate is not None
    learnt = unit.problem.message if unit.problem else None
    return run.delegate.order_for(run.order, step, arguments, index=unit.index, learnt=learnt)


async def _dispatch(run: Run, step: Step, unit: Unit, scope: Scope, child: TaskOrder) -> TaskOrder:
    """Commit the order before anybody begins with it."""
    if step.inherit:
        child = child.model_copy(update={"context": {**child.context, **_inherited(step, scope)}})
    guard_chain(child, run.settings)
    path, budget = _path(run, unit), await first_grant(run, step, unit)
    child = child.model_copy(update={"path": path, "branch": run.branch, "budget": budget})
    data: dict[str, Any] = {**unit.place, "order_id": str(child.order_id)}
    if child.budget != Budget():
        data["granted"] = child.budget.to_json()
    told = json_of(child)
    if len(told.text.encode()) <= run.settings.inline_output:
        await run.journal.write(NewEvent("step.dispatched", {**data, "order": told}))
    else:
        digest, blob = run.journal.blob_of(run.journal.redact(child))
        await run.journal.write(NewEvent("step.dispatched", clean_data({**data, "order_sha256": digest})), blobs=[blob])
    run.known.make(child.order_id)
    return child


def _path(run: Run, unit: Unit) -> str:
    path = path_of(run.order, unit.step, unit.index)
    return f"{path}/{place_of(unit.call)}" if unit.call else path


def _inherited(step: Step, scope: Scope) -> dict[str, Json]:
    """Return what the step hands down as context, each value under the last name of its path."""
    handed: dict[str, Json] = {}
    for binding in step.inherit:
        for reference in _references(binding):
            names = [name for name in reference.path if isinstance(name, str)]
            handed[names[-1] if names else reference.root] = resolve(binding, scope.values)
    return handed


def _references(binding: str) -> list[Reference]:
    try:
        return references(binding)
    except BindingFault as fault:
        raise InvalidArguments(str(fault), binding=binding) from fault


def _approved_order(run: Run, step: Step, unit: Unit, scope: Scope) -> TaskOrder:
    """Return the order for an action that a person decided for, exactly as it was shown, under that card."""
    assert step.order is not None
    try:
        action = Action.model_validate(resolve(step.order, scope.values))
    except ValidationError as error:
        raise InvalidArguments(
            f"order of step {step.id} must be an action of a decided card; {step.order} is not: "
            f"it {in_plain_words(error.errors()[0])}."
        ) from None
    does = step.model_copy(
        update={
            "by": action.by,
            "use": action.use,
            "arguments": action.arguments,
            "order": None,
            "effect": action.effect,
        }
    )
    child = _ordered(run, does, unit, action.arguments)
    return child.model_copy(update={"authority": _card_of(step, scope)})


def _card_of(step: Step, scope: Scope) -> CardId:
    """Return the card behind the action: the `card` of the output that the binding leads to."""
    assert step.order is not None
    read = _references(step.order)
    root = read[0].root if read else ""
    if root == "item" and scope.items is not None:
        root = scope.items.root
    decided = scope.values.get(root)
    card = decided.get("card") if isinstance(decided, dict) else None
    if not isinstance(card, str):
        raise InvalidArguments(f"order of step {step.id}: {root} names no card under which the action was approved.")
    return CardId(card)


async def recorded(run: Run, unit: Unit) -> TaskOrder:
    """Return the order that the unit became."""
    assert unit.child is not None
    if unit.child.order is not None:
        return TaskOrder.read(unit.child.order)
    return TaskOrder.read(json.loads(await run.blobs.get(unit.child.order_sha256 or "")))
