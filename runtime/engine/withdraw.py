"""Ending an order from above, so that it spends nothing more, wherever it may still be at work."""

from __future__ import annotations

from contracts import OrderId, Usage
from runtime.engine.context import Run
from runtime.engine.costs import lost
from runtime.engine.resume import open_view
from runtime.engine.shared import releasing
from runtime.engine.view import OrderView, Unit
from runtime.errors import VersionConflict
from runtime.ledger.port import Append, NewEvent


async def spent_by(run: Run, unit: Unit) -> Usage | None:
    """Return what a unit that is given up spent at most and no event counts yet; its order below is withdrawn."""
    spent = lost(unit)
    for holder in unit.holders:
        if holder.child is not None and not holder.state.settled:
            below = (await withdraw(run, holder.child.order_id)).since(holder.child.counted)
            spent = below if spent is None else below + spent
    return spent


async def spent_so_far(run: Run, unit: Unit) -> Usage | None:
    """Return what the order below, which waits for people, spent at most and no event counts; None without a grant."""
    if unit.child is None or unit.child.granted is None:
        return None
    view = await open_view(run.ledger, str(unit.child.order_id))
    usage = view.usage
    for each in view.units.values():
        announced = lost(each)
        usage = usage if announced is None else usage + announced
    return usage.since(unit.child.counted)


async def settle_below(run: Run) -> bool:
    """Count what orders below spent whose steps this order does not come to any more, now that it ends.

    Return whether there was any.
    """
    before = run.view.version
    for unit in list(run.view.units.values()):
        for holder in unit.holders:
            await _settle(run, unit, holder)
    return run.view.version > before


async def settle_calls(run: Run, unit: Unit) -> None:
    """Count what orders spent that calls of the unit's model became and that did not end, now that the unit does."""
    for part in unit.parts.values():
        await _settle(run, unit, part)


async def _settle(run: Run, unit: Unit, holder: Unit) -> None:
    if holder.child is None or unit.state.settled or holder.state.settled or holder.child.granted is None:
        return
    spent = (await withdraw(run, holder.child.order_id)).since(holder.child.counted)
    data = {**holder.place, "order_id": str(holder.child.order_id), "usage": spent.to_json()}
    await run.journal.write(NewEvent("budget.settled", data))
    run.account.end(holder)


async def withdraw(run: Run, order_id: OrderId) -> Usage:
    """Take back an order that is not waited for any more, and all below it; return what it spent at most.

    An event in its stream does it: whoever is late with work on it holds an older version of the stream, and everything
    it writes from now on is refused, the announcement of a paid call and the order to somebody else included. What was
    announced before counts as spent. The order can go on later: only who had it is shut out.
    """
    view = await _closed(run, order_id)
    usage = view.usage
    for unit in view.units.values():
        spent = None if unit.state.settled else await spent_by(run, unit)
        usage = usage if spent is None else usage + spent
    return usage


async def _closed(run: Run, order_id: OrderId) -> OrderView:
    """Return the order as it stands when nobody can write to it any more; one that has not begun has spent nothing."""
    while True:
        view = await open_view(run.ledger, str(order_id))
        if view.version == 0 or view.report is not None:
            return view
        try:
            await run.journal.write_elsewhere(
                _withdrawal(run, order_id, view), changes=releasing(view) if view.draws else ()
            )
        except VersionConflict:
            continue  # it wrote something meanwhile
        return view


def _withdrawal(run: Run, order_id: OrderId, view: OrderView) -> Append:
    order = run.order
    announced = [spent for unit in view.units.values() if not unit.state.settled and (spent := lost(unit)) is not None]
    told = {"lost": sum(announced[1:], announced[0]).to_json()} if announced else {}
    event = NewEvent("order.withdrawn", {"by": str(order.order_id), **told})
    source = f"/organisation/{order.organisation}/employee/{order.employee}"
    return Append(str(order_id), [event], view.version, order.organisation, source, order.execution_id, order.trace_id)
