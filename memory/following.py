"""Follows events of the ledger with a cursor: each is handed over once at least, by whichever process comes first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

from contracts import Event, Name
from runtime.errors import VersionConflict
from runtime.ledger.kept import kept_cursor
from runtime.ledger.port import Cursor, Ledger

_AT_ONCE = 500
_PASSED_OVER = 2_000
"""Positions without anything to hand over that are rather looked through again than noted: a note is a commit."""


async def follow(
    ledger: Ledger, cursor: str, organisation: Name, types: Collection[str], hear: Callable[[Event], Awaitable[None]]
) -> None:
    """Hand over every event of an organisation that was committed before this call and not handed over yet.

    What was handed over may come again: after a crash, or where another process followed at the same time.

    Raises:
        LedgerUnavailable: what is left comes the next time.
    """
    head = await ledger.head()
    while True:
        saved = await kept_cursor(ledger, cursor) or Cursor(cursor, 0)
        if saved.position >= head:
            return
        events = await ledger.read_all(after=saved.position, until=head, types=types, limit=_AT_ONCE)
        mine = [event for event in events if event.organisation == organisation]
        if not mine and len(events) < _AT_ONCE and head - saved.position < _PASSED_OVER:
            return
        for event in mine:
            await hear(event)
        upto = events[-1].position if len(events) == _AT_ONCE else head
        try:
            await ledger.append(cursors=[Cursor(cursor, upto, saved.position)])
        except VersionConflict:  # another process followed on: go on from there
            continue
