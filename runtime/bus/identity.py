"""The name that a ledger has towards a broker, so that two ledgers on one broker never mix."""

from __future__ import annotations

import secrets

from runtime.errors import VersionConflict
from runtime.ledger.port import Cursor, Ledger

ROW = "ledger"
"""A consumer's row that no consumer uses. Whoever copies a ledger leaves it out: the copy is another one."""


async def ledger_id(ledger: Ledger) -> str:
    """Return the id of the ledger; whoever asks first makes it, and it never changes."""
    while True:
        for stored in await ledger.cursors(ROW):
            if stored.name == ROW and stored.data is not None:
                return str(stored.data["id"])
        try:
            await ledger.append(cursors=[Cursor(ROW, 1, 0, {"id": secrets.token_hex(8)})])
        except VersionConflict:
            continue
