"""Writes the memories of holders into their files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from contracts import MemoryHolder, MemoryRecord, MemoryState
from memory.files.entries import write_entries
from memory.files.lock import held
from memory.files.places import ARCHIVE, FILES, folder_of_holder
from memory.files.written import WrittenFiles
from memory.records.port import Memories, MemoryFilter

_TITLES = {name: name.removesuffix(".md").capitalize() for name in FILES.values()}


@dataclass(slots=True)
class Exported:
    """What was written."""

    written: list[Path] = field(default_factory=list)
    """Files that say something else than before."""
    same: int = 0
    """Files that said it already."""
    edited: list[Path] = field(default_factory=list)
    """Files that somebody edited and nobody imported: they were left alone."""
    memories: int = 0


async def export(
    memories: Memories, holders: Sequence[MemoryHolder], root: Path, *, overwrite: bool = False
) -> Exported:
    """Write what holds and what is archived, a file for each class; with `overwrite` also over edits.

    Raises:
        FilesBusy: somebody else has the files.
    """
    exported = Exported()
    async with held(root):
        for holder in holders:
            await _export(memories, holder, folder_of_holder(root, holder), exported, overwrite)
    return exported


async def _export(
    memories: Memories, holder: MemoryHolder, folder: Path, exported: Exported, overwrite: bool
) -> None:  # fmt: skip
    files: dict[str, list[MemoryRecord]] = {}
    for state, place in ((MemoryState.ACTIVE, ""), (MemoryState.ARCHIVED, f"{ARCHIVE}/")):
        for record in await memories.find(MemoryFilter(states=(state,), holders=(holder,), every_domain=True)):
            files.setdefault(place + FILES[record.memory_class], []).append(record)
    written = WrittenFiles(folder)
    for name in {**files, **dict.fromkeys(written.names)}:
        path, records = folder / name, files.get(name, [])
        if not overwrite and written.is_edited(name):
            exported.edited.append(path)
        elif not records:
            written.remove(name)
        else:
            exported.memories += len(records)
            content = write_entries(_title(name, holder), records)
            if written.write(name, content, [record.memory_id for record in records]):
                exported.written.append(path)
            else:
                exported.same += 1
    if files or written.names:
        written.save()


def _title(name: str, holder: MemoryHolder) -> str:
    archived = ", archived" if name.startswith(ARCHIVE) else ""
    return f"{_TITLES[name.rpartition('/')[2]]} of {holder.name}{archived}"
