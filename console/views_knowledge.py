"""What the faces show of knowledge folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KnowledgeFinding:
    """One thing that is wrong, or listed."""

    file: str
    line: int
    what: str
    hint: str
    grave: bool


@dataclass(frozen=True, slots=True)
class KnowledgeLinted:
    """What a lint found."""

    findings: Sequence[KnowledgeFinding]
    files: int
    entries: int
    bodies: int
    mended: int = 0
    """Things that were mended before."""

    @property
    def failed(self) -> bool:
        """Whether anything has to be mended."""
        return any(each.grave for each in self.findings)


@dataclass(frozen=True, slots=True)
class KnowledgePlaced:
    """Where something belongs."""

    layer: str
    """`resident`, `body` or `log`."""
    why: str
    in_full: bool
    """Whether nothing of it may be shortened."""
    path: str = ""
    """The file in which it stands now; empty where it was not written."""
    index: str = ""
    """The file with its entry."""
