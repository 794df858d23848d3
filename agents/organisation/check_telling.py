"""Templates in which models are told what skills gave: each can be filled with what its skill gives."""

from __future__ import annotations

from collections.abc import Iterator

from agents.employee.report.template import template_faults
from agents.organisation.check_skills import gives_of
from agents.organisation.declared import nearest
from agents.organisation.draft import Draft, SkillDraft
from agents.organisation.fault import Fault
from agents.organisation.skill_reader import result_file
from agents.skills.telling import WHOLE


def telling_faults(draft: Draft) -> Iterator[Fault]:
    """Yield what is wrong with the result templates; names are held against what is declared, where it is."""
    for skill in draft.skills.values():
        if not skill.result:
            continue
        given = _given_by(draft, skill)
        for fault in template_faults(skill.result, [*(given or ()), WHOLE]):
            if fault.name and given is None:
                continue
            what = f"The skill `{skill.name}` does not give `{fault.name}`." if fault.name else fault.what
            hint = nearest(fault.name, [*given, WHOLE]) if fault.name and given is not None else ""
            yield Fault(result_file(skill.name), fault.line, what, hint)


def _given_by(draft: Draft, skill: SkillDraft) -> list[str] | None:
    """Return the fields that the skill gives, None where nobody declared them."""
    if skill.plan is None:
        return None
    plan = skill.plan.value
    if plan.gives:
        return list(plan.gives)
    last = plan.steps[-1]
    if last.for_each is not None or last.parallel:
        return None
    found = gives_of(draft, last)
    return None if found is None else list(found)
