"""What may be known of a person, in three depths. Nobody is put into a drawer: there is no field for a role.

| depth | acts on |
|---|---|
| form | the form of answers |
| attention | what a search gives |
| thinking | depth and order of explanations |
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from runtime.errors import InvalidArguments


class Depth(StrEnum):
    """How deep it goes."""

    FORM = "form"
    ATTENTION = "attention"
    THINKING = "thinking"


CHOICES: Mapping[Depth, Mapping[str, tuple[str, ...]]] = {
    Depth.FORM: {
        "language": ("en", "zh"),
        "format": ("table", "list", "prose", "chart"),
        "length": ("short", "long"),
        "tone": ("plain", "formal", "friendly"),
    },
    Depth.ATTENTION: {
        "domain": (),
        "topic": (),
        "metric": (),
        "entity": (),
        "granularity": ("hour", "day", "week", "month", "quarter", "year"),
        "perspective": ("cost", "risk", "customers", "quality", "speed", "growth"),
        "period": ("now", "past", "future"),
    },
    Depth.THINKING: {
        "decides_by": ("recommendation", "risks", "numbers", "evidence", "options"),
        "depth": ("overview", "detail"),
        "term": (),
    },
}
"""Depth → trait → its values; where there are none, it is a word of the person's own."""
KNOWN, TO_EXPLAIN = "known", "to explain"
"""What a term may be."""
LONGEST = 60
_ROLES = re.compile(
    r"\b(?:ceo|cfo|coo|cto|cio|vp|boss|chief|director|manager|executive|head of|officer|president|expert|novice"
    r"|beginner|junior|senior|professional|layman|layperson|analyst|engineer|developer|accountant|controller|assistant|intern"
    r"|leader|specialist|technician|consultant|founder|owner)s?\b|经理|主管|总监|总裁|老板|专家|新手|小白|领导|高管|员工|工程师|分析师|会计|财务|助理"
    r"|实习生|董事|顾问|主任",
    re.IGNORECASE,
)


def depth_of(trait: str) -> Depth:
    """Return the depth of a trait; raise InvalidArguments for one that there is not."""
    for depth, traits in CHOICES.items():
        if trait in traits:
            return depth
    there = ", ".join(trait for traits in CHOICES.values() for trait in traits)
    raise InvalidArguments(f"There is no trait `{trait}`; there are: {there}.", trait=trait)


def checked(trait: str, value: str) -> str:
    """Return a value as it is kept.

    Raises:
        InvalidArguments: the trait has no such value, it is too long, or it puts a person into a role.
    """
    choices = CHOICES[depth_of(trait)][trait]
    plain = " ".join(value.split())
    if choices and plain not in choices:
        raise InvalidArguments(f"`{trait}` is one of {', '.join(choices)}, not {plain!r}.", trait=trait, value=plain)
    if not 0 < len(plain) <= LONGEST:
        raise InvalidArguments(f"`{trait}` has 1 to {LONGEST} characters.", trait=trait)
    if is_role(plain):
        raise InvalidArguments(
            f"{plain!r} says what somebody is, not what they look at or know. Nobody is put into a role here.",
            trait=trait, value=plain,
        )  # fmt: skip
    return plain


def is_role(words: str) -> bool:
    """Whether words name a role that people have."""
    return _ROLES.search(words) is not None
