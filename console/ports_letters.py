"""What a face needs of the product to see to dead letters: events that a group of the bus could not handle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from contracts import Event
from runtime.bus import DeadLetter


class Letters(Protocol):
    """The part of `Application` for the operator of the bus. It needs the ledger alone, so it works without Redis."""

    async def dead_letters(self, group: str | None) -> Sequence[DeadLetter]:
        """Return the dead letters of a group, or of all groups, oldest first."""
        ...

    async def dead_letter(self, group: str, position: int) -> tuple[DeadLetter, Event | None]:
        """Return one dead letter and its event; None in the place of one that was pruned since.

        Raises:
            NotFound: the group has no such dead letter.
        """
        ...

    async def retry_dead_letter(self, group: str, position: int) -> None:
        """Give a dead letter to its group once more, with all its tries, wherever its members are.

        Raises:
            NotFound: the group has no such dead letter.
        """
        ...

    async def drop_dead_letter(self, group: str, position: int, *, reason: str) -> None:
        """Let a group have a dead letter no more, for good. The event stays in the ledger.

        Raises:
            NotFound: the group has no such dead letter.
        """
        ...
