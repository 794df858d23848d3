"""What shows that an order was done: sealed packages of work in slots, and the stream of work that needs none."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from contracts import EvidenceId, EvidenceKind, EvidencePackage, OrderId, Step, StepId, StepMode, TaskOrder, Tier
from runtime.canonical import sha256
from runtime.engine.branches import steps_in
from runtime.engine.other_way import forms_of
from runtime.engine.recall import read_units
from runtime.engine.resume import open_view
from runtime.engine.states import UnitState
from runtime.engine.view import OrderView
from runtime.ledger.port import Ledger


async def sealed_for(ledger: Ledger, order: OrderId) -> EvidencePackage | None:
    """Return the package that was sealed last for an order, None when none was, or when its seal does not hold."""
    for event in reversed(await ledger.read(f"evidence/{order.ulid}")):
        found = (event.data or {}).get("package")
        if isinstance(found, dict):
            package = EvidencePackage.read(found)
            whole = package.order_id == order and package.seal == sha256([item.to_json() for item in package.items])
            return package if whole else None
    return None


async def slot_faults(ledger: Ledger, order: TaskOrder, named: Iterable[EvidenceId]) -> list[str]:
    """Return what is missing of the evidence for an order that says it was done in a slot.

    Args:
        named: the packages that its report names.
    """
    package = await sealed_for(ledger, order.order_id)
    if package is None or package.evidence_id not in named:
        return ["it was to be done in a slot, and there is no sealed evidence of it"]
    called = {(item.step, item.capability) for item in package.items if item.kind is EvidenceKind.CALL}
    unseen = [step for step in order.plan.all_steps() if step.mode is StepMode.DIRECT and not _is_in(called, step)]
    if not unseen:
        return []
    view = await open_view(ledger, str(order.order_id))
    return [
        f"step {step.id} calls {step.use}, and no sealed evidence shows that it did"
        for step in unseen
        if not await _is_excused(view, step)
    ]


def _is_in(called: set[tuple[StepId, str | None]], step: Step) -> bool:
    return any((step.id, form.use) in called for form in forms_of(step))


async def _is_excused(view: OrderView, step: Step) -> bool:
    """Whether the step ended without a call: skipped, over no item at all, or by the word of whoever looked later."""
    state = view.state_of(step.id)
    if state in (UnitState.SKIPPED, UnitState.FAILED):  # a branch may fail in a group that is done
        return True
    keys = [key for key in (*view.units, *view.settled) if key[0] == step.id]
    if state is UnitState.PENDING:
        return step.when is not None or step.for_each is not None or not _is_in_plan(view, step)
    await read_units(view, keys)
    results = [unit.result for key in keys if (unit := view.unit(*key)).result is not None]
    return all((result.happened and result.seen is None) or not result.use for result in results if result is not None)


def _is_in_plan(view: OrderView, step: Step) -> bool:
    """Whether the step is one of the plan itself: a branch begins only where its group does."""
    return view.order is None or any(step.id == whole.id for whole in view.order.plan.steps)


async def calls_of(ledger: Ledger, view: OrderView, step: Step) -> frozenset[str]:
    """Return the capabilities that were called for a step, by what shows it.

    That is the order's own stream for what it called itself, and for orders below the package that their slot sealed,
    or their streams where they needed none.
    """
    names = {inner.id for inner in steps_in(step)}
    keys = [key for key in {*view.units, *view.settled} if key[0] in names]
    await read_units(view, keys)
    found: set[str] = set()
    for result in (view.unit(*key).result for key in keys):
        if result is None:
            continue
        if result.order_id is not None:
            found |= await _calls_below(ledger, result.order_id)
        else:
            found.update(name for name in (result.use, *result.uses) if name)
    for order in await _orders_of_calls(ledger, view, step, names):
        found |= await _calls_below(ledger, order)
    return frozenset(found)


async def _orders_of_calls(ledger: Ledger, view: OrderView, step: Step, names: Collection[str]) -> list[OrderId]:
    """Return the orders that calls of a model became in these steps and that were done."""
    if view.order is None or not any(inner.skills for inner in steps_in(step)):
        return []
    events = await ledger.read(str(view.order.order_id))
    told = (event.data or {} for event in events if event.type == "call.finished")
    return [OrderId(str(data["order_id"])) for data in told if data["step"] in names and "order_id" in data]


async def _calls_below(ledger: Ledger, order: OrderId) -> frozenset[str]:
    view = await open_view(ledger, str(order))
    if view.order is None:
        return frozenset()
    if view.order.tier is Tier.EXECUTION:
        package = await sealed_for(ledger, order)
        items = package.items if package is not None else ()
        return frozenset(item.capability for item in items if item.capability and item.kind is EvidenceKind.CALL)
    return frozenset[str]().union(*[await calls_of(ledger, view, step) for step in view.order.plan.steps])
