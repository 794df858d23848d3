"""What the faces show of memories in files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from contracts import MemoryId


@dataclass(frozen=True, slots=True)
class FilesWritten:
    """Memories as they were written into files."""

    folder: Path
    written: Sequence[Path]
    """Files that say something else than before, below the folder."""
    same: int
    """Files that said it already."""
    edited: Sequence[Path]
    """Files with edits that nobody imported: they were left alone."""
    memories: int


@dataclass(frozen=True, slots=True)
class EntryTaken:
    """What became of one entry of a file."""

    became: str
    """`changed`, `added`, `replaces`, `disputed`, `known`, `missing`, `withdrawn`, `conflict` or `fault`."""
    file: str
    """Below the folder."""
    line: int
    """From 1; 0 for what stands in no file."""
    memory_id: MemoryId | None
    why: str
    edited: str
    """What the file says."""
    stands: str
    """What the memory says."""


@dataclass(frozen=True, slots=True)
class FilesTaken:
    """What became of files that people edited."""

    folder: Path
    entries: Sequence[EntryTaken]
    untouched: int
    counts: Mapping[str, int]
    """What became of entries → how many."""
