"""Employees and people: who there is, who reports to whom, who can decide."""

from __future__ import annotations

from collections.abc import Iterator

from agents.organisation.check_departments import department_faults
from agents.organisation.declared import nearest
from agents.organisation.draft import Draft, Read
from agents.organisation.fault import Fault
from agents.organisation.hints import capability_hint
from agents.organisation.org_file import ApprovalEntry, EmployeeEntry, OrgFile
from agents.organisation.yaml_source import Path
from agents.skills.reach import Reach
from contracts import ApprovalMode, Tier
from governance.access import Role
from governance.approvals.modes import VARIABLES
from governance.approvals.rule import DEFAULT_RULE
from runtime.expressions import ExpressionFault, compile_expression
from runtime.settings.models import SkillSettings


def people_faults(draft: Draft, *, tree_depth: int) -> Iterator[Fault]:
    """Yield what is wrong with employees, people and approval rules."""
    if draft.org is None:
        return
    org = draft.org
    yield from _employee_faults(draft, org, tree_depth)
    yield from _person_faults(org)
    for name, rule in org.value.approvals.items():
        yield from _approval_faults(org, name, rule)
    yield from _gate_faults(draft, org.value)
    yield from department_faults(draft, org)


def _employee_faults(draft: Draft, org: Read[OrgFile], tree_depth: int) -> Iterator[Fault]:
    seen: dict[str, int] = {}
    for entry, path, depth in _walk(org.value.head):
        line = org.source.line((*path, "id"))
        if entry.id in seen:
            yield org.fault(
                (*path, "id"), f"Two employees are called `{entry.id}`; the other is in line {seen[entry.id]}."
            )
        seen.setdefault(entry.id, line)
        if depth == tree_depth + 1:
            yield org.fault(
                path,
                f"`{entry.id}` stands on level {depth}; {tree_depth} levels are the limit.",
                "Make the tree flatter, or raise the setting engine.tree_depth.",
            )
        for number, name in enumerate(entry.skills):
            if name not in draft.skills:
                yield org.fault((*path, "skills", number), f"There is no skill `{name}`.", nearest(name, draft.skills))
        for number, name in enumerate(entry.can):
            if name not in draft.specs and name.partition(".")[0] not in draft.unread:
                hint = capability_hint(draft, name, draft.packs)
                yield org.fault((*path, "can", number), f"There is no capability `{name}`.", hint)
        yield from _core_faults(draft, org, entry, path)
        if entry.workspace is not None:
            yield from _workspace_faults(draft, org, entry, path)


def _core_faults(draft: Draft, org: Read[OrgFile], entry: EmployeeEntry, path: Path) -> Iterator[Fault]:
    """Yield that an employee has more core skills than a prompt should always hold."""
    headers = [draft.skills[name].header for name in dict.fromkeys(entry.skills) if name in draft.skills]
    core = sum(header is not None and header.value.metadata.reach is Reach.CORE for header in headers)
    most = SkillSettings().core_most
    if core > most:
        what = f"`{entry.id}` has {core} core skills, which are in every prompt of its model; {most} are the limit."
        yield org.fault((*path, "skills"), what, "Make some of them `extended`.")


def _workspace_faults(draft: Draft, org: Read[OrgFile], entry: EmployeeEntry, path: Path) -> Iterator[Fault]:
    """A workspace lies in slots: whoever never works in one would have files that nobody can reach."""
    headers = [skill.header for name in entry.skills if (skill := draft.skills.get(name)) is not None]
    known = [header for header in headers if header is not None]
    if len(known) < len(entry.skills) or any(name not in draft.specs for name in entry.can):
        return  # what it does is told to be faulty already
    tiers = {draft.specs[name].tier for name in entry.can} | {each.value.metadata.tier for each in known}
    if Tier.EXECUTION not in tiers:
        yield org.fault(
            (*path, "workspace"),
            f"`{entry.id}` owns a workspace and never works in a slot, where its files would lie.",
            "Let it use a capability of the execution tier, such as files.read, or take the workspace away.",
        )


def _walk(head: EmployeeEntry) -> Iterator[tuple[EmployeeEntry, Path, int]]:
    waiting: list[tuple[EmployeeEntry, Path, int]] = [(head, ("head",), 1)]
    while waiting:
        entry, path, depth = waiting.pop()
        yield entry, path, depth
        below = [(inner, (*path, "manages", number), depth + 1) for number, inner in enumerate(entry.manages)]
        waiting.extend(reversed(below))


