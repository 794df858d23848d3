"""What a face needs of rules; part of the port `Application`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from console.views_rules import RefusedActions, RuleRow


class Rules(Protocol):
    """The rules of an organisation."""

    async def rules(self, folder: Path) -> Sequence[RuleRow]:
        """Return the rules of a folder as they stand now, by name, their examples run.

        Faults elsewhere in the folder do not matter.

        Raises:
            OrganisationFaulty: a rule cannot be read.
        """
        ...

    async def refused(self, folder: Path, *, last: int) -> RefusedActions:
        """Return what the rules of an organisation refused: how often each, and the `last` ones, the newest first."""
        ...
