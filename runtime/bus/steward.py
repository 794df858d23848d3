"""The one who reads the ledger for a group: finds what is open, and gives out what no broker will."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from itertools import islice

from contracts import Event
from runtime.bus.progress import Horizon
from runtime.bus.sharing import GroupState, Sharing
from runtime.bus.tail import PAGE, Tail
from runtime.errors import LedgerError, StaleWriter
from runtime.ledger.port import Lease, Leases, Ledger

AHEAD = 1_000
"""Open events that a group looks ahead at most, so that one that does not end cannot make its progress grow."""
FULL_S = 0.1
"""How often it is asked when that much is open."""
LOOK_S = 1.0
"""How often the broker is asked for the events that are open."""
MARK_EVERY = 1_000
"""Positions after which the mark is stored although nothing was settled."""
FIRST = 64
_log = logging.getLogger(__name__)


class Steward:
    """One for each group and ledger, by a lease; the stewards of other processes stand by."""

    def __init__(
        self,
        group: GroupState,
        *,
        ledger: Ledger,
        leases: Leases,
        tail: Tail,
        sharing: Sharing,
        holder: str,
        stale_s: float,
        members: Callable[[], int],
    ) -> None:
        self._name = f"bus/{group.name}"
        self._fits = group.fits
        self._ledger = ledger
        self._leases = leases
        self._tail = tail
        self._progress = group.progress
        self._hand = group.hand
        self._sharing = sharing
        self._holder = holder
        self._stale_s = stale_s
        self._members = members
        self._read_to = 0
        self._open: dict[int, Event] = {}
        self._behind = False
        """Whether it just read what was committed long ago, which Redis may not have."""
        self._suspects = 0
        """Of the first events given out, how many a member that died may have had in hand."""
        self._woken = asyncio.Event()

    def settled(self, position: int) -> None:
        """Forget an event that this process settled."""
        self._open.pop(position, None)
        self._woken.set()

    async def serve(self) -> None:
        """Read the ledger for the group whenever nobody else does, for ever."""
        failures = 0
        while True:
            try:
                lease = await self._leases.acquire(self._name, self._holder, self._stale_s)
                failures = 0
                if lease is not None:
                    await self._hold(lease)
            except StaleWriter:
                _log.info("another process reads the ledger for %s now", self._name)
            except LedgerError as error:
                failures += 1
                if failures == 1:
                    _log.warning("%s cannot read the ledger and tries again: %s", self._name, error)
                await asyncio.sleep(min(5.0, 0.1 * 2**failures))
                continue
            await asyncio.sleep(self._stale_s / 3)

    async def _hold(self, lease: Lease) -> None:
        stop = self._tail.listen(self._woken.set)
        self._progress.horizon = self._horizon
        try:
            await self._begin(lease)
            await self._feed(lease)
        finally:
            stop()
            await self._give_back(lease)

    async def _begin(self, lease: Lease) -> None:
        progress = await self._progress.read()
        self._read_to, self._open = progress.mark, {}
        self._suspects = self._members() if lease.fence > 1 else 0

    async def _give_back(self, lease: Lease) -> None:
        try:
            await self._progress.advance()
            await self._leases.release(lease)
        except LedgerError as error:
            _log.debug("the lease %s runs out by itself: %s", lease.name, error)
        finally:
            self._progress.horizon = Horizon

    async def _feed(self, lease: Lease) -> None:
        now = asyncio.get_running_loop().time
        renewed = looked = now()
        while True:
            self._woken.clear()
            if not await self._read_on():
                await self._pause()
            if now() - renewed >= self._stale_s / 3:
                lease, renewed = await self._leases.renew(lease, self._stale_s), now()
            if self._behind or now() - looked >= (LOOK_S if self._has_room else FULL_S):
                await self._look_after_open()
                await self._store_mark()
                looked = now()

    @property
    def _has_room(self) -> bool:
        return len(self._open) <= AHEAD - PAGE

    async def _read_on(self) -> bool:
        """Note what is open in the next page; return whether there may be more to note at once."""
        self._behind = False
        if not self._has_room:
            return False
        page = self._tail.after(self._read_to)
        self._behind = page is None
        if page is None:
            floor = self._tail.floor
            page = await self._ledger.read_all(after=self._read_to, limit=PAGE)
            if not page:
                self._read_to = max(self._read_to, floor)
        progress = self._progress.known
        for event in page[:PAGE]:
            self._read_to = event.position
            if self._fits(event) and not progress.is_settled(event.position):
                self._open[event.position] = event
                if self._sharing.away:
                    self._give_out(event)
        return bool(page)

    async def _look_after_open(self) -> None:
        """Forget what other processes settled, and give out what nobody will get otherwise."""
        if not self._open:
            return
        waiting = await self._not_in_hand()
        if waiting and (lost := set(await self._sharing.lost(waiting))):
            for position in await self._not_in_hand():  # asked anew: some of it may have been settled just now
                if position in lost:
                    self._give_out(self._open[position])

    async def _store_mark(self) -> None:
        """Store the mark when nothing else will: other processes do not know what is open."""
        known = self._progress.known
        mark = self._horizon().mark(known.is_settled)
        if mark - known.mark >= MARK_EVERY or (known.done and mark > known.mark):
            await self._progress.advance()

    async def _not_in_hand(self) -> list[int]:
        """Return what is open in the ledger now and not in hand here."""
        progress = await self._progress.read()
        for position in [position for position in self._open if progress.is_settled(position)]:
            del self._open[position]
        return [position for position in self._open if position not in self._hand]

    def _give_out(self, event: Event) -> None:
        if event.position not in self._hand:
            self._hand.add(event, uncertain=self._suspects > 0)
            self._suspects = max(0, self._suspects - 1)

    def _horizon(self) -> Horizon:
        """Return what is open, as far as one commit is likely to settle it."""
        first = tuple(islice(self._open, FIRST + 1))
        if len(first) > FIRST:
            return Horizon(first[:FIRST], known_to=first[FIRST] - 1)
        return Horizon(first, known_to=self._read_to)

    async def _pause(self) -> None:
        """Wait for news of the ledger or of this process, or until it is time to look anyway."""
        try:
            async with asyncio.timeout(min(LOOK_S, self._stale_s / 3) if self._has_room else FULL_S):
                await self._woken.wait()
        except TimeoutError:
            return
