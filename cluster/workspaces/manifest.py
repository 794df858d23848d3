"""A manifest: which files a folder holds, by path, each with the hash of its bytes. Bytes lie in the blob store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from runtime.canonical import sha256

WORKSPACE = "workspace"
"""Folder of the slot in which the files of an employee that owns a workspace lie."""
LONGEST = 1_024
DEEPEST = 16
"""Letters and parts of a path, as for `files.write`."""

LINK, SPECIAL, SECOND_NAME = "link", "special file", "second name of a file"
TOO_LARGE, TOO_MUCH, TOO_MANY = "too large", "too much together", "too many"
UNREADABLE, UNNAMEABLE = "cannot be read", "name cannot be kept"
HARMLESS = frozenset({SPECIAL})
"""Why something stays behind that holds nothing a later step could miss: sockets and pipes end with their program."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What lies at one path: a file with its bytes, an empty folder, or something that cannot leave the slot."""

    sha256: str | None = None
    """Of the bytes, which lie in the blob store under it; None where there are none."""
    size: int = 0
    """Bytes."""
    mode: int = 0o644
    """Permission bits of a file."""
    left: str | None = None
    """Why it stays behind in the slot: it is known by name, and gone with the slot."""

    @property
    def is_file(self) -> bool:
        """Whether its bytes are kept."""
        return self.sha256 is not None

    def to_data(self, path: str) -> dict[str, Any]:
        """Return it as it stands in an event."""
        if self.left is not None:
            return {"path": path, "left": self.left}
        if self.sha256 is None:
            return {"path": path, "folder": True}
        return {"path": path, "sha256": self.sha256, "size": self.size, "mode": self.mode}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Entry:
        """Return what `to_data` wrote."""
        if "left" in data:
            return cls(left=data["left"])
        return FOLDER if data.get("folder") else cls(data["sha256"], data["size"], data["mode"])


FOLDER = Entry()
Manifest: TypeAlias = dict[str, Entry]
"""Path → what lies there; a folder that holds something is told by what it holds."""


@dataclass(frozen=True, slots=True)
class Delta:
    """What became of a folder between two looks."""

    changed: Mapping[str, Entry]
    removed: Mapping[str, Entry]
    """Path → what lay there before."""

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed)

    def below(self, folder: str) -> Delta:
        """Return the part of it below a folder, with paths from there."""
        start = f"{folder}/"
        return Delta(_without(self.changed, start), _without(self.removed, start))


def between(before: Mapping[str, Entry], now: Mapping[str, Entry]) -> Delta:
    """Return what leads from one manifest to the other."""
    changed = {path: entry for path, entry in now.items() if before.get(path) != entry}
    return Delta(changed, {path: entry for path, entry in before.items() if path not in now})


def apply(manifest: Manifest, delta: Delta) -> None:
    """Bring the manifest to where the delta leads."""
    for path in delta.removed:
        manifest.pop(path, None)
    manifest.update(delta.changed)


def manifest_sha256(manifest: Mapping[str, Entry]) -> str:
    """Return the hash of the whole manifest; the same files have the same one, wherever they lie."""
    return sha256([*to_data(manifest)])


def to_data(entries: Mapping[str, Entry]) -> list[Any]:
    """Return entries as they stand in an event, by path."""
    return [entries[path].to_data(path) for path in sorted(entries)]


def from_data(entries: Iterable[Mapping[str, Any]]) -> Manifest:
    """Return what `to_data` wrote."""
    return {entry["path"]: Entry.from_data(entry) for entry in entries}


def is_path(path: str) -> bool:
    """Whether a path stays below its folder, and is short and shallow enough to be kept."""
    parts = path.split("/")
    fits = 0 < len(path) <= LONGEST and len(parts) <= DEEPEST and "\0" not in path and "\\" not in path
    return fits and not any(part in ("", ".", "..") or len(part.encode(errors="replace")) > 255 for part in parts)


def _without(entries: Mapping[str, Entry], start: str) -> Manifest:
    return {path.removeprefix(start): entry for path, entry in entries.items() if path.startswith(start)}