def _person_faults(org: Read[OrgFile]) -> Iterator[Fault]:
    ids: set[str] = set()
    logins: set[str] = set()
    known = {person.id for person in org.value.people}
    for number, person in enumerate(org.value.people):
        path = ("people", number)
        if person.id in ids:
            yield org.fault((*path, "id"), f"Two people are called `{person.id}`.")
        if person.login is not None and person.login in logins:
            yield org.fault((*path, "login"), f"Two people have the login `{person.login}`.", "It is one person's.")
        for name in person.deputy_for:
            if name not in known:
                yield org.fault((*path, "deputy_for"), f"There is no person `{name}`.", nearest(name, known))
        ids.add(person.id)
        logins |= {person.login} if person.login else set()


def _approval_faults(org: Read[OrgFile], name: str, rule: ApprovalEntry) -> Iterator[Fault]:
    path = ("approvals", name)
    yield from _mode_faults(org, path, rule)
    people = org.value.people
    there = {person.id for person in people} | {group for person in people for group in person.groups}
    for field, names in (("who", rule.who), ("then", rule.then)):
        for wanted in names:
            if wanted not in there:
                yield org.fault((*path, field), f"There is no person or group `{wanted}`.", nearest(wanted, there))
    deciders = [
        person
        for person in people
        if {person.id, *person.groups} & set(rule.who) and {Role.APPROVER, Role.ADMIN} & person.anywhere
    ]
    if len(deciders) < rule.quorum and set(rule.who) <= there:
        needed = f"{rule.quorum} {'person' if rule.quorum == 1 else 'people'}"
        yield org.fault(
            (*path, "who"),
            f"Nobody could ever approve under `{name}`: it takes {needed}, and {len(deciders)} of them may.",
            "Give them the role approver.",
        )


def _mode_faults(org: Read[OrgFile], path: Path, rule: ApprovalEntry) -> Iterator[Fault]:
    """Yield what keeps a mode, a limit or working hours from ever having an effect."""
    if rule.mode is ApprovalMode.THRESHOLD and rule.under is None:
        what = "The mode threshold lets pass what has a smaller impact than a limit, and this rule has none."
        yield org.fault((*path, "mode"), what, "Add `impact: arguments.NAME` and `under: NUMBER`, or write strict.")
    if (rule.under is None) != (rule.impact is None):
        has, lacks = ("under", "impact") if rule.impact is None else ("impact", "under")
        what = f"`{has}` says nothing without `{lacks}`."
        yield org.fault((*path, has), what, f"Add `{lacks}`, or take `{has}` away.")
    if rule.impact is not None:
        try:
            compile_expression(rule.impact, VARIABLES)
        except ExpressionFault as fault:
            yield org.fault((*path, "impact"), f"`impact` cannot be read: {fault.message}", f"It may name {_NAMED}.")
    if rule.counts == "working hours" and org.value.working_hours is None:
        what = "Time is to be counted in working hours, and org.yaml names none."
        yield org.fault((*path, "counts"), what, 'Add `working_hours: {from: "09:00", until: "17:00"}`.')


_NAMED = ", ".join(f"`{name}`" for name in VARIABLES)


def _gate_faults(draft: Draft, org: OrgFile) -> Iterator[Fault]:
    """Every effect that a person has to approve needs a rule that says who; one that is built in, where it is used."""
    used = {name for entry in org.head.everybody() for name in entry.can}
    for spec in draft.specs.values():
        if spec.name in draft.builtin and spec.name not in used:
            continue
        rule = spec.policy or DEFAULT_RULE
        if not spec.effect.needs_gate or rule in org.approvals:
            continue
        connection, _, operation = spec.name.partition(".")
        read = draft.connections.get(connection)
        what = f"`{spec.name}` is {spec.effect.value} and org.yaml has no approval rule `{rule}` for it."
        hint = "Add it to `approvals`, or name another with `policy`."
        if read is not None:
            yield read.fault((connection, "operations", operation, "policy"), what, hint)
        elif draft.org is not None:
            yield draft.org.fault(("approvals",), what, hint)
