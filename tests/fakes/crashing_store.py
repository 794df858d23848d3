"""A store whose process dies at a chosen append, before or after the commit."""

from __future__ import annotations

from typing import Any

from contracts import Event
from runtime.ledger.port import Append, Blobs, Fragments, Leases, Ledger, Store


class Crash(BaseException):
    """The process is gone; nothing in it gets to tidy up in the ledger."""


class CrashingLedger:
    """A ledger that dies at the append with number `at` (from 0), and counts appends."""

    def __init__(self, ledger: Ledger, at: int | None, *, committed: bool) -> None:
        self._ledger = ledger
        self._at = at
        self._committed = committed
        self.appends = 0
        self.dead = False

    async def append(self, *appends: Append, **rest: Any) -> tuple[Event, ...]:
        if self.dead:
            raise Crash
        number, self.appends = self.appends, self.appends + 1
        if number == self._at:
            self.dead = True
            if self._committed:
                await self._ledger.append(*appends, **rest)
            raise Crash
        return await self._ledger.append(*appends, **rest)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)


class CrashingStore:
    """The store around a `CrashingLedger`; leases and blobs are those of the real one."""

    def __init__(self, store: Store, at: int | None = None, *, committed: bool = False) -> None:
        self._store = store
        self.ledger: Any = CrashingLedger(store.ledger, at, committed=committed)

    @property
    def leases(self) -> Leases:
        return self._store.leases

    @property
    def blobs(self) -> Blobs:
        return self._store.blobs

    @property
    def fragments(self) -> Fragments:
        return self._store.fragments

    async def close(self) -> None:
        """The real store stays open for the next process."""
