"""Roles in departments: the departments are there, and whoever has to approve in one has somebody who can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agents.organisation.declared import nearest
from agents.organisation.draft import Draft, Read
from agents.organisation.fault import Fault
from agents.organisation.org_file import OrgFile, PersonEntry
from governance.access.people import DECIDING
from governance.approvals.rule import DEFAULT_RULE


def department_faults(draft: Draft, org: Read[OrgFile]) -> Iterator[Fault]:
    """Yield what is wrong with the roles that people hold in departments."""
    employees = {entry.id for entry in org.value.head.everybody()}
    for number, person in enumerate(org.value.people):
        for department in person.departments:
            if department not in employees:
                what = f"There is no employee `{department}`, so no such department."
                yield org.fault(("people", number, "departments", department), what, nearest(department, employees))
    yield from _beyond_reach(draft, org)


def _beyond_reach(draft: Draft, org: Read[OrgFile]) -> Iterator[Fault]:
    """Yield rules under which an employee's effects could never be approved: nobody named decides where it works."""
    superiors = {below.id: entry.id for entry in org.value.head.everybody() for below in entry.manages}
    told: set[str] = set()
    for entry in org.value.head.everybody():
        for name in entry.can:
            spec = draft.specs.get(name)
            rule = spec.policy or DEFAULT_RULE if spec is not None and spec.effect.needs_gate else ""
            if rule not in org.value.approvals or rule in told:
                continue
            approval = org.value.approvals[rule]
            asked = [person for person in org.value.people if {person.id, *person.groups} & {*approval.who}]
            if sum(bool(DECIDING & person.anywhere) for person in asked) < approval.quorum:
                continue  # told already, whatever the departments
            able = sum(_decides_at(person, entry.id, superiors) for person in asked)
            if able < approval.quorum:
                told.add(rule)
                yield org.fault(
                    ("approvals", rule, "who"),
                    f"Nobody could ever approve `{name}` of `{entry.id}` under `{rule}`: it takes {approval.quorum}, "
                    f"and {able} of them may in that department.",
                    f"Give them the role approver in `{entry.id}` or a department above it.",
                )


def _decides_at(person: PersonEntry, employee: str, superiors: Mapping[str, str]) -> bool:
    place: str | None = employee
    seen: set[str] = set()
    while place is not None and place not in seen:
        if DECIDING & {*person.departments.get(place, ())}:
            return True
        seen.add(place)
        place = superiors.get(place)
    return bool(DECIDING & {*person.everywhere})
