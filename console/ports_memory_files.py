"""What a face needs of memories in files; part of the port `Application`."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from console.views_memory_files import FilesTaken, FilesWritten


class MemoryFilesPort(Protocol):
    """Memories as Markdown files below the home folder, each by the rights of whoever acts."""

    async def export_memories(self, folder: Path, *, by: str | None, overwrite: bool = False) -> FilesWritten:
        """Write the memories that a person may see into files; with `overwrite` also over edits.

        Raises:
            FilesBusy: somebody else has the files.
        """
        ...

    async def import_memories(self, folder: Path, *, by: str | None, withdraw_missing: bool = False) -> FilesTaken:
        """Take in what was edited in the files of memories that a person may see; what cannot be taken in is told.

        Raises:
            FilesBusy: somebody else has the files.
        """
        ...
