"""Faults of an organisation folder, all of them at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from contracts import Json


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One thing that is wrong, and where."""

    file: str
    """Path inside the folder."""
    line: int
    """From 1; 0 for the file as a whole."""
    what: str
    """What is wrong, in one sentence."""
    hint: str = ""
    """How to mend it."""

    def to_json(self) -> dict[str, Json]:
        """Return the fault as it stands in errors and machine-readable output."""
        return {"file": self.file, "line": self.line, "what": self.what, "hint": self.hint}


@dataclass(frozen=True, slots=True)
class Report:
    """What checking a folder found."""

    folder: Path
    faults: tuple[Fault, ...] = ()
    """In order of file and line."""

    @classmethod
    def of(cls, folder: Path, faults: Iterable[Fault]) -> Report:
        """Return the report of these faults, each once."""
        return cls(folder, tuple(sorted(set(faults))))

    @property
    def ok(self) -> bool:
        """Whether the organisation may run."""
        return not self.faults

    def text(self) -> str:
        """Return the report for people, one fault a line with its hint below."""
        lines: list[str] = []
        for fault in self.faults:
            place = f"{self.folder.name}/{fault.file}" + (f":{fault.line}" if fault.line else "")
            lines.append(f"{place}  {fault.what}")
            if fault.hint:
                lines.append(f"  {fault.hint}")
        count = len(self.faults)
        counted = f"{count} {'fault' if count == 1 else 'faults'}. Nothing was run."
        lines.append(counted if count else "No faults.")
        return "\n".join(lines)
