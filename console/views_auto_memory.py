"""What the faces show of auto memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contracts import MemoryHolder, MemoryId, Name


@dataclass(frozen=True, slots=True)
class AutoMemoryPage:
    """One page of what is remembered."""

    kind: str
    """`project`, `global`, or `raw` where nothing was consolidated yet."""
    text: str
    """Markdown."""
    sources: Sequence[MemoryId]
    """The memories that it rests on."""
    left_out: int
    """Lines for which there was no room."""


@dataclass(frozen=True, slots=True)
class ShelfTold:
    """What came of telling memories of one holder, domain and project anew."""

    holder: MemoryHolder
    domain: Name | None
    project: Name | None
    outcome: str
    """`told`, `unchanged`, `busy` (another process is at it), `unfinished` (the model is away)."""
    lines: int
    requests: int
    """To a model."""
    tokens: int
    """In and out."""
    faults: Sequence[str]
    """Why parts of what a model wrote were not used."""
