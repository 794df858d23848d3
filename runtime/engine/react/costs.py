"""What an answer of a model takes: set aside before it is asked, settled by what the answer says it took."""

from __future__ import annotations

from functools import partial

from contracts import Budget, Limit, Usage
from runtime.engine.account import OWN
from runtime.engine.amounts import SMALLEST, Amounts, amounts_of, spent_of
from runtime.engine.budget import exceeded
from runtime.engine.costs import ONE_STEP, PriceUnknown
from runtime.engine.drawing import draw
from runtime.engine.drawn import ANSWER
from runtime.engine.react.talk import Talk
from runtime.engine.spent import FREE
from runtime.model.port import Bounded, ModelRequest, Priced

_PAID = (Limit.TOKENS, Limit.MONEY)


async def reserve_answer(talk: Talk, request: ModelRequest) -> None:
    """Set aside the most that the answer can take of tokens and money, where those are limited.

    Of seconds nobody can tell the most, so some have to be left.

    Raises:
        BudgetExceeded: it is not there, in the order or in the share that the plan gives the step.
        PriceUnknown: the model cannot tell how much that is, or tells it in another currency.
    """
    if _is_limited(talk):
        _require_share(talk, request)
        await talk.run.account.take(talk.unit, {OWN: ONE_STEP, ANSWER: _needed(talk, request, talk.run.account.budget)})
    await draw(talk.run, talk.unit, ANSWER, partial(_needed, talk, request))


async def set_aside(talk: Talk, request: ModelRequest, what: str) -> None:
    """Set aside the same under a name of its own, for a request beside the conversation; it raises the same."""
    if _is_limited(talk):
        _require_share(talk, request)
        await talk.run.account.take(talk.unit, {what: _needed(talk, request, talk.run.account.budget)})
    await draw(talk.run, talk.unit, what, partial(_needed, talk, request))


def free_fact(talk: Talk, role: str, usage: Usage) -> dict[str, bool]:
    """Return what an event of a request says of its price where it tells no money: that it is known to cost nothing."""
    model: object = talk.run.model
    known = isinstance(model, Priced) and model.price_fault(role) is None
    return {FREE: True} if known and not usage.money and usage.tokens_in + usage.tokens_out else {}


def _is_limited(talk: Talk) -> bool:
    return bool(talk.run.account.limits) or bool(talk.step.budget and amounts_of(talk.step.budget))


def _require_share(talk: Talk, request: ModelRequest) -> None:
    """Return when the share that the plan gives the step holds the most that the answer can take."""
    share = talk.step.budget or Budget()
    own = {**_needed(talk, request, share)}
    if share.seconds is not None:
        own[Limit.SECONDS] = SMALLEST[Limit.SECONDS]
    left = {limit: most - spent_of(talk.unit.usage, share)[limit] for limit, most in amounts_of(share).items()}
    for limit, needed in own.items():
        if limit in left and left[limit] < needed:
            raise exceeded(share, talk.unit.usage, limit, needed=needed, free=left[limit], step=talk.step.id)


def _needed(talk: Talk, request: ModelRequest, budget: Budget) -> Amounts:
    model: object = talk.run.model
    limited = [limit for limit in amounts_of(budget) if limit in _PAID]
    if not limited:
        return {}
    if not isinstance(model, Bounded):
        raise PriceUnknown(
            f"The model of step {talk.step.id} was not asked: {' and '.join(limited)} are limited, and it cannot tell "
            "how much an answer takes at most.",
            step=talk.step.id, happened="no",
        )  # fmt: skip
    unpriced = model.price_fault(request.role) if Limit.MONEY in limited and isinstance(model, Priced) else None
    if unpriced is not None:
        raise PriceUnknown(
            f"The model of step {talk.step.id} was not asked: money is limited to {budget.money}, and {unpriced}.",
            step=talk.step.id, happened="no",
        )  # fmt: skip
    most = model.most(request)
    foreign = [each for each in most.money if budget.money and each.currency != budget.money.currency and each.amount]
    if foreign:
        raise PriceUnknown(
            f"The model of step {talk.step.id} was not asked: an answer costs up to {foreign[0]}, and the budget is "
            f"{budget.money}.",
            step=talk.step.id, happened="no",
        )  # fmt: skip
    spent = spent_of(most, budget)
    return {limit: spent[limit] for limit in limited}
