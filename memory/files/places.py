"""Where the files of memories lie, below `memory/ORGANISATION` of the home folder; only their owner may read them.

CURRENT.md                what holds for the business today
business/preferences.md   its memories, a file for each class
business/archive/…        those that faded
agents/NAME/…, people/ID/…
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from contracts import HolderKind, MemoryClass, MemoryHolder, Name

FOLDER = "memory"
"""Below the home folder."""
ARCHIVE, CURRENT, WRITTEN = "archive", "CURRENT.md", ".written.json"
FILES: Mapping[MemoryClass, str] = {
    MemoryClass.RULE: "rules.md",
    MemoryClass.DECISION: "decisions.md",
    MemoryClass.PREFERENCE: "preferences.md",
    MemoryClass.FACT: "facts.md",
    MemoryClass.TASK: "tasks.md",
    MemoryClass.SESSION: "sessions.md",
    MemoryClass.OTHER: "notes.md",
}
"""Class → its file, in the order in which people read them."""
CLASSES = {file: class_ for class_, file in FILES.items()}
_FOLDERS = {HolderKind.AGENT: "agents", HolderKind.PERSON: "people"}
_LONGEST = 60


def root_of(home: Path, organisation: Name) -> Path:
    """Return the folder of an organisation's memories."""
    return home / FOLDER / organisation


def folder_of_holder(root: Path, holder: MemoryHolder) -> Path:
    """Return the folder of a holder."""
    if holder.kind is HolderKind.BUSINESS:
        return root / "business"
    return root / _FOLDERS[holder.kind] / safe_name(holder.name)


def current_file(root: Path, holder: MemoryHolder) -> Path:
    """Return where it stands what holds for somebody: for the business on top of everything."""
    return (root if holder.kind is HolderKind.BUSINESS else folder_of_holder(root, holder)) / CURRENT


def holder_folders(root: Path) -> Iterator[Path]:
    """Yield the folders of all holders that have one."""
    yield from (each for each in (root / "business",) if each.is_dir())
    for kind in _FOLDERS.values():
        yield from sorted(each for each in (root / kind).glob("*") if each.is_dir())


def memory_files(folder: Path) -> Iterator[Path]:
    """Yield the files of memories in a holder's folder that are there, those of the archive last."""
    for place in (folder, folder / ARCHIVE):
        yield from (file for name in FILES.values() if (file := place / name).is_file())


def safe_name(name: str) -> str:
    """Return a name as that of a folder on any disk; never the same for two."""
    plain = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")[:_LONGEST]
    if plain == name and not re.search(r"-[0-9a-f]{12}$", name):
        return plain
    return f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"


def write_private(path: Path, content: str) -> None:
    """Write a file whole or not at all; nobody but its owner may read it, nor look into its folder."""
    make_private(path.parent)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are not there, for their owner alone."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def read_text(path: Path) -> str | None:
    """Return what a file says; None where it is not there. What is no UTF-8 is kept so that it can be told."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
