"""What a face needs of memories; part of the port `Application`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from console.views_memories import (
    MemoriesFound,
    MemoryChange,
    MemoryCycle,
    MemoryPage,
    MemoryRow,
    MemoryWritten,
)  # fmt: skip
from contracts import MemoryClass, MemoryId, MemoryKind, MemoryState, Name


@dataclass(frozen=True, slots=True)
class Asked:
    """Which memories somebody asks for; what is empty leaves all in that they may see."""

    states: Sequence[MemoryState] = (MemoryState.ACTIVE,)
    kinds: Sequence[MemoryKind] = ()
    classes: Sequence[MemoryClass] = ()
    domains: Sequence[Name] = ()
    """Those of these domains and of none; empty: of every domain."""
    whose: str | None = None
    """`me`, `business`, or the name of an employee."""
    entities: Sequence[str] = ()


class MemoryMove(StrEnum):
    """What a person may do with a memory."""

    WITHDRAW = "withdraw"
    RESTORE = "restore"
    ARCHIVE = "archive"
    UNDO = "undo"
    CONFIRM = "confirm"
    """Let what is disputed hold, in the place of what it contradicts."""
    ERASE = "erase"


class MemoriesPort(Protocol):
    """The memories of an organisation.

    A person sees their own and the business's, whoever operates the organisation those of its employees as well;
    nobody sees another person's. What may not be seen is not there. `by` is who acts, else the system user.
    """

    async def memories(
        self, folder: Path, asked: Asked, *, by: str | None, after: MemoryId | None = None, limit: int = 100
    ) -> MemoryPage:
        """Return memories, oldest first.

        Raises:
            InvalidArguments: nobody is called as `whose` says.
        """
        ...

    async def memory(
        self, folder: Path, memory_id: MemoryId, *, by: str | None
    ) -> tuple[MemoryRow, Sequence[MemoryChange]]:
        """Return one memory with everything that happened to it; raise NotFound."""
        ...

    async def memory_ids(self, folder: Path, *, by: str | None) -> Sequence[MemoryId]:
        """Return the ids of all memories that may be seen, whatever their state, oldest first."""
        ...

    async def search_memories(
        self, folder: Path, query: str, asked: Asked, *, by: str | None, top: int | None = None
    ) -> MemoriesFound:
        """Return the memories that fit a question best, with why; they count as read."""
        ...

    async def write_memory(
        self, folder: Path, text: str, *, by: str | None, whose: str = "me",
        memory_class: MemoryClass | None = None, domain: Name | None = None, about: Sequence[str] = (),
        entities: Sequence[str] = (), importance: float = 0.7,
    ) -> MemoryWritten:  # fmt: skip
        """Write something down, unless it is known or contradicts a key decision.

        Args:
            folder: the organisation.
            text: what is to be remembered.
            by: who says it.
            whose: `me`, `business`, or the name of an employee.
            memory_class: how fast it fades; absent: what its words tell, else a fact.
            domain: its business domain.
            about: subject, relation and value, for what another memory may contradict.
            entities: names in it.
            importance: 0 to 1.

        Raises:
            InvalidArguments: it cannot be remembered so.
            PermissionRefused: memories of the business and of employees are written by whoever operates it.
        """
        ...

    async def correct_memory(
        self, folder: Path, memory_id: MemoryId, changed: Mapping[str, object], *, by: str | None,
        version: int | None = None, reason: str = "",
    ) -> MemoryRow:  # fmt: skip
        """Write a new version of what a memory says.

        Raises:
            NotFound, MemoryPast, PermissionRefused, InvalidArguments: it is not done.
            VersionConflict: it has another version than `version` by now.
        """
        ...

    async def move_memory(
        self, folder: Path, memory_id: MemoryId, move: MemoryMove, *, by: str | None, reason: str = ""
    ) -> MemoryRow | None:
        """Do something with a memory; None once its words are gone. Raises as `correct_memory`."""
        ...

    async def remember_turns(self, folder: Path) -> Sequence[MemoryWritten]:
        """Take in what people said in conversations since the last time."""
        ...

    async def hold_memory_cycle(self, folder: Path) -> MemoryCycle:
        """Hold today's cycle: what faded for days in a row is archived."""
        ...

    async def rebuild_memories(self) -> int:
        """Make what is derived again from the ledger, the table and the pages CURRENT.md; return how many there are."""
        ...
