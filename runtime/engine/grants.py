"""What an order below may spend: a grant out of what this order has, recorded in this order's stream.

The grant is all that the order may spend in its life. What it spent is counted here when it reports, each time what
came on top; the rest is free again in the same event. An order that stopped at a limit gets more while there is any.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from decimal import Decimal

from contracts import Budget, Limit, OrderState, StatusReport, Step, Usage
from runtime.engine.amounts import NONE, Amounts, amounts_of, budget_of, spent_of
from runtime.engine.budget import exceeded
from runtime.engine.context import Run, clean_data
from runtime.engine.costs import PriceUnknown
from runtime.engine.extension import needs_of, remaining
from runtime.engine.view import NOTHING, Unit
from runtime.errors import BudgetExceeded
from runtime.ledger.port import NewEvent


async def first_grant(run: Run, step: Step, unit: Unit) -> Budget:
    """Return what the order of a step may spend, set aside until its report; no limits where nothing limits it.

    Raises:
        BudgetExceeded: nothing is left of a limit without which no order can begin.
        PriceUnknown: the share of the step is in another currency than the budget.
    """
    if not run.account.limits and step.budget is None:
        return run.order.budget
    terms = _terms(run, step)
    return _whole(terms, await _granted(run, step, unit, _share(run, step, unit, NOTHING)), NOTHING)


async def grant_again(run: Run, step: Step, unit: Unit) -> Budget:
    """Return what an order may spend that goes on: what was recorded, or a new grant where its last one was settled.

    An order that had used up the share of its step is not held to it any more: somebody gave the whole more since.

    Raises:
        BudgetExceeded: what it needs is not there.
    """
    child, terms = unit.child, _terms(run, step)
    assert child is not None
    if unit.granted is not None:
        return unit.granted
    if terms == Budget():
        return terms
    needs = needs_of(unit.problem) if unit.problem is not None else {}
    share = _share(run, step, unit, child.counted, without=needs)
    granted = await _granted(run, step, unit, share, needs=needs)
    return await _record(run, unit, _whole(terms, granted, child.counted))


async def more(run: Run, step: Step, unit: Unit, report: StatusReport, *, given: Set[Limit]) -> Budget | None:
    """Return the larger grant with which an order goes on that stopped at a limit; None when it has to stay there.

    It waits as long as other orders may return some of theirs. The share that the plan gives a step is never exceeded.
    An order that got more of a limit and did nothing with it gets no more of it, for nobody can tell what it needs.

    Args:
        given: of what it got more since it last spent anything.

    Raises:
        BudgetExceeded: what it needs is not there.
    """
    child, terms = unit.child, _terms(run, step)
    if report.state is not OrderState.PARTIAL or report.asks is None or child is None:
        return None
    needs, share = amounts_of(remaining(report, report.asks.least)), _share(run, step, unit, report.usage)
    if needs.keys() <= given or needs.keys() & share().keys() or not needs.keys() <= run.account.limits.keys():
        return None
    unsettled = spent_of(report.usage.since(child.counted), run.order.budget)
    granted = await _granted(run, step, unit, share, needs=needs, unsettled=unsettled)
    return await _record(run, unit, _whole(terms, granted, report.usage))


async def _granted(
    run: Run, step: Step, unit: Unit, share: Callable[[], Amounts], *, needs: Amounts = NONE, unsettled: Amounts = NONE
) -> dict[Limit, Decimal]:  # fmt: skip
    def short(limit: Limit, needed: Decimal, free: Decimal) -> BudgetExceeded:
        spent = run.view.unit(unit.step, unit.index).usage
        return exceeded(step.budget or Budget(), spent, limit, needed=needed, free=free, step=step.id)

    return await run.account.grant(unit, unsettled=unsettled, share=share, needs=needs, short=short)


async def _record(run: Run, unit: Unit, budget: Budget) -> Budget:
    """Store what an order is granted from now on, before it goes on with it."""
    assert unit.child is not None
    data = {**unit.place, "order_id": str(unit.child.order_id), "granted": budget.to_json()}
    await run.journal.write(NewEvent("budget.granted", clean_data(data)))
    return budget


def _terms(run: Run, step: Step) -> Budget:
    """Return the budget of this order, with the share of the step where this order has no limit of its own."""
    budget, share = run.order.budget, step.budget
    if share is None:
        return budget
    if share.money is not None and budget.money is not None and share.money.currency != budget.money.currency:
        raise PriceUnknown(
            f"The plan gives step {step.id} {share.money}, and the budget is {budget.money}. Give its `budget` in "
            f"{budget.money.currency}.",
            step=step.id, happened="no",
        )  # fmt: skip
    return Budget(
        steps=share.steps if budget.steps is None else budget.steps,
        tokens=share.tokens if budget.tokens is None else budget.tokens,
        seconds=share.seconds if budget.seconds is None else budget.seconds,
        money=share.money if budget.money is None else budget.money,
    )


def _share(
    run: Run, step: Step, holder: Unit, spent: Usage, *, without: Amounts | None = None
) -> Callable[[], Amounts]:  # fmt: skip
    """Return what tells how much is left of the share that the plan gives a step.

    Of a step whose model has others do things, all answers and all orders below take from the one share.

    Args:
        spent: by the order itself; that of a part is in the usage of its step.
    """
    limits = {} if step.budget is None else amounts_of(step.budget)

    def left() -> Amounts:
        terms = _terms(run, step)
        whole = spent if not holder.call else run.view.unit(holder.step, holder.index).usage + _uncounted(holder, spent)
        used = spent_of(whole, terms)
        return {
            limit: max(some - used[limit] - run.account.beside(holder, limit), Decimal(0))
            for limit, some in limits.items()
            if limit not in (without or {})
        }

    return left


def _uncounted(part: Unit, spent: Usage) -> Usage:
    return spent if part.child is None else spent.since(part.child.counted)


def _whole(terms: Budget, granted: Amounts, spent: Usage) -> Budget:
    """Return what an order may spend in its life: what it spent, and what it is granted now."""
    used = spent_of(spent, terms)
    whole: dict[Limit, Decimal] = {limit: some + used[limit] for limit, some in granted.items()}
    return budget_of(whole, terms.money.currency if terms.money else None)
