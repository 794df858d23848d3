"""What a face needs of auto memory; part of the port `Application`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from console.views_auto_memory import AutoMemoryPage, ShelfTold
from contracts import Name


class AutoMemoryPort(Protocol):
    """What is remembered, told as a whole."""

    async def auto_memory(
        self, folder: Path, *, by: str | None, employee: Name | None = None, domains: Sequence[Name] = (),
        projects: Sequence[Name] = (),
    ) -> Sequence[AutoMemoryPage]:  # fmt: skip
        """Return what a conversation of a person begins with: the project's page, then the general one.

        Args:
            folder: the organisation.
            by: the person; absent, the machine's own account, of which nobody's own memories are told.
            employee: with whom; absent: with nobody in particular. Their own memories are shown to operators alone.
            domains: those that it is about; of others nothing is told.
            projects: the same.

        Raises:
            InvalidArguments: there is no such employee.
            NotFound: what the employee remembers may not be seen.
        """
        ...

    async def consolidate_memories(self, folder: Path, *, by: str | None) -> Sequence[ShelfTold]:
        """Tell anew, of what a person may see, where something was written or forgotten since it was told.

        Servers do it by themselves, for everybody.
        """
        ...
