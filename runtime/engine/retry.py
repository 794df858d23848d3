"""What follows a failure: the same again, another way, or the end. One rule for each category of error."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from contracts import ErrorCategory, Problem, Step
from runtime.engine.other_way import Way
from runtime.engine.view import Unit
from runtime.errors import CapabilityTimeout
from runtime.settings.groups import EngineSettings

NOT_ACCEPTED = "NOT_ACCEPTED"
"""Code of a result that an acceptance check of its step refuses."""


class Next(StrEnum):
    """What the engine does after a failure."""

    RETRY = "retry"
    """The same call once more, after a wait."""
    REVISE = "revise"
    """The plan is changed for this step: `otherwise`, or the same again with what was learnt."""
    GIVE_UP = "give_up"


@dataclass(frozen=True, slots=True)
class Decision:
    """What follows, with the wait before it or the change that is made."""

    next: Next
    wait_s: float = 0.0
    change: str | None = None
    next_try_s: float | None = None
    """How long the service asked to wait, when that is too long to be waited for."""


GIVE_UP = Decision(Next.GIVE_UP)

RETRIES: Mapping[ErrorCategory, Callable[[Step, EngineSettings], int]] = {
    ErrorCategory.NETWORK: lambda step, settings: settings.network_retries if step.retries is None else step.retries,
    ErrorCategory.INVALID_ARGUMENTS: lambda step, settings: 0,
    ErrorCategory.PERMISSION: lambda step, settings: 0,
    ErrorCategory.BUSINESS: lambda step, settings: 0,
    ErrorCategory.UNKNOWN: lambda step, settings: 0,
}
"""How often the very same call is repeated.

Arguments that do not fit are not tried again here although `engine.invalid_arguments_retries` exists: code bound them,
the same code would bind the same again, and only a model can correct them. A refusal of the world is answered by
another way (`business_retries` of them), never by asking the same again. `retries` of a step counts for passing faults,
and for a time-out where the step says so itself.
"""


def decide(
    problem: Problem, *, step: Step, unit: Unit, settings: EngineSettings, plan_revisions: int, delegated: bool,
    way: Way | None = None, capped: bool = False, spent: bool = False, happened: bool = False,
    patience_s: float = math.inf,
) -> Decision:  # fmt: skip
    """Return what follows `problem`, by what the unit has gone through before.

    Args:
        plan_revisions: revisions of the whole plan so far.
        delegated: the failure is another employee's, who has used up the retries and tried the same again already.
        way: the other way that is declared for what went wrong, and was not tried.
        capped: that employee stopped at its budget; what it has is kept, and with more it goes on, so nobody begins
            anew, which would cost more still.
        spent: the step tried the same again by itself, as often as it may: a model that calls wrongly time after time
            leaves the other way that is declared.
        happened: an effect took place before the failure, or may have, so nothing may be done over.
        patience_s: how long the order can still wait.
    """
    may_revise = bool(settings.business_retries) and plan_revisions < settings.plan_revisions
    if spent and not happened and way is not None and way.skip and may_revise:
        return Decision(Next.REVISE, change="skip")  # the plan can do without what the model would have said
    if spent and _passing(step, problem):
        asked_s = asked_to_wait_s(problem)
        return Decision(Next.GIVE_UP, next_try_s=asked_s if asked_s > settings.backoff_most_s else None)
    if happened:
        return GIVE_UP
    if not delegated:
        tried = sum(_passing(step, earlier) for earlier in unit.failures[unit.since_revision :])
        if _passing(step, problem) and tried < _most(step, problem, settings):
            wait_s = backoff(tried, problem, settings, patience_s=patience_s)
            if wait_s is None:
                return Decision(Next.GIVE_UP, next_try_s=asked_to_wait_s(problem))
            return Decision(Next.RETRY, wait_s=wait_s)
    if capped:
        return GIVE_UP
    refused = problem.code == NOT_ACCEPTED or problem.category is ErrorCategory.BUSINESS
    refused = refused or (spent and problem.category is ErrorCategory.INVALID_ARGUMENTS)
    if not (refused or delegated) or not may_revise:
        return GIVE_UP
    if way is not None:
        return Decision(Next.REVISE, change="skip" if way.skip else "otherwise")
    again = problem.code == NOT_ACCEPTED and not (delegated or spent) and unit.revisions < settings.business_retries
    return Decision(Next.REVISE, change="again") if again else GIVE_UP


def backoff(tried: int, problem: Problem, settings: EngineSettings, *, patience_s: float = math.inf) -> float | None:
    """Return the wait before the next try: doubled each time, with jitter; at least what the service asked for.

    None when the service asks for longer than `engine.backoff_most_s`, or than there is time: asking it before would
    be refused again, and waiting in place would keep a process for nothing.
    """
    wait: float = min(settings.backoff_first_s * 2.0**tried, settings.backoff_most_s)
    wait *= random.uniform(0.5, 1.0)  # noqa: S311  (spreads retries, guards nothing)
    asked = asked_to_wait_s(problem)
    return None if asked > min(settings.backoff_most_s, patience_s) else max(wait, asked)


def asked_to_wait_s(problem: Problem) -> float:
    """Return how long the service asked to wait; 0 when it did not."""
    asked = problem.facts.get("retry_after_s")
    return float(asked) if isinstance(asked, int | float) else 0.0


def _most(step: Step, problem: Problem, settings: EngineSettings) -> int:
    if problem.category is ErrorCategory.NETWORK:
        return RETRIES[problem.category](step, settings)
    return step.retries or 0


def _passing(step: Step, problem: Problem) -> bool:
    if problem.category is ErrorCategory.NETWORK:
        return True
    return problem.code == CapabilityTimeout.code and step.retries is not None
