"""Taking the worst case of a call out of the budgets that its order shares with others, before it is made."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from contracts import Budget, Limit
from runtime.engine.amounts import SMALLEST, Amounts, amounts_of
from runtime.engine.context import Run
from runtime.engine.shared import SharedBudgetExceeded, kept_row
from runtime.engine.view import Unit

_ZERO = Decimal(0)
LOOKS_AGAIN_S = 0.5
"""After which time is looked again whether calls in progress elsewhere have given something back."""


async def draw(run: Run, unit: Unit, what: str, needed: Callable[[Budget], Amounts]) -> None:
    """Set aside what a call takes at most, in every shared budget of the order and in one commit.

    Where calls in progress elsewhere may give enough back, it waits for them, `engine.shared_budget_wait_s` at most.
    What was drawn for the very same call before a crash is taken over.

    Args:
        needed: tells how much the call takes at most of what a budget limits.

    Raises:
        SharedBudgetExceeded: it is not there. Nothing was called.
        Stop: the execution is being cancelled.
    """
    if run.shared is None or not run.shared.budgets:
        return
    waited = 0.0
    while True:
        try:
            drawing = run.shared.drawing(unit, what, needed)
            if drawing is None:
                await _require_some_left(run)
                return
            event, changes = drawing
            await run.journal.write(event, changes=changes)
            return
        except SharedBudgetExceeded as short:
            if not short.may_return or waited >= run.settings.shared_budget_wait_s:
                raise
        await run.pause(LOOKS_AGAIN_S)
        waited += LOOKS_AGAIN_S


async def _require_some_left(run: Run) -> None:
    """Return when something of every limit is left, of a call of which nobody can tell the most, as of seconds."""
    assert run.shared is not None
    now = run.clock.now()
    for budget in run.shared.budgets:
        limits = amounts_of(budget.limits)
        if Limit.SECONDS not in limits:
            continue
        name = budget.row(run.order.organisation, now)
        row = await kept_row(run.ledger, name)
        most = limits[Limit.SECONDS] + row.extra.get(Limit.SECONDS, _ZERO)
        if most - row.spent.get(Limit.SECONDS, _ZERO) < SMALLEST[Limit.SECONDS]:
            raise SharedBudgetExceeded(budget, name, Limit.SECONDS, SMALLEST[Limit.SECONDS], row)
