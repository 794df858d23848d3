"""From a draft without faults to the organisation that works."""

from __future__ import annotations

from dataclasses import replace
from zoneinfo import ZoneInfo

from agents.organisation.alerts_file import AlertsFile
from agents.organisation.draft import Draft
from agents.organisation.files import text_of_file
from agents.organisation.model import EmployeeNode, Organisation, Skill
from agents.organisation.org_file import ApprovalEntry, EmployeeEntry, OrgFile, PersonEntry
from agents.skills.reach import Reach, ShowRule
from contracts import Name
from governance.access import Departments, People, Person, Scope
from governance.approvals.rule import ApprovalRule
from runtime.blackboard.rules import KeyRule
from runtime.capabilities.connections import DuckdbConnection
from runtime.engine.shared_budget import SharedBudget
from runtime.settings import ApprovalSettings


def organisation_of(draft: Draft, org: OrgFile, approvals: ApprovalSettings) -> Organisation:
    """Return the organisation of a draft that has no faults."""
    local = org.clock.stands_at
    organisation = Organisation(
        name=org.name,
        folder=draft.folder,
        head=node_of(org.head),
        time_zone=org.time_zone,
        language=org.language,
        title=org.title,
        skills={name: skill for name in draft.skills if (skill := _skill(draft, org, name)) is not None},
        connections={name: read.value for name, read in draft.connections.items()},
        metrics={name: read.value for name, read in draft.metrics.items()},
        sensors={name: read.value for name, read in draft.sensors.items()},
        rules=tuple(read.value for _, read in sorted(draft.rules.items())),
        behaviours=tuple(draft.behaviours),
        knowledge=draft.knowledge,
        approvals={name: _rule(name, entry, approvals, org) for name, entry in org.approvals.items()},
        people=people_of(org),
        budget=org.budget.budget(),
        budgets=budgets_of(org),
        goals=org.goals,
        heartbeat=org.heartbeat.terms(),
        models=org.model.names(),
        prices={name: entry.price() for name, entry in org.model.prices.items()},
        views=_views(draft),
        blackboard={key: KeyRule(entry.merge, entry.type) for key, entry in org.blackboard.items()},
        show=tuple(ShowRule(entry.skills, entry.when) for entry in org.show),
        specs=dict(draft.specs),
        alerts=draft.alerts.value if draft.alerts is not None else AlertsFile(),
    )
    if local is None:
        return organisation
    return replace(organisation, stands_at=local.replace(tzinfo=organisation.zone))


def budgets_of(org: OrgFile) -> tuple[SharedBudget, ...]:
    """Return the budgets of departments and processes, by the clock of the organisation."""
    return tuple(entry.budget(ZoneInfo(org.time_zone)) for entry in org.budgets)


def _views(draft: Draft) -> dict[str, str]:
    connections = [read.value for read in draft.connections.values()]
    named = [file for each in connections if isinstance(each, DuckdbConnection) for file in each.known]
    return {file: text_of_file(draft.files, file) for file in named}


def node_of(entry: EmployeeEntry) -> EmployeeNode:
    """Return an employee with everybody below."""
    below = tuple(node_of(inner) for inner in entry.manages)
    own = entry.workspace.workspace() if entry.workspace is not None else None
    return EmployeeNode(entry.id, entry.title, entry.skills, entry.can, below, entry.isolation, own)


def people_of(org: OrgFile) -> People:
    """Return who is in org.yaml, and where each may do what."""
    return People((_person(entry) for entry in org.people), _departments(org.head))


def _person(entry: PersonEntry) -> Person:
    return Person(
        id=entry.id,
        name=entry.name,
        roles=frozenset(entry.everywhere),
        groups=frozenset(entry.groups),
        login=entry.login,
        deputy_for=frozenset(entry.deputy_for),
        email=entry.email,
        notify=tuple(each.notify() for each in entry.notify),
        quiet=entry.quiet.quiet() if entry.quiet is not None else None,
        scopes=tuple(Scope(department, frozenset(roles)) for department, roles in entry.departments.items()),
    )


def _departments(head: EmployeeEntry) -> Departments:
    owners: dict[Name, list[Name]] = {}
    for entry in head.everybody():
        for skill in dict.fromkeys(entry.skills):
            owners.setdefault(skill, []).append(entry.id)
    return Departments({below.id: entry.id for entry in head.everybody() for below in entry.manages}, owners)


def _rule(name: str, entry: ApprovalEntry, approvals: ApprovalSettings, org: OrgFile) -> ApprovalRule:
    counted = org.working_hours if entry.counts == "working hours" else None
    return ApprovalRule(
        name=name,
        who=entry.who,
        within_s=approvals.within_s if entry.within is None else entry.within,
        escalate_to=entry.then,
        quorum=entry.quorum,
        mode=entry.mode,
        may_loosen=entry.may_loosen,
        impact=entry.impact,
        under=entry.under,
        undo_within_s=approvals.undo_s if entry.undo_within is None else entry.undo_within,
        hours=None if counted is None else counted.hours(org.time_zone),
    )


def _skill(draft: Draft, org: OrgFile, name: str) -> Skill | None:
    files = draft.skills[name]
    if files.header is None or files.plan is None:
        return None
    header = files.header.value
    options = files.options.get("options.yaml") or next(iter(files.options.values()), None)
    return Skill(
        name=name,
        description=header.description,
        plan=files.plan.value,
        folder=draft.folder / "skills" / name,
        when_to_use=header.metadata.when_to_use,
        when_not_to_use=header.metadata.when_not_to_use,
        words=header.metadata.words,
        tier=header.metadata.tier,
        reach=Reach.LONG_TAIL if name in org.long_tail else header.metadata.reach,
        show_when=header.metadata.show_when,
        memory=header.metadata.memory,
        options=options.value if options else None,
        body=files.body,
        files=files.files,
        result=files.result,
    )
