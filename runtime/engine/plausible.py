"""Results that are possible but odd: which rules do not hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from contracts import Json, PlausibilityRule, Text
from runtime.engine.scope import ExpressionFaulty, holds
from runtime.errors import SiliconError
from runtime.expressions import ExpressionFailed


class Implausible(SiliconError):
    """What a model gives as its result is odd; it is told once, and a person judges it when it stands by that."""

    code = "RESULT_SUSPICIOUS"


def suspicions(rules: Iterable[PlausibilityRule], values: Mapping[str, Json]) -> list[Text]:
    """Return the messages of the rules that do not hold; a rule that cannot be judged is one of them."""
    odd = []
    for rule in rules:
        try:
            plausible = holds(rule.check, values)
        except (ExpressionFailed, ExpressionFaulty):
            plausible = False
        if not plausible:
            odd.append(rule.message)
    return odd
