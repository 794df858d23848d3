"""One saved cursor, found by its whole name."""

from __future__ import annotations

from runtime.ledger.port import Cursor, Ledger


async def kept_cursor(ledger: Ledger, name: str) -> Cursor | None:
    """Return the cursor that is saved under this name, or None; those whose names only begin with it do not count."""
    return next((each for each in await ledger.cursors(name) if each.name == name), None)
