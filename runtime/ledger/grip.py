"""Whether a lease is surely still held, told without the database.

A process that is stopped (SIGSTOP, a frozen container, a machine that sleeps) does not notice that its lease runs out.
Before it acts on the world it asks here; what it stores is refused by the ledger in any case.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TypeAlias

StillHeld: TypeAlias = Callable[[], Awaitable[None]]
"""Return when whatever gives the right to act is surely still held; raise StaleWriter when it is not."""


def boot_s() -> float:
    """Return seconds since the machine started, by a clock that also counts while the machine or a process stands."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)


async def always() -> None:
    """Hold without a lease."""


class Grip:
    """One lease as its holder feels it.

    Args:
        left_s: how long the lease still runs.
        renew: prolongs it, or raises StaleWriter; returns for how long it was prolonged.
    """

    def __init__(self, left_s: float, renew: Callable[[], Awaitable[float]], now: Callable[[], float] = boot_s) -> None:
        self._now = now
        self._renew = renew
        self._until = now() + left_s

    @property
    def left_s(self) -> float:
        """How long the lease surely runs; negative when it may have run out."""
        return self._until - self._now()

    async def renew(self) -> None:
        """Prolong the lease; it counts from when that was asked for.

        Raises:
            StaleWriter: somebody else has it, or it was given back.
            LedgerUnavailable: nobody can tell.
        """
        asked_at = self._now()
        self._until = asked_at + await self._renew()

    async def still_held(self) -> None:
        """Return when the lease is surely held: one that may have run out is renewed first; raises as `renew`."""
        while self.left_s <= 0:
            await self.renew()
