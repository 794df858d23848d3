"""The way in: check an organisation, or load it when nothing is wrong."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

from agents.organisation.alerts_file import AlertsFile
from agents.organisation.check_alerts import alert_faults
from agents.organisation.check_budgets import budget_faults
from agents.organisation.check_channels import channel_faults
from agents.organisation.check_connections import connection_faults
from agents.organisation.check_hosts import host_faults
from agents.organisation.check_people import people_faults
from agents.organisation.check_reach import reach_faults
from agents.organisation.check_redacted import redacted_faults
from agents.organisation.check_resources import resource_faults
from agents.organisation.check_results import result_faults
from agents.organisation.check_rules import rule_faults
from agents.organisation.check_signals import signal_faults
from agents.organisation.check_skills import skill_faults
from agents.organisation.check_slots import slot_faults
from agents.organisation.check_telling import telling_faults
from agents.organisation.check_values import value_faults
from agents.organisation.draft import Draft
from agents.organisation.fault import Fault, Report
from agents.organisation.files import ArchiveFiles, Files, FolderFiles, text_of_file
from agents.organisation.model import EmployeeNode, Organisation, Skill
from agents.organisation.org_file import ApprovalEntry, EmployeeEntry, OrgFile, PersonEntry
from agents.organisation.reader import read_org_file, read_organisation, read_rule_files
from agents.skills.reach import Reach, ShowRule
from contracts import Name
from governance.access import Departments, People, Person, Scope
from governance.approvals.rule import ApprovalRule
from governance.channels.told import Told
from governance.policies import Policy
from runtime.blackboard.rules import KeyRule
from runtime.capabilities.connections import DuckdbConnection
from runtime.capabilities.port import CapabilitySpec
from runtime.engine.shared_budget import SharedBudget
from runtime.errors import NoOrganisation, NotFound, OrganisationFaulty
from runtime.settings import ApprovalSettings, EngineSettings

_TOLD = 20
"""Faults in the message of an error; the rest is in its facts."""


def check(
    folder: Path,
    *,
    builtin: Mapping[str, CapabilitySpec],
    environ: Mapping[str, str] | None = None,
    tree_depth: int | None = None,
) -> Report:
    """Return every fault of the organisation in `folder`.

    Args:
        folder: the organisation.
        builtin: declarations of the capabilities that every organisation has.
        environ: where `${NAME}` is looked up; absent means the environment of the process.
        tree_depth: levels of employees that are allowed; absent means the default of the setting.

    Raises:
        NotFound: there is no such folder.
    """
    draft = _read(FolderFiles(_there(folder)), folder, builtin, environ)
    return _report(draft, tree_depth)


def load(
    folder: Path,
    *,
    builtin: Mapping[str, CapabilitySpec],
    environ: Mapping[str, str] | None = None,
    tree_depth: int | None = None,
    approvals: ApprovalSettings | None = None,
) -> Organisation:
    """Return the organisation in `folder`; arguments as in `check`.

    Raises:
        NotFound: there is no such folder.
        OrganisationFaulty: it has faults; all of them are in the message and the facts.
        NoOrganisation: one of them is that there is no org.yaml.
    """
    files = FolderFiles(_there(folder))
    return _load(files, folder, builtin, environ, tree_depth, approvals)


def look(
    folder: Path, *, builtin: Mapping[str, CapabilitySpec], environ: Mapping[str, str] | None = None,
    tree_depth: int | None = None,
) -> tuple[Organisation | None, Report]:  # fmt: skip
    """Return what can be looked at of an organisation, and its faults; arguments as in `check`.

    What can be looked at is the name, employees, models and connections, as far as they could be read: enough to ask
    whether services answer, not to work. None where org.yaml cannot be read.

    Raises:
        NotFound: there is no such folder.
    """
    draft = _read(FolderFiles(_there(folder)), folder, builtin, environ)
    report = _report(draft, tree_depth)
    if draft.org is None:
        return None, report
    org, connections = draft.org.value, {name: read.value for name, read in draft.connections.items()}
    organisation = Organisation(
        name=org.name, folder=folder, head=_node(org.head), connections=connections, models=org.model.names(),
        specs=dict(draft.specs),
    )  # fmt: skip
    return organisation, report


def load_bundle(
    data: bytes,
    home: Path,
    *,
    builtin: Mapping[str, CapabilitySpec],
    environ: Mapping[str, str] | None = None,
    tree_depth: int | None = None,
    approvals: ApprovalSettings | None = None,
) -> Organisation:
    """Return the organisation as `bundle` kept it; `home` is the folder it came from, where its data still is.

    Raises:
        OrganisationFaulty: as in `load`.
    """
    return _load(ArchiveFiles(data), home, builtin, environ, tree_depth, approvals)


def read_people(folder: Path, *, environ: Mapping[str, str] | None = None) -> People:
    """Return the people of the folder as they stand now. Only org.yaml is read: faults elsewhere do not matter here.

    Raises:
        NotFound: there is no such folder.
        OrganisationFaulty: org.yaml cannot be read.
    """
    return _people_in(FolderFiles(_there(folder)), folder, environ)


def read_name(folder: Path, *, environ: Mapping[str, str] | None = None) -> Name:
    """Return what the organisation in the folder is called; raises as `read_people`."""
    return _org_file_in(FolderFiles(_there(folder)), folder, environ).name


def people_in_bundle(data: bytes, home: Path, *, environ: Mapping[str, str] | None = None) -> People:
    """Return the people of an organisation as `bundle` kept it; its data need not be there any more."""
    return _people_in(ArchiveFiles(data), home, environ)


def read_rules(folder: Path) -> tuple[Policy, ...]:
    """Return the rules of the folder as they stand now; nothing else is read.

    Raises:
        NotFound: there is no such folder.
        OrganisationFaulty: a rule cannot be read.
    """
    draft = read_rule_files(FolderFiles(_there(folder)), folder)
    if draft.faults:
        raise _faulty(Report.of(folder, draft.faults))
    return tuple(read.value for _, read in sorted(draft.rules.items()))


def read_budgets(folder: Path, *, environ: Mapping[str, str] | None = None) -> tuple[SharedBudget, ...]:
    """Return the budgets of departments and processes of the folder as they stand now; raises as `read_people`."""
    return _budgets(_org_file_in(FolderFiles(_there(folder)), folder, environ))


def _budgets(org: OrgFile) -> tuple[SharedBudget, ...]:
    return tuple(entry.budget(ZoneInfo(org.time_zone)) for entry in org.budgets)


def read_told(folder: Path, *, environ: Mapping[str, str] | None = None) -> Told:
    """Return who is told by which channels, as the folder says now; raises as `read_people`."""
    org = _org_file_in(FolderFiles(_there(folder)), folder, environ)
    channels = {name: entry.channel(name) for name, entry in org.channels.items()}
    return Told(_people(org), channels, ZoneInfo(org.time_zone), org.language)


def _people_in(files: Files, folder: Path, environ: Mapping[str, str] | None) -> People:
    return _people(_org_file_in(files, folder, environ))


def _org_file_in(files: Files, folder: Path, environ: Mapping[str, str] | None) -> OrgFile:
    draft = read_org_file(files, folder, environ=os.environ if environ is None else environ)
    if draft.org is None or draft.faults:
        raise _faulty(Report.of(folder, draft.faults))
    return draft.org.value


def _there(folder: Path) -> Path:
    try:
        if folder.is_dir():
            return folder
    except OSError:  # a name that no file system takes
        pass
    raise NotFound(f"There is no organisation folder {folder}.", folder=str(folder))


def _read(
    files: Files, folder: Path, builtin: Mapping[str, CapabilitySpec], environ: Mapping[str, str] | None
) -> Draft:
    return read_organisation(files, folder, builtin=builtin, environ=os.environ if environ is None else environ)


def _report(draft: Draft, tree_depth: int | None) -> Report:
    depth = EngineSettings().tree_depth if tree_depth is None else tree_depth
    faults: list[Fault] = list(draft.faults)
    faults += people_faults(draft, tree_depth=depth)
    faults += channel_faults(draft)
    faults += connection_faults(draft)
    faults += result_faults(draft)
    faults += host_faults(draft)
    faults += budget_faults(draft)
    faults += signal_faults(draft)
    faults += alert_faults(draft)
    faults += rule_faults(draft)
    faults += skill_faults(draft)
    faults += redacted_faults(draft)
    faults += reach_faults(draft)
    faults += telling_faults(draft)
    faults += slot_faults(draft)
    faults += resource_faults(draft)
    faults += value_faults(draft)
    return Report.of(draft.folder, faults)


def _load(  # noqa: PLR0917  (the three ways in hand on the same six)
    files: Files,
    folder: Path,
    builtin: Mapping[str, CapabilitySpec],
    environ: Mapping[str, str] | None,
    tree_depth: int | None,
    approvals: ApprovalSettings | None,
) -> Organisation:
    draft = _read(files, folder, builtin, environ)
    report = _report(draft, tree_depth)
    if not report.ok or draft.org is None:
        raise _faulty(report, OrganisationFaulty if "org.yaml" in files.names() else NoOrganisation)
    return _organisation(draft, draft.org.value, approvals or ApprovalSettings())


def _faulty(report: Report, kind: type[OrganisationFaulty] = OrganisationFaulty) -> OrganisationFaulty:
    few = Report(report.folder, report.faults[:_TOLD])
    shown = few.text() if len(report.faults) > _TOLD else report.text()
    return kind(shown, folder=str(report.folder), faults=[fault.to_json() for fault in report.faults])


def _organisation(draft: Draft, org: OrgFile, approvals: ApprovalSettings) -> Organisation:
    local = org.clock.stands_at
    organisation = Organisation(
        name=org.name,
        folder=draft.folder,
        head=_node(org.head),
        time_zone=org.time_zone,
        language=org.language,
        title=org.title,
        skills={name: skill for name in draft.skills if (skill := _skill(draft, org, name)) is not None},
        connections={name: read.value for name, read in draft.connections.items()},
        metrics={name: read.value for name, read in draft.metrics.items()},
        sensors={name: read.value for name, read in draft.sensors.items()},
        rules=tuple(read.value for _, read in sorted(draft.rules.items())),
        approvals={name: _rule(name, entry, approvals, org) for name, entry in org.approvals.items()},
        people=_people(org),
        budget=org.budget.budget(),
        budgets=_budgets(org),
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


def _views(draft: Draft) -> dict[str, str]:
    connections = [read.value for read in draft.connections.values()]
    named = [file for each in connections if isinstance(each, DuckdbConnection) for file in each.known]
    return {file: text_of_file(draft.files, file) for file in named}


def _node(entry: EmployeeEntry) -> EmployeeNode:
    below = tuple(_node(inner) for inner in entry.manages)
    own = entry.workspace.workspace() if entry.workspace is not None else None
    return EmployeeNode(entry.id, entry.title, entry.skills, entry.can, below, entry.isolation, own)


def _people(org: OrgFile) -> People:
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
        options=options.value if options else None,
        body=files.body,
        files=files.files,
        result=files.result,
    )
