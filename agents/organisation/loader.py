"""The way in: check an organisation, or load it when nothing is wrong."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from zoneinfo import ZoneInfo

from agents.organisation.building import budgets_of, node_of, organisation_of, people_of
from agents.organisation.check_alerts import alert_faults
from agents.organisation.check_budgets import budget_faults
from agents.organisation.check_channels import channel_faults
from agents.organisation.check_connections import connection_faults
from agents.organisation.check_hosts import host_faults
from agents.organisation.check_metrics import metric_faults
from agents.organisation.check_people import people_faults
from agents.organisation.check_reach import reach_faults
from agents.organisation.check_redacted import redacted_faults
from agents.organisation.check_resources import resource_faults
from agents.organisation.check_results import result_faults
from agents.organisation.check_rules import rule_faults
from agents.organisation.check_skills import skill_faults
from agents.organisation.check_slots import slot_faults
from agents.organisation.check_telling import telling_faults
from agents.organisation.check_values import value_faults
from agents.organisation.draft import Draft
from agents.organisation.fault import Fault, Report
from agents.organisation.files import ArchiveFiles, Files, FolderFiles
from agents.organisation.model import Organisation
from agents.organisation.org_file import OrgFile
from agents.organisation.reader import read_org_file, read_organisation, read_rule_files
from agents.organisation.sensor_kinds import sensor_faults
from contracts import Name
from governance.access import People
from governance.channels.told import Told
from governance.policies import Policy
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
        name=org.name, folder=folder, head=node_of(org.head), connections=connections, models=org.model.names(),
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
    return budgets_of(_org_file_in(FolderFiles(_there(folder)), folder, environ))


def read_told(folder: Path, *, environ: Mapping[str, str] | None = None) -> Told:
    """Return who is told by which channels, as the folder says now; raises as `read_people`."""
    org = _org_file_in(FolderFiles(_there(folder)), folder, environ)
    channels = {name: entry.channel(name) for name, entry in org.channels.items()}
    return Told(people_of(org), channels, ZoneInfo(org.time_zone), org.language)


def _people_in(files: Files, folder: Path, environ: Mapping[str, str] | None) -> People:
    return people_of(_org_file_in(files, folder, environ))


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
    faults += metric_faults(draft)
    faults += sensor_faults(draft)
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
    return organisation_of(draft, draft.org.value, approvals or ApprovalSettings())


def _faulty(report: Report, kind: type[OrganisationFaulty] = OrganisationFaulty) -> OrganisationFaulty:
    few = Report(report.folder, report.faults[:_TOLD])
    shown = few.text() if len(report.faults) > _TOLD else report.text()
    return kind(shown, folder=str(report.folder), faults=[fault.to_json() for fault in report.faults])
