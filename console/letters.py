"""Dead letters of the bus, as an operator sees to them. They are events of the ledger; no broker is needed."""

from __future__ import annotations

from collections.abc import Sequence

from console.resources import Resources
from console.system_user import system_user
from contracts import Event
from runtime.bus import DeadLetter
from runtime.bus.dead import dead_letter, dead_letters, drop, event_of, send_again
from runtime.ledger.port import Ledger


class Letters:
    """The port `Letters`."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    async def dead_letters(self, group: str | None) -> Sequence[DeadLetter]:
        """Return the dead letters of a group, or of all groups, oldest first."""
        return await dead_letters(await self._ledger(), group)

    async def dead_letter(self, group: str, position: int) -> tuple[DeadLetter, Event | None]:
        """Return one dead letter and its event."""
        ledger = await self._ledger()
        return await dead_letter(ledger, group, position), await event_of(ledger, position)

    async def retry_dead_letter(self, group: str, position: int) -> None:
        """Give a dead letter to its group once more."""
        await send_again(await self._ledger(), group, position, by=system_user())

    async def drop_dead_letter(self, group: str, position: int, *, reason: str) -> None:
        """Let a group have a dead letter no more."""
        await drop(await self._ledger(), group, position, by=system_user(), reason=reason)

    async def _ledger(self) -> Ledger:
        return (await self._resources.store()).ledger
