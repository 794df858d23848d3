"""What one process knows of a board: folded values, brought up to date by queries or by what the bus tells."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager

from contracts import Event
from runtime.blackboard.folding import (
    WRITTEN,
    conflicts_of,
    entry_after,
    entry_alone,
    stands_alone,
    version_of,
)
from runtime.blackboard.merged import Known, MergedValues
from runtime.blackboard.port import Entry, Version
from runtime.bus.port import Bus
from runtime.errors import InvalidArguments, LedgerError
from runtime.ledger.port import Ledger

PAYLOAD_ERASED = "payload.erased"
AGAIN_S = 0.5
_log = logging.getLogger(__name__)


class BoardCache:
    """Entries by key. It holds nothing that the ledger does not, so any of it may be dropped.

    It asks for the newest event of a key, and for what it missed only where a rule merges: what a read costs does not
    grow with how often the key was written. In the same query it learns whether anything was erased meanwhile.
    """

    def __init__(self, ledger: Ledger, prefix: str, organisation: str) -> None:
        self.follows = False
        """Whether everything that is committed is told to it."""
        self._ledger = ledger
        self._prefix = prefix
        self._erasures = f"erasure/{organisation}"
        self._erased = 0
        """The version of the stream of erasures: nothing that is known was made from events before that."""
        self._values = MergedValues(ledger, self._erasures)
        self._known: dict[str, tuple[Entry, Version]] = {}

    def known(self, key: str, *, version: int | None = None) -> tuple[Entry, Version] | None:
        """Return what is known of a key and the write that put it there, without asking anybody.

        With `version`, only if that is the version that is known.
        """
        found = self._known.get(key)
        return found if found is not None and version in (None, found[0].version) else None

    async def read(self, key: str, *, cached: bool) -> Entry | None:
        """Return the value of a key; from the ledger, unless what is known is enough."""
        known = self.known(key)
        if cached and self.follows and known is not None:
            return known[0]
        newest, erased = await self._newest(self._prefix + key)
        return await self._entry_at(key, newest[key], erased) if newest else None

    async def entries(self) -> Mapping[str, Entry]:
        """Return all values, by key; one query asks for whatever is new."""
        newest, erased = await self._newest(prefix=self._prefix)
        return {key: await self._entry_at(key, newest[key], erased) for key in sorted(newest)}

    def tell(self, event: Event) -> None:
        """Learn of one event; a key whose events before it are not known is dropped."""
        if event.type == PAYLOAD_ERASED and event.subject == self._erasures:
            self._drop_erased(event.stream_version)
        elif event.subject.startswith(self._prefix):
            key = event.subject.removeprefix(self._prefix)
            entry, last = self._known.get(key, (None, None))
            version = entry.version if entry else 0
            if event.stream_version == version + 1:
                try:
                    self._known[key] = entry_after(entry, last, event, key)
                except InvalidArguments:  # no rule of this process takes it: whoever reads the key is told
                    self._known.pop(key, None)
            elif event.stream_version > version:
                self._known.pop(key, None)

    def clear(self) -> None:
        """Forget everything."""
        self._known.clear()

    async def _newest(self, *streams: str, prefix: str = "") -> tuple[dict[str, Event], int]:
        """Return the newest event of each key, and how many erasures there were by then."""
        found, erased = {}, 0
        for event in await self._ledger.read_newest(self._erasures, *streams, prefix=prefix):
            if event.subject == self._erasures:
                erased = event.stream_version
            else:
                found[event.subject.removeprefix(self._prefix)] = event
        self._drop_erased(erased)
        return found, erased

    async def _entry_at(self, key: str, newest: Event, erased: int) -> Entry:
        """Return the entry after the newest event of the key, and remember it unless something was erased meanwhile."""
        entry, last = self._known.get(key, (None, None))
        version = entry.version if entry else 0
        if entry is not None and newest.stream_version <= version:
            return entry
        if stands_alone(newest):
            found = entry_alone(key, newest, await self._conflicts(key, newest))
        else:
            found = await self._merged(key, newest, (entry, last), erased)
        known = self.known(key)
        if self._erased == erased and (known is None or known[0].version < found[0].version):
            self._known[key] = found
        return found[0]

    async def _merged(self, key: str, newest: Event, known: Known, erased: int) -> tuple[Entry, Version]:
        """Return what the rule of the key makes of what is known and whatever came after it."""
        stream, (entry, last), events = self._prefix + key, known, [newest]
        if newest.stream_version > (entry.version if entry else 0) + 1:
            (entry, last), events = await self._values.read(key, stream, known)
        for event in events:
            entry, last = entry_after(entry, last, event, key)
        assert entry is not None and last is not None, "the newest event is among them"
        await self._values.keep(stream, entry, last, erased=erased)
        return entry, last

    async def _conflicts(self, key: str, newest: Event) -> list[Version]:
        """Return the writes that the newest one is in conflict with; those that are not known are read."""
        told, known = conflicts_of(newest) or (), self.known(key)
        have = {each.version: each for each in (*known[0].conflicts, known[1])} if known else {}
        missing = [version for version in told if version not in have]
        if missing:
            for event in await self._ledger.read_versions(self._prefix + key, missing):
                have[event.stream_version] = version_of(key, event)
        return [have[version] for version in told if version in have]

    def _drop_erased(self, erased: int) -> None:
        """Forget everything when something was erased since it was read: what was erased may stand in any of it."""
        if erased > self._erased:
            self._erased = erased
            self.clear()


@asynccontextmanager
async def following(cache: BoardCache, bus: Bus, ledger: Ledger) -> AsyncGenerator[None, None]:
    """Tell the cache whatever is committed, by this process at once, by others as soon as the bus does."""

    def committed(events: Sequence[Event]) -> None:
        for event in events:
            cache.tell(event)

    stop = ledger.on_commit(committed)
    after = await ledger.head()
    await cache.entries()
    cache.follows = True
    task = asyncio.create_task(_follow(cache, bus, ledger, after), name="blackboard")
    try:
        yield
    finally:
        stop()
        cache.follows = False
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _follow(cache: BoardCache, bus: Bus, ledger: Ledger, after: int) -> None:
    while True:
        try:
            async with aclosing(bus.subscribe("*", after=after)) as events:
                async for event in events:
                    after = event.position
                    if event.type in (WRITTEN, PAYLOAD_ERASED):
                        cache.tell(event)
        except LedgerError as error:
            _log.debug("the board does not follow until the ledger answers: %s", error)
            cache.follows = False
            await asyncio.sleep(AGAIN_S)
            after = await _begin_anew(cache, ledger, after)


async def _begin_anew(cache: BoardCache, ledger: Ledger, after: int) -> int:
    try:
        head = await ledger.head()
        cache.clear()
        await cache.entries()
    except LedgerError:
        return after
    cache.follows = True
    return head
