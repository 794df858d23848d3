"""Rules by which skills are shown to models: each can be read, and can hold."""

from __future__ import annotations

from collections.abc import Iterator

from agents.organisation.declared import nearest
from agents.organisation.draft import Draft, Read
from agents.organisation.fault import Fault
from agents.organisation.org_file import OrgFile, ShowEntry
from agents.organisation.skill_files import SkillHeader
from agents.skills.reach import RULE_VARIABLES, Reach
from runtime.expressions import ExpressionFault, compile_condition


def reach_faults(draft: Draft) -> Iterator[Fault]:
    """Yield what is wrong with `reach` and `show_when` of skills, and with `show` of the organisation."""
    org = draft.org
    for name, skill in draft.skills.items():
        if skill.header is not None:
            ruled = org is not None and any(name in entry.skills for entry in org.value.show)
            yield from _skill_faults(skill.header, ruled=ruled)
    if org is not None:
        for number, entry in enumerate(org.value.show):
            yield from _entry_faults(draft, org, number, entry)


def _skill_faults(header: Read[SkillHeader], *, ruled: bool) -> Iterator[Fault]:
    """Yield the faults of one skill; `ruled` is whether the organisation has a rule for it."""
    said, rule = header.value.metadata, header.value.metadata.show_when
    if said.reach is not Reach.LONG_TAIL:
        if rule:
            what = f"Only a skill of the long tail has a rule; this one is {said.reach.value}."
            hint = "Write `reach: long-tail` beside it, or take `show_when` out."
            yield header.fault(("metadata", "show_when"), what, hint)
    elif rule:
        yield from _condition_faults(header, ("metadata", "show_when"), rule)
    elif not said.words and not ruled:
        what = "Nothing ever shows this skill to a model: it is of the long tail, without `show_when` and `words`."
        yield header.fault(("metadata", "reach"), what, "Give it one of them, or a rule under `show` in org.yaml.")


def _entry_faults(draft: Draft, org: Read[OrgFile], number: int, entry: ShowEntry) -> Iterator[Fault]:
    path = ("show", number)
    for place, name in enumerate(entry.skills):
        skill = draft.skills.get(name)
        if skill is None:
            yield org.fault((*path, "skills", place), f"There is no skill `{name}`.", nearest(name, draft.skills))
        elif entry.long_tail and skill.header is not None and skill.header.value.metadata.reach is Reach.CORE:
            what = f"`{name}` is core by its SKILL.md, so it cannot be of the long tail here."
            yield org.fault((*path, "long_tail"), what, "Take one of the two out.")
    yield from _condition_faults(org, (*path, "when"), entry.when)


def _condition_faults(
    read: Read[SkillHeader] | Read[OrgFile], place: tuple[str | int, ...], condition: str
) -> Iterator[Fault]:
    try:
        compile_condition(condition, RULE_VARIABLES)
    except ExpressionFault as fault:
        yield read.fault(place, fault.message, f"It may name {' and '.join(RULE_VARIABLES)}.")
