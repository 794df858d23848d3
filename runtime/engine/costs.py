"""What a call costs: set aside before it is made, in the ledger where money is limited, and settled by its result."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from contracts import Budget, Json, Limit, Money, Step, StepMode, Usage
from runtime.capabilities.port import CallResult, CapabilitySpec
from runtime.engine.account import OWN
from runtime.engine.amounts import SMALLEST, Amounts, in_currency
from runtime.engine.context import Run, clean_data
from runtime.engine.drawing import draw
from runtime.engine.view import Unit
from runtime.errors import NotFound, PermissionRefused
from runtime.ledger.port import NewEvent

Costs = tuple[Money, ...]
ONE_STEP: Amounts = {Limit.STEPS: SMALLEST[Limit.STEPS], Limit.SECONDS: SMALLEST[Limit.SECONDS]}


class PriceUnknown(PermissionRefused):
    """Money is limited, and nobody knows whether the call would stay within the limit."""

    code = "PRICE_UNKNOWN"


def costs_of(run: Run, step: Step, spec: CapabilitySpec) -> Costs:
    """Return the most that one call costs: what the capability declares, or else what the step keeps for it.

    Raises:
        PriceUnknown: money is limited, and neither says it, or says it in another currency.
    """
    costs = spec.costs
    if costs is None and step.budget is not None and step.budget.money is not None:
        costs = (step.budget.money,)
    shared = run.shared.budgets if run.shared is not None else ()
    for budget in (run.account.budget, *(each.limits for each in shared)):
        if budget.money is not None:
            _require_price(spec, costs, budget.money)
    return costs or ()


def _require_price(spec: CapabilitySpec, costs: Costs | None, most: Money) -> None:
    """Return when the price is known in the currency in which money is limited to `most`; else raise PriceUnknown."""
    currency = most.currency
    if costs is None:
        raise PriceUnknown(
            f"{spec.name} was not called: money is limited to {most}, and nobody says what a call "
            f"costs. Give it a `price` in connections.yaml (`price: 0 {currency}` where it costs nothing), or run it "
            "without a budget of money.",
            use=spec.name, happened="no",
        )  # fmt: skip
    foreign = next((each for each in costs if each.currency != currency and each.amount), None)
    if foreign is not None:
        raise PriceUnknown(
            f"{spec.name} was not called: a call costs {foreign}, and the budget of money is in {currency}. Give its "
            f"`price` in connections.yaml in {currency}.",
            use=spec.name, price=str(foreign), happened="no",
        )  # fmt: skip


def needed_for(run: Run, step: Step) -> dict[str, Amounts]:
    """Return what a unit takes by itself before it begins, in the parts that are settled apart: its step, its call."""
    parts: dict[str, Amounts] = {OWN: ONE_STEP}
    currency = run.account.currency
    if currency is None or step.mode is not StepMode.DIRECT or step.use is None:
        return parts
    with suppress(PriceUnknown, NotFound):  # it is told when the call is about to be made
        amount = in_currency(costs_of(run, step, run.router.spec(step.use)), currency)
        if amount:
            parts[""] = {Limit.MONEY: amount}
    return parts


async def reserve_costs(run: Run, step: Step, unit: Unit, spec: CapabilitySpec, *, call: str = "") -> Costs:
    """Set aside what a call costs, and return that; what an earlier attempt reserved for the same call is taken over.

    A call that changes nothing is announced here, in an event of its own, where money is limited and it costs any; an
    effect is announced by its intent, which holds the price too.

    Raises:
        BudgetExceeded: it is not there. Nothing was called.
        PriceUnknown: nobody knows what the call costs.
    """
    costs = costs_of(run, step, spec)
    await draw(run, unit, call, partial(_needed_of, costs))
    currency = run.account.currency
    if currency is None or not (amount := in_currency(costs, currency)):
        return costs
    if unit.reserved.get(call) == costs:
        return costs
    if not run.account.has(unit, call):
        await run.account.take(unit, {call: {Limit.MONEY: amount}})
    if not spec.effect.needs_gate:
        data = {"step": step.id, "index": unit.index, "call": call or None, "reserved": reserved(costs)}
        await run.journal.write(NewEvent("budget.reserved", clean_data(data)))
    return costs


def _needed_of(costs: Costs, budget: Budget) -> Amounts:
    amount = in_currency(costs, budget.money.currency) if budget.money is not None else None
    return {Limit.MONEY: amount} if amount else {}


def reserved(costs: Costs) -> list[Json]:
    """Return a price as an event holds it."""
    return [money.to_json() for money in costs]


def settled(answer: CallResult, costs: Costs, usage: Usage) -> Usage | None:
    """Return the usage of a call with what it cost; None when it cost nothing. A shared answer is paid for once."""
    shared = answer.seen is not None and "shared_with" in answer.seen.facts
    return usage + Usage(money=costs) if costs and not shared else None


def is_unpriced(spec: CapabilitySpec, costs: Costs, answer: CallResult) -> bool:
    """Whether the call was paid for, or may have been, and nobody knows how much. A shared answer is paid for once."""
    shared = answer.seen is not None and "shared_with" in answer.seen.facts
    return spec.costs is None and not costs and not shared


def lost(unit: Unit, calls: Sequence[str] | None = None) -> Usage | None:
    """Return what may have been paid for calls that gave nothing and are not made again under their key."""
    names = unit.reserved if calls is None else [call for call in calls if call in unit.reserved]
    money = [Usage(money=unit.reserved[name]) for name in names]
    return sum(money[1:], money[0]) if money else None
