"""The capabilities every organisation has."""

from __future__ import annotations

from runtime.capabilities import blackboard, files, python_code, shell
from runtime.capabilities.blackboard import ReadBlackboard, WriteBlackboard
from runtime.capabilities.browser import specs as browser
from runtime.capabilities.files import ListFiles, ReadFile, WriteFile
from runtime.capabilities.port import Capability, CapabilitySpec
from runtime.capabilities.python_code import PythonCode
from runtime.capabilities.shell import Shell
from runtime.capabilities.specs import connection_specs
from runtime.capabilities.web.specs import web_specs
from runtime.settings import SlotSettings

__all__ = ["builtin_capabilities", "builtin_specs", "connection_specs"]


def builtin_specs() -> list[CapabilitySpec]:
    """Return the declarations of what every organisation has."""
    return [
        python_code.SPEC, python_code.ONLINE_SPEC, shell.SPEC, files.WRITE, files.READ, files.LIST, blackboard.READ,
        blackboard.WRITE, *browser.SPECS, *web_specs(()),
    ]  # fmt: skip


def builtin_capabilities(slot: SlotSettings) -> list[Capability]:
    """Return what every organisation has, beside the browser and `http`, which depend on its connections."""
    programs: list[Capability] = [PythonCode(slot), PythonCode(slot, online=True), Shell(slot)]
    return [*programs, WriteFile(slot), ReadFile(slot), ListFiles(), ReadBlackboard(), WriteBlackboard()]
