"""What the shared blackboard of an execution promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from contracts import Json, Name, StepId
from runtime.ledger.port import Append


@dataclass(frozen=True, slots=True)
class Entry:
    """One value of the board, with who wrote it."""

    key: str
    value: Json
    version: int
    employee: Name
    step: StepId


class Blackboard(Protocol):
    """Typed, attributed values, one stream for each key, written by compare-and-set."""

    async def read(self, key: str) -> Entry | None:
        """Return the value now, or None when the key was never written."""
        ...

    async def entries(self) -> Mapping[str, Entry]:
        """Return all values, by key."""
        ...

    def write(self, key: str, value: Json, *, expected_version: int, employee: Name, step: StepId) -> Append:
        """Return the append that writes the value; the ledger refuses it when the key moved on.

        Raises:
            InvalidArguments: the value is larger than the setting allows, or the key is not a name.
        """
        ...
