"""What was written into the files of a holder: by it an edit is told from what was there, and a memory from one that
somebody took out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from contracts import MemoryId
from memory.files.places import WRITTEN, read_text, write_private
from runtime.canonical import sha256


@dataclass(slots=True)
class WrittenFile:
    """One file as it was last written."""

    sha256: str
    entries: list[MemoryId] = field(default_factory=list)
    """The memories in it."""


class WrittenFiles:
    """Those of one holder's folder. Lost, nothing counts as taken out, and every file as edited."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = _read(folder / WRITTEN)

    def get(self, name: str) -> WrittenFile | None:
        """Return what was written as a file."""
        return self._files.get(name)

    @property
    def names(self) -> Sequence[str]:
        """The files that were written."""
        return list(self._files)

    def is_edited(self, name: str) -> bool:
        """Whether a file that is there is not as it was last written."""
        content = read_text(self._folder / name)
        known = self._files.get(name)
        return content is not None and (known is None or known.sha256 != sha256(content.encode()))

    def write(self, name: str, content: str, entries: Sequence[MemoryId]) -> bool:
        """Write a file; return whether it was not so already."""
        same = read_text(self._folder / name) == content
        if not same:
            write_private(self._folder / name, content)
        self.note(name, content, entries)
        return not same

    def note(self, name: str, content: str | None, entries: Iterable[MemoryId]) -> None:
        """Note how a file stands; None for content that nobody may write over."""
        self._files[name] = WrittenFile("" if content is None else sha256(content.encode()), list(entries))

    def remove(self, name: str) -> None:
        """Take a file away."""
        (self._folder / name).unlink(missing_ok=True)
        self._files.pop(name, None)

    def save(self) -> None:
        """Keep it."""
        told: Mapping[str, object] = {
            name: {"sha256": each.sha256, "entries": [entry.ulid for entry in each.entries]}
            for name, each in self._files.items()
        }
        content = json.dumps({"files": told})
        if content != read_text(self._folder / WRITTEN):
            write_private(self._folder / WRITTEN, content)


def _read(path: Path) -> dict[str, WrittenFile]:
    try:
        told = json.loads(path.read_bytes())["files"]
        return {
            str(name): WrittenFile(
                str(each["sha256"]), [MemoryId(f"{MemoryId.KIND}/{ulid}") for ulid in each["entries"]]
            )
            for name, each in told.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
