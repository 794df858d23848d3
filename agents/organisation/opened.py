"""One YAML file of an organisation, opened."""

from __future__ import annotations

from agents.organisation.draft import Draft
from agents.organisation.fault import Fault
from agents.organisation.files import FileRefused, fault_of, text_of_file
from agents.organisation.yaml_source import YamlSource, read_yaml


def read_file(draft: Draft, name: str) -> YamlSource | None:
    """Return one YAML file with positions; what YAML finds wrong is noted already."""
    if name not in draft.files.names():
        draft.faults.append(Fault(name, 0, "The file is missing."))
        return None
    try:
        text = text_of_file(draft.files, name)
    except FileRefused as refused:
        draft.faults.append(fault_of(name, refused))
        return None
    return read_yaml(name, text)
