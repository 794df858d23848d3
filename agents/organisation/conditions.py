"""Conditions and bindings in files: what cannot be read, at its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agents.organisation.declared import nearest
from agents.organisation.draft import Read
from agents.organisation.fault import Fault
from agents.organisation.yaml_source import Path
from contracts import ValueType
from runtime.bindings import BindingFault, reference_of
from runtime.expressions import ExpressionFault, compile_condition


def condition_fault(read: Read[Any], path: Path, condition: str, variables: Mapping[str, ValueType]) -> Iterator[Fault]:
    """Yield what is wrong with one condition over these variables."""
    try:
        compile_condition(condition, variables)
    except ExpressionFault as fault:
        at = f" (column {fault.column})" if fault.column > 1 else ""
        yield read.fault(path, f"`{condition}`: {fault.message}{at}")


def binding_fault(read: Read[Any], path: Path, text: str, there: set[str]) -> Iterator[Fault]:
    """Yield what is wrong with the inside of one binding."""
    try:
        root = reference_of(text).root
    except BindingFault as fault:
        yield read.fault(path, str(fault))
        return
    if root not in there:
        yield read.fault(path, f"There is no `{root}` to put into `{{{{ {text} }}}}`.", nearest(root, there))
