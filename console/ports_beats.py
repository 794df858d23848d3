"""What a face needs of what goes on by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from console.views_beats import HeartbeatStanding


class BeatsPort(Protocol):
    """The part of `Application` about heartbeats. It reads what servers left in the ledger and asks none of them."""

    async def heartbeat(self, folder: Path) -> HeartbeatStanding:
        """Return how the heartbeat of an organisation stands, and how much of the work advances its goals."""
        ...
