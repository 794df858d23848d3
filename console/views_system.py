"""What the faces show of the ledger and of the machine: audit, database, and what `silicon doctor` looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from console.views import Fault


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """One row of the ledger that does not fit its chain."""

    stream: str
    version: int
    position: int | None
    what: str


@dataclass(frozen=True, slots=True)
class AuditResult:
    """What `silicon audit verify` found."""

    events: int
    """The greatest position."""
    faults: tuple[AuditFinding, ...] = ()
    pruned: int = 0
    """Events of these that were pruned, each behind a tombstone that accounts for it."""


@dataclass(frozen=True, slots=True)
class DatabaseStatus:
    """Which database, and whether its schema is the program's."""

    address: str
    """Without its password."""
    revision: str | None
    """None for a database without tables."""
    newest: str
    """The revision of this program."""

    @property
    def current(self) -> bool:
        """Whether the schema is the one this program works with."""
        return self.revision == self.newest


class Health(StrEnum):
    """What `silicon doctor` says of one thing."""

    GOOD = "good"
    NOTE = "note"
    """Works, with a limit that is worth knowing."""
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Examined:
    """One thing `silicon doctor` looked at."""

    name: str
    health: Health
    what: str
    mend: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    """Of an organisation folder."""
    parts: tuple[str, ...] = ()
    """What it consists of, shown below it, one a line."""
