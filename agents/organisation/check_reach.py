"""Rules by which skills of the long tail are shown to models: each can be read, and can hold."""

from __future__ import annotations

from collections.abc import Iterator

from agents.organisation.draft import Draft, Read
from agents.organisation.fault import Fault
from agents.organisation.skill_files import SkillHeader
from agents.skills.reach import RULE_VARIABLES, Reach
from runtime.expressions import ExpressionFault, compile_condition


def reach_faults(draft: Draft) -> Iterator[Fault]:
    """Yield what is wrong with `reach` and `show_when`."""
    for skill in draft.skills.values():
        if skill.header is not None:
            yield from _rule_faults(skill.header)


def _rule_faults(header: Read[SkillHeader]) -> Iterator[Fault]:
    said, rule = header.value.metadata, header.value.metadata.show_when
    place = ("metadata", "show_when")
    if said.reach is not Reach.LONG_TAIL:
        if rule:
            what = f"Only a skill of the long tail has a rule; this one is {said.reach.value}."
            yield header.fault(place, what, "Write `reach: long-tail` beside it, or take `show_when` out.")
        return
    if not rule and not said.words:
        what = "Nothing ever shows this skill to a model: it is of the long tail, without `show_when` and `words`."
        yield header.fault(("metadata", "reach"), what, "Give it one of them.")
        return
    try:
        if rule:
            compile_condition(rule, RULE_VARIABLES)
    except ExpressionFault as fault:
        yield header.fault(place, fault.message, f"It may name {' and '.join(RULE_VARIABLES)}.")
