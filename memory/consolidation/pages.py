"""AUTO-MEMORY.md: what is told of each shelf, as a page below its holder's folder. Derived, and made again at will."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from contracts import Name
from memory.consolidation.consolidator import Consolidator
from memory.consolidation.lines import current, page, within
from memory.consolidation.shelf import Shelf
from memory.files.places import folder_of_holder, holder_folders, read_text, root_of, safe_name, write_private
from runtime.settings import MemorySettings

FILE, PROJECTS = "AUTO-MEMORY.md", "projects"
_NOTE = "<!-- Made from the memories that hold; edits are lost. Correct a memory instead. -->"


class AutoMemoryPages:
    """Those of one organisation, below one home folder."""

    def __init__(self, consolidator: Consolidator, organisation: Name, settings: MemorySettings, home: Path) -> None:
        self._consolidator = consolidator
        self._settings = settings
        self._root = root_of(home, organisation)

    async def write(self, now: datetime) -> int:
        """Write a page for each shelf that was told, and take away those of others; return how many there are."""
        wanted: dict[Path, str] = {}
        for shelf, kept in (await self._consolidator.kept.all()).items():
            lines, _ = current(kept.lines, await self._consolidator.records(shelf), now, self._settings)
            head = f"# {shelf.title}\n\n{_NOTE}\n\n"
            told, _ = within(lines, self._settings.auto_chars - len(head) - 1)
            if told:
                wanted[self.path(shelf)] = f"{head}{page(told)}\n"
        await asyncio.to_thread(self._write, wanted)
        return len(wanted)

    def path(self, shelf: Shelf) -> Path:
        """Return where the page of a shelf stands."""
        folder = folder_of_holder(self._root, shelf.holder)
        if shelf.is_global:
            return folder / FILE
        return folder / PROJECTS / safe_name(" ".join((shelf.domain or "", shelf.project or ""))) / FILE

    def _write(self, wanted: Mapping[Path, str]) -> None:
        for folder in holder_folders(self._root):
            for path in (folder / FILE, *folder.glob(f"{PROJECTS}/*/{FILE}")):
                if path not in wanted:
                    path.unlink(missing_ok=True)
        for path, text in wanted.items():
            if read_text(path) != text:
                write_private(path, text)
