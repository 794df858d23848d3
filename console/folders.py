"""Folders as people name them."""

from __future__ import annotations

from pathlib import Path

from agents.organisation import Report
from console.views import Fault

CONNECTIONS = "connections.yaml"
"""The file of an organisation that says what it is connected to."""


def folder_of(named: Path) -> Path:
    """Return the folder that a person named, absolute, so that it means the same from everywhere."""
    return named.expanduser().resolve()


def told_faults(report: Report) -> tuple[Fault, ...]:
    """Return the faults of a folder as faces show them."""
    return tuple(Fault(fault.file, fault.line or None, fault.what, fault.hint) for fault in report.faults)
