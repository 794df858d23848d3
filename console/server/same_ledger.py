"""A server works on one ledger of one schema. Another one in its place is noticed, and ends the server.

What a process remembers (positions up to which readers were told, names behind numbers, what it has in hand) means
nothing in another ledger, or in the same one at an earlier moment. Writing on would mix two histories, and what is
written to a file that was removed is lost with the process. A schema that was brought up to date under a server belongs
to a newer program, whose events this one may not understand.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from console.server.errors import LedgerReplaced
from contracts import Event
from runtime.errors import LedgerError

if TYPE_CHECKING:
    from runtime.ledger.store import SqlStore


class SameLedger:
    """Tells whether a ledger is still the one that it was.

    Args:
        file: the database itself where it is embedded.
    """

    def __init__(self, store: SqlStore, file: Path | None) -> None:
        self._store = store
        self._ledger = store.ledger
        self._address = store.address
        self._file = file
        self._identity = _identity(file)
        self._newest: Event | None = None
        self._revision: str | None = None

    async def watch(self, every_s: float) -> None:
        """Look for ever; a ledger that is away is no other ledger.

        Raises:
            LedgerReplaced: another ledger, or none, stands where it was, or one of another schema.
        """
        while True:
            try:
                await self.require()
            except LedgerReplaced:
                raise
            except LedgerError:  # the executor tells of it
                pass
            await asyncio.sleep(every_s)

    async def require(self) -> None:
        """Return when it is the same ledger; raise LedgerReplaced otherwise, and LedgerError when it cannot be read."""
        if _identity(self._file) != self._identity:
            raise self._replaced("the file was removed or replaced")
        revision = await self._store.revision()
        if revision is None:
            return
        if self._revision not in (None, revision):
            raise self._replaced(f"its schema was {self._revision} and is {revision} now")
        self._revision = revision
        head, known = await self._ledger.head(), self._newest
        if known is not None:
            if head < known.position:
                raise self._replaced(f"it ends at {head} and had come to {known.position}")
            found = await self._at(known.position)
            if found is not None and found.id != known.id:  # one that is not there was pruned
                raise self._replaced(f"another event stands at {known.position}")
        self._newest = (await self._at(head) if head else None) or self._newest

    async def _at(self, position: int) -> Event | None:
        events = await self._ledger.read_all(after=position - 1, limit=1)
        return events[0] if events and events[0].position == position else None

    def _replaced(self, how: str) -> LedgerReplaced:
        return LedgerReplaced(
            f"The ledger {self._address} is not the one that this server was started with: {how}. It was removed, "
            "restored, upgraded, or its database server was replaced by one that lacks its last commits. Nothing more "
            "is done here: start the server again, of the version that fits, for it to work with what is there now.",
            address=self._address,
        )


def _identity(file: Path | None) -> tuple[int, int] | None:
    """Return what tells a file apart from every other, also from a later one of the same name."""
    if file is None:
        return None
    try:
        found = file.stat()
    except OSError:
        return (0, 0)
    return found.st_dev, found.st_ino
