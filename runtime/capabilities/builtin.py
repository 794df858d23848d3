"""The capabilities every organisation has."""

from __future__ import annotations

from runtime.capabilities import blackboard, files, python_code
from runtime.capabilities.blackboard import ReadBlackboard, WriteBlackboard
from runtime.capabilities.files import ListFiles, ReadFile, WriteFile
from runtime.capabilities.port import Capability, CapabilitySpec
from runtime.capabilities.python_code import PythonCode
from runtime.capabilities.specs import connection_specs
from runtime.settings import SlotSettings

__all__ = ["builtin_capabilities", "builtin_specs", "connection_specs"]


def builtin_specs() -> list[CapabilitySpec]:
    """Return the declarations of what every organisation has."""
    return [python_code.SPEC, files.WRITE, files.READ, files.LIST, blackboard.READ, blackboard.WRITE]


def builtin_capabilities(slot: SlotSettings) -> list[Capability]:
    """Return what every organisation has."""
    return [PythonCode(slot), WriteFile(slot), ReadFile(slot), ListFiles(), ReadBlackboard(), WriteBlackboard()]
