"""What is wrong in a knowledge folder, with file and line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class KnowledgeFault:
    """One thing, and where."""

    file: str
    """Below the organisation's folder."""
    line: int
    """From 1; 0 for the file as a whole."""
    what: str
    hint: str = ""
    """How to mend it."""
    grave: bool = True
    """Whether it has to be mended; else it is only listed."""
