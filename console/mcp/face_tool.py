"""One tool that is shown to agents of others: declared as MCP wants it, carried out by the application's ports."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from console.ports import Application
from contracts import Json
from runtime.errors import InvalidArguments
from runtime.schema import fault_of

if TYPE_CHECKING:
    from governance.access import Sight


@dataclass(frozen=True, slots=True)
class Caller:
    """For whom a tool is called: it can do what that person can do, and see what they see."""

    application: Application
    folder: Path
    """The organisation."""
    person: str
    """Whose token the other agent bears."""
    sight: Sight | None = None
    """What they may see of work; None: what the system user may."""


@dataclass(frozen=True, slots=True)
class FaceTool:
    """A tool."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    """JSON Schema of its arguments."""
    reads: bool
    """Whether it changes nothing."""
    carry_out: Callable[[Caller, Mapping[str, Any]], Awaitable[Json]]

    async def call(self, caller: Caller, arguments: Mapping[str, Any]) -> Json:
        """Return what it gives, as structured content.

        Raises:
            InvalidArguments: the arguments do not fit its schema.
            SiliconError: it cannot be done; the message is for the other agent to read.
        """
        if fault := fault_of(dict(arguments), self.input_schema):
            raise InvalidArguments(f"{self.name}: {fault}", tool=self.name)
        return await self.carry_out(caller, arguments)
