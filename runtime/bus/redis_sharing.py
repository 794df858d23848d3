"""A group that shares its events through Redis: each goes to one member, and to another when that one dies."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager

from contracts import Event
from runtime.bus.redis_group import RedisGroup
from runtime.bus.redis_link import NothingThere, RedisAway, RedisLink
from runtime.bus.sharing import GroupState
from runtime.bus.tail import PAGE, Tail
from runtime.errors import LedgerError
from runtime.ledger.port import Ledger

ROOM = 32
"""Events that wait in one process at most, so that the other processes get theirs."""
BLOCK_MS = 250
LEAVE_S = 1.0
AGAIN_S = 0.5
_log = logging.getLogger(__name__)


class RedisSharing:
    """The port `Sharing` through XREADGROUP, XAUTOCLAIM and XACK on the stream of all events."""

    def __init__(
        self, link: RedisLink, group: GroupState, *, ledger: Ledger, tail: Tail, member: str, stale_s: float
    ) -> None:
        self._link = link
        self._group = group
        self._redis = RedisGroup(link, group.name, member)
        self._ledger = ledger
        self._tail = tail
        self._stale_s = stale_s
        self._away = False
        self._acks: set[int] = set()
        self._settled = asyncio.Event()

    @property
    def away(self) -> bool:
        """Whether it gives nothing to anybody now."""
        return self._away

    def settled(self, position: int) -> None:
        """Acknowledge the event with the next turn."""
        if not self._away:
            self._acks.add(position)
        self._settled.set()

    @asynccontextmanager
    async def joined(self) -> AsyncGenerator[None, None]:
        """Put what Redis gives this member in hand; in the end, give back what is left."""
        task = asyncio.create_task(self._run(), name=f"bus-redis-{self._group.name}")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await self._leave()

    async def lost(self, positions: Sequence[int]) -> Collection[int]:
        """Return those that nobody has in hand and nobody will get; all while Redis is away."""
        if self._away:
            return positions
        try:
            given = await self._redis.given()
            first, last = await self._redis.kept()
            pending = await self._redis.pending(positions)
        except (RedisAway, NothingThere):  # the next turn notices
            return ()

        def comes(position: int) -> bool:
            told = first <= position <= last and position > given
            return position in pending or told or position > max(last, self._link.published)

        return [position for position in positions if not comes(position)]

    async def _run(self) -> None:
        while True:
            try:
                await self._redis.make(after=(await self._group.progress.read()).mark)
                self._away = False
                await self._take_turns()
            except NothingThere:
                continue
            except RedisAway:
                self._away = True
                self._acks.clear()
                await self._link.back_off()
            except LedgerError as error:
                _log.debug("the group %s waits for the ledger: %s", self._group.name, error)
                await asyncio.sleep(AGAIN_S)
            except Exception:
                _log.exception("taking events of the group %s from Redis failed; it goes on", self._group.name)
                await asyncio.sleep(AGAIN_S)

    async def _take_turns(self) -> None:
        now, cared = asyncio.get_running_loop().time, float("-inf")
        while True:
            self._settled.clear()
            await self._acknowledge()
            if now() - cared >= self._stale_s / 3:
                await self._care()
                cared = now()
            room = ROOM - self._group.hand.waiting
            if room > 0:
                given = await self._redis.read(room, block_ms=BLOCK_MS)
                await self._put(given, uncertain=False)
            else:
                await self._pause()

    async def _care(self) -> None:
        """Keep what this member has in hand, and take what others do not end; who knows why they do not."""
        await self._redis.keep(self._group.hand)
        claimed = await self._redis.claim(ROOM, idle_ms=round(self._stale_s * 1_000))
        if claimed:
            await self._group.progress.read()
            await self._put(claimed, uncertain=True)
        await self._redis.forget_members()

    async def _put(self, positions: Sequence[int], *, uncertain: bool) -> None:
        """Take the events in hand; those that are not for the group, or are settled, are acknowledged at once."""
        settled = self._group.progress.known.is_settled
        wanted = {position for position in positions if not settled(position)}
        mine = [event for event in await self._events_at(wanted) if self._group.fits(event)]
        for event in mine:
            self._group.hand.add(event, uncertain=uncertain)
        self._acks.update(set(positions) - {event.position for event in mine})

    async def _events_at(self, positions: Collection[int]) -> list[Event]:
        """Return the events at these positions; those that were pruned are left out."""
        found: list[Event] = []
        for position in sorted(positions):
            if found and position <= found[-1].position:
                continue
            found += self._tail.after(position - 1) or await self._ledger.read_all(after=position - 1, limit=PAGE)
        return [event for event in found if event.position in positions]

    async def _acknowledge(self) -> None:
        acks = tuple(self._acks)
        await self._redis.acknowledge(acks)
        self._acks.difference_update(acks)

    async def _leave(self) -> None:
        """Let others have at once what this member does not end."""
        try:
            async with asyncio.timeout(LEAVE_S):
                await self._acknowledge()
                await self._redis.keep(self._group.hand, idle_ms=round(self._stale_s * 1_000))
        except (RedisAway, NothingThere, TimeoutError):
            return

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(BLOCK_MS / 1_000):
                await self._settled.wait()
        except TimeoutError:
            return
