"""One fault of a plan, with its place inside the plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class PlanFault:
    """Something that would go wrong when the plan runs."""

    path: Path
    """Where in the plan, by the names used in the file: `("steps", 2, "with", "sql")`."""
    message: str
    """What is wrong."""
    hint: str = ""
    """How to mend it, where that is known."""
    missing: str = ""
    """The capability or skill that there is not, where that is the fault."""
