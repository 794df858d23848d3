"""Merged values, kept now and then as snapshots: a process that knows nothing of a key reads what came after one.

A snapshot may hold what an event no longer does, so an erasure deletes it, and none is stored that was made from events
as they were before an erasure.
"""

from __future__ import annotations

import json
from contextlib import suppress

from contracts import Event, Json
from runtime.blackboard.folding import version_of
from runtime.blackboard.port import Entry, Version
from runtime.blackboard.rules import REPLACE
from runtime.canonical import to_bytes
from runtime.errors import LedgerError
from runtime.ledger.port import Ledger, Snapshot

KEPT_EVERY = 100
FORMAT = 1
_PLACE = 1
"""A snapshot takes the place of the one before it; which version it is of stands in it."""

Known = tuple[Entry | None, Version | None]


class MergedValues:
    """The snapshots of one board's keys."""

    def __init__(self, ledger: Ledger, erasures: str) -> None:
        self._ledger = ledger
        self._erasures = erasures
        self._kept: dict[str, int] = {}
        """The version of which a snapshot is kept, by stream."""

    async def read(self, key: str, stream: str, known: Known) -> tuple[Known, list[Event]]:
        """Return where to fold from, with the events that came after it."""
        version = known[0].version if known[0] else 0
        if version == 0 and (found := await self._find(stream)) is not None:
            version, value = found
            first, *events = await self._ledger.read(stream, after_version=version - 1)
            last = version_of(key, first)
            return (Entry(key, value, version, last.employee, last.step), last), events
        return known, await self._ledger.read(stream, after_version=version)

    async def keep(self, stream: str, entry: Entry, last: Version, *, erased: int) -> None:
        """Store a snapshot when it is time for one; `erased` tells how many erasures there were before it was read."""
        if last.rule == REPLACE or entry.conflicts or entry.version - self._kept.get(stream, 0) < KEPT_EVERY:
            return
        self._kept[stream] = entry.version
        data = to_bytes({"format": FORMAT, "version": entry.version, "value": entry.value})
        with suppress(LedgerError):  # whoever misses it reads more, and no less
            await self._ledger.append(snapshots=[Snapshot(stream, _PLACE, data)], unchanged={self._erasures: erased})

    async def _find(self, stream: str) -> tuple[int, Json] | None:
        for snapshot in await self._ledger.snapshots(stream):
            with suppress(ValueError, KeyError, TypeError):  # what cannot be read is folded again
                data = json.loads(snapshot.data)
                if data["format"] == FORMAT:
                    self._kept[stream] = data["version"]
                    return data["version"], data["value"]
        return None
