"""Reads every file of an organisation and notes what cannot be read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from agents.organisation.alerts_file import AlertsFile
from agents.organisation.behaviour_files import FOLDER as BEHAVIOUR
from agents.organisation.behaviour_files import FOLDERS as KINDS
from agents.organisation.behaviour_files import ChainFile, StrategyFile
from agents.organisation.declared import faults_of, read_as
from agents.organisation.draft import Draft, Read
from agents.organisation.environment import fill
from agents.organisation.fault import Fault
from agents.organisation.files import FileRefused, Files, fault_of, text_of_file
from agents.organisation.metric_files import FOLDER as METRICS
from agents.organisation.metric_files import read_metric
from agents.organisation.openapi_file import read_described
from agents.organisation.opened import read_file
from agents.organisation.org_file import OrgFile
from agents.organisation.packs import packs_in, put_out_in_org
from agents.organisation.rule_files import RuleFile
from agents.organisation.sensor_kinds import read_sensor
from agents.organisation.skill_reader import read_skill
from agents.organisation.yaml_source import YamlSource
from governance.policies import Policy
from memory.behaviour.behaviour import BehaviourKind
from memory.knowledge.tree import dangling, is_knowledge, read_tree
from runtime.capabilities.builtin import connection_specs
from runtime.capabilities.connections import AnyConnection, OpenApiConnection, read_connection
from runtime.capabilities.port import CapabilitySpec

M = TypeVar("M", bound=BaseModel)

_FILES = ("org.yaml", "connections.yaml", "alerts.yaml")
_FOLDERS = ("skills", "metrics", "sensors", "rules", "knowledge", BEHAVIOUR)
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_FOLDERS_OF_YAML = ("metrics", "sensors", "rules")


def read_organisation(
    files: Files, folder: Path, *, builtin: Mapping[str, CapabilitySpec], environ: Mapping[str, str]
) -> Draft:
    """Return everything that can be read of the organisation, with the faults of the rest."""
    draft = Draft(files, folder, builtin)
    names = set(files.names())
    draft.faults += [*_refused(files), *_misplaced(files)]
    if "connections.yaml" in names:
        _read_connections(draft, environ)
    draft.specs = {**builtin, **{spec.name: spec for spec in _connection_specs(draft)}}
    _read_org(draft, environ)
    if "alerts.yaml" in names:
        _read_alerts(draft)
    for name in sorted(
        {PurePosixPath(path).parts[1] for path in names if path.startswith("skills/") and path.count("/") > 1}
    ):
        draft.skills[name] = read_skill(name, draft)
    for path in sorted(names):
        where = PurePosixPath(path)
        if len(where.parts) == 2 and where.parts[0] in _FOLDERS_OF_YAML:
            _read_entry(draft, where)
    for path in sorted(names):
        if path.startswith(f"{BEHAVIOUR}/"):
            _read_behaviour(draft, PurePosixPath(path))
    _read_knowledge(draft)
    return draft


def read_org_file(files: Files, folder: Path, *, environ: Mapping[str, str]) -> Draft:
    """Return the organisation with nothing read but org.yaml."""
    draft = Draft(files, folder, {})
    _read_org(draft, environ)
    return draft


def read_rule_files(files: Files, folder: Path) -> Draft:
    """Return the organisation with nothing read but its rules."""
    draft = Draft(files, folder, {})
    for path in sorted(files.names()):
        where = PurePosixPath(path)
        if len(where.parts) == 2 and where.parts[0] == "rules":
            _read_entry(draft, where)
    return draft


def _refused(files: Files) -> list[Fault]:
    """Every file of the folder goes into the bundle, so each must be one that may be read."""
    faults = []
    for name in files.names():
        try:
            files.look_at(name)
        except FileRefused as refused:
            faults.append(fault_of(name, refused))
    return faults


def _misplaced(files: Files) -> list[Fault]:
    """A file whose place is nearly right would be passed over in silence."""
    faults = []
    for name in files.names():
        top, *inside = PurePosixPath(name).parts
        there = _FOLDERS if inside else _FILES
        near = [] if top in there else get_close_matches(top, there, n=1, cutoff=0.8)
        if near:
            faults.append(Fault(name, 0, f"Nothing reads this; `{top}` is not `{near[0]}`.", "Rename or remove it."))
        elif top in _FOLDERS_OF_YAML and len(inside) > 1:
            faults.append(Fault(name, 0, "Nothing reads this.", f"Files lie directly in {top}/."))
    return faults


def _read_org(draft: Draft, environ: Mapping[str, str]) -> None:
    source = read_file(draft, "org.yaml")
    if source is None:
        return
    fill(source, environ)
    if draft.specs:
        draft.packs = packs_in(source, draft)
        put_out_in_org(source, draft.packs)
    org = read_as(OrgFile, source, source.value)
    draft.faults += source.faults
    if org is not None:
        draft.org = Read(org, source)


def _read_connections(draft: Draft, environ: Mapping[str, str]) -> None:
    source = read_file(draft, "connections.yaml")
    if source is None:
        return
    fill(source, environ)
    for name, value in (source.value or {}).items() if isinstance(source.value, dict | None) else ():
        described = isinstance(value, dict) and value.get("kind") == "http" and "openapi" in value
        try:
            if described:
                read_described(draft, name, OpenApiConnection.model_validate(value), source)
            else:
                draft.connections[name] = Read(read_connection(value), source)
        except ValidationError as error:
            draft.unread.add(name)
            source.faults += faults_of(error, source, OpenApiConnection if described else AnyConnection, (name,))
    draft.faults += source.faults


def _read_alerts(draft: Draft) -> None:
    source = read_file(draft, "alerts.yaml")
    if source is None:
        return
    alerts = read_as(AlertsFile, source, source.value)
    draft.faults += source.faults
    if alerts is not None:
        draft.alerts = Read(alerts, source)


def _connection_specs(draft: Draft) -> list[CapabilitySpec]:
    return connection_specs({name: read.value for name, read in draft.connections.items()})


def _read_entry(draft: Draft, where: PurePosixPath) -> None:
    kind, path = where.parts[0], str(where)
    if where.suffix == ".md" or (kind == METRICS and where.suffix == ".py"):
        return
    if where.suffix != ".yaml":
        draft.faults.append(Fault(path, 0, f"Files in {kind}/ end in .yaml."))
        return
    source = read_file(draft, path)
    if source is None:
        return
    match kind:
        case "metrics":
            read_metric(draft, where.stem, source)
        case "sensors":
            _read_sensor(draft, where.stem, source)
        case "rules":
            _read_rule(draft, where.stem, source)
    draft.faults += source.faults


def _read_behaviour(draft: Draft, where: PurePosixPath) -> None:
    kind = KINDS.get(where.parts[1]) if len(where.parts) == 3 else None
    if kind is None or where.suffix != ".yaml":
        if where.suffix != ".md":
            hint = "It holds strategies/NAME.yaml and chains/NAME.yaml; rules stand in rules/."
            draft.faults.append(Fault(str(where), 0, "Nothing reads this.", hint))
        return
    source = read_file(draft, str(where))
    if source is None:
        return
    entry: StrategyFile | ChainFile | None
    if kind is BehaviourKind.STRATEGY:
        entry = read_as(StrategyFile, source, source.value)
    else:
        entry = read_as(ChainFile, source, source.value)
    if not _NAME.fullmatch(where.stem):
        source.faults.append(source.fault((), f"`{where.stem}` is no name.", "Letters, digits and hyphens: ask-first."))
    elif entry is not None:
        draft.behaviours.append(entry.behaviour(where.stem))
    draft.faults += source.faults


def _read_knowledge(draft: Draft) -> None:
    """Read what is written down; what can be opened must be there, how well it reads is for `silicon memory lint`."""
    texts = {}
    for path in filter(is_knowledge, draft.files.names()):
        try:
            texts[path] = text_of_file(draft.files, path)
        except FileRefused as refused:
            draft.faults.append(fault_of(path, refused))
    draft.knowledge, faults = read_tree(texts)
    faults += dangling(draft.knowledge, texts)
    draft.faults += [Fault(each.file, each.line, each.what, each.hint) for each in faults]


def _read_sensor(draft: Draft, name: str, source: YamlSource) -> None:
    sensor = read_sensor(name, source)
    if sensor is not None:
        draft.sensors[name] = Read(sensor, source)


def _read_rule(draft: Draft, name: str, source: YamlSource) -> None:
    entry = read_as(RuleFile, source, source.value)
    if entry is None:
        return
    policy: Policy = entry.policy(name)
    draft.rules[name] = Read(policy, source)
