"""How many requests pass: so many in a second, and a burst of so many at once."""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime, timedelta

from runtime.clock import Clock

_KEPT = 10_000


class RateLimiter:
    """One limit, counted apart for each key in this process.

    It keeps one moment for each key: when its bucket will be full again (GCRA, the generic cell rate algorithm of
    ATM Forum TM 4.0). A key whose bucket is full is as good as unknown, so that forgetting it changes nothing.
    """

    def __init__(self, clock: Clock, *, per_s: float, burst: int) -> None:
        self._clock = clock
        self._each = timedelta(seconds=1 / per_s)
        self._burst = self._each * burst
        self._full_at: OrderedDict[str, datetime] = OrderedDict()

    def take(self, key: str) -> float:
        """Take one and return 0; or, when there is none left, take nothing and return in how many seconds there is."""
        wait_s = self.wait_s(key)
        if wait_s == 0:
            self._full_at[key] = self._filled(key) + self._each
            self._full_at.move_to_end(key)
            self._forget()
        return wait_s

    def wait_s(self, key: str) -> float:
        """Return in how many seconds there is one to take, 0 for now; takes none."""
        over = self._filled(key) + self._each - self._clock.now() - self._burst
        return max(0.0, over.total_seconds())

    def _filled(self, key: str) -> datetime:
        """Return when the bucket is full again; a clock that was set back makes nobody wait longer than one burst."""
        now = self._clock.now()
        full_at = self._full_at.get(key, now)
        if full_at > now + self._burst:  # kept, or the wait would begin anew until the clock has caught up
            full_at = self._full_at[key] = now + self._burst
        return max(full_at, now)

    def _forget(self) -> None:
        while len(self._full_at) > _KEPT:
            self._full_at.popitem(last=False)
