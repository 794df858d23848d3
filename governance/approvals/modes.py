"""Whether a person decides: one table over reversibility and impact, narrowed by policy, request and confidence.

An agent's wish is no input. What is not known counts as the worst: an impact that cannot be worked out, a confidence
that no statistics tell.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from contracts import Action, ApprovalMode, Confidence, Effect, Json, Option, ValueType
from governance.approvals.rule import ApprovalRule
from runtime.expressions import ExpressionFailed, ExpressionFault, compile_expression

VARIABLES: Mapping[str, ValueType] = {
    "use": ValueType.STRING, "arguments": ValueType.OBJECT, "effect": ValueType.STRING,
}  # fmt: skip
"""What the expression for an impact may name."""


class Impact(StrEnum):
    """How much hangs on an action, against the limit of its rule."""

    UNDER = "under"
    OVER = "over"
    UNKNOWN = "unknown"
    """The rule has a limit, and the impact cannot be worked out."""
    NO_LIMIT = "no_limit"


LOOSEST: Mapping[tuple[bool, Impact], ApprovalMode] = {
    (True, Impact.UNDER): ApprovalMode.POST_HOC,
    (True, Impact.NO_LIMIT): ApprovalMode.POST_HOC,
    (True, Impact.OVER): ApprovalMode.STRICT,
    (True, Impact.UNKNOWN): ApprovalMode.STRICT,
    (False, Impact.UNDER): ApprovalMode.THRESHOLD,
    (False, Impact.NO_LIMIT): ApprovalMode.STRICT,
    (False, Impact.OVER): ApprovalMode.STRICT,
    (False, Impact.UNKNOWN): ApprovalMode.STRICT,
}
"""(Can it be taken back, its impact) → the loosest mode that an action may ever have."""


class Why(StrEnum):
    """Which consideration decided on the mode."""

    POLICY = "policy"
    """The approval rule says so."""
    REQUEST = "request"
    """Whoever asked wants it stricter than the rule."""
    SERIOUS_ERROR = "serious_error"
    """A serious error set this kind of action back."""
    CONFIDENCE = "confidence"
    """The finding is not surely true, or no statistics tell."""
    IRREVERSIBLE = "irreversible"
    IMPACT = "impact"
    """It is not under the limit, or cannot be worked out."""
    NO_LIMIT = "no_limit"
    """The mode threshold needs a limit, and the rule has none."""
    NOTHING_TO_DO = "nothing_to_do"
    """No option does anything."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What experience with a kind of action says, beside its rule."""

    loosened_to: ApprovalMode | None = None
    """A person approved this mode after a long row of right ones."""
    over: ApprovalMode | None = None
    """The mode of the rules when that was approved, always there with it: a yes is to what was shown."""
    set_back: bool = False
    """A serious error was made since."""


AS_DECLARED = Standing()


def policy_of(rule: ApprovalRule, standing: Standing) -> ApprovalMode:
    """Return the mode that rule and experience give together.

    A looser mode takes the place of the one that it was approved over. Where the rule says another one since, the
    stricter of the two holds; and a rule that may not be loosened holds as it is written.
    """
    if standing.loosened_to is None or not rule.may_loosen:
        return rule.mode
    return standing.loosened_to if rule.mode is standing.over else rule.mode.stricter(standing.loosened_to)


@dataclass(frozen=True, slots=True)
class Held:
    """The mode that holds, and why it is no looser one."""

    mode: ApprovalMode
    why: Why

    def stricter(self, other: Held) -> Held:
        """Return the stricter of the two, this one where they are alike."""
        return self if self.mode.stricter(other.mode) is self.mode else other


def mode_of(
    rule: ApprovalRule,
    requested: ApprovalMode | None,
    *,
    reversible: bool,
    impact: Impact,
    confidence: Confidence | None,
    standing: Standing = AS_DECLARED,
) -> Held:
    """Return how an action is decided: by the strictest of policy, request, experience, confidence and the table."""
    if standing.set_back:
        return Held(ApprovalMode.STRICT, Why.SERIOUS_ERROR)
    policy = policy_of(rule, standing)
    mode = policy if requested is None else policy.stricter(requested)
    why = Why.POLICY if mode is policy else Why.REQUEST
    if mode is ApprovalMode.STRICT:
        return Held(mode, why)
    if confidence is not Confidence.HIGH:
        return Held(ApprovalMode.STRICT, Why.CONFIDENCE)
    allowed = mode.stricter(LOOSEST[reversible, impact])
    if allowed is ApprovalMode.THRESHOLD and impact is not Impact.UNDER:
        return Held(ApprovalMode.STRICT, Why.NO_LIMIT)
    if allowed is mode:
        return Held(mode, why)
    return Held(allowed, Why.IRREVERSIBLE if impact in (Impact.UNDER, Impact.NO_LIMIT) else Why.IMPACT)


def impact_of(rule: ApprovalRule, action: Action) -> Impact:
    """Return how the impact of an action stands to the limit of its rule."""
    if rule.under is None:
        return Impact.NO_LIMIT
    amount = amount_of(rule, action)
    if amount is None:
        return Impact.UNKNOWN
    return Impact.UNDER if amount < rule.under else Impact.OVER


def amount_of(rule: ApprovalRule, action: Action) -> float | None:
    """Return the impact of an action in the unit of its rule; None where it cannot be worked out."""
    if rule.impact is None:
        return None
    values: dict[str, Json] = {"use": action.use, "arguments": dict(action.arguments), "effect": action.effect.value}
    try:
        amount = compile_expression(rule.impact, VARIABLES).evaluate(values)
    except (ExpressionFailed, ExpressionFault):
        return None
    if isinstance(amount, bool) or not isinstance(amount, int | float) or not 0 <= amount < math.inf:
        return None
    return float(amount)


def can_be_undone(option: Option) -> bool:
    """Whether an option says how all of it is taken back, and nothing of it is final."""
    final = any(action.effect is Effect.IRREVERSIBLE for action in option.actions)
    return option.reversible and bool(option.undo) and not final


def mode_of_option(
    option: Option | None,
    rules: Iterable[tuple[Action, ApprovalRule, Standing]],
    requested: ApprovalMode | None,
    *,
    confidence: Confidence | None,
) -> Held:
    """Return how an option is decided: as strictly as the strictest of its actions, each under its own rule.

    Args:
        rules: each action of the option with its rule and what experience says of it.
    """
    if option is None:
        return Held(ApprovalMode.STRICT, Why.NOTHING_TO_DO)
    held: Held | None = None
    for action, rule, standing in rules:
        one = mode_of(
            rule, requested, reversible=can_be_undone(option), impact=impact_of(rule, action), confidence=confidence,
            standing=standing,
        )  # fmt: skip
        held = one if held is None else held.stricter(one)
    return held or Held(ApprovalMode.STRICT, Why.NOTHING_TO_DO)
