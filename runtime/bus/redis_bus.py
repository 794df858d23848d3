"""The bus through Redis: processes tell each other how far the ledger is, and share what groups have to do."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from runtime.bus.in_process import InProcessBus
from runtime.bus.redis_link import NothingThere, RedisAway, RedisLink, position_of
from runtime.bus.redis_sharing import RedisSharing
from runtime.bus.sharing import GroupState, Sharing
from runtime.bus.tail import PAGE, POLL_S
from runtime.errors import LedgerError
from runtime.ledger.port import Store
from runtime.settings.groups import BusSettings

POLL_BESIDE_REDIS_S = 1.0
"""How often the ledger is read although Redis would tell: some writers have no Redis."""
BLOCK_MS = 1_000
AGAIN_S = 1.0
_log = logging.getLogger(__name__)


class RedisBus(InProcessBus):
    """The port `Bus` for many processes. `start` it in each; any of them may publish, and Redis refuses what it has.

    Everything is read from the ledger; Redis only says that there is something, and which member is to handle it. So
    losing Redis, or what stands in it, loses nothing: events are found by looking until it is back.
    """

    def __init__(self, store: Store, settings: BusSettings, link: RedisLink, *, poll_s: float = POLL_S) -> None:
        super().__init__(store, settings, poll_s=poll_s)
        self._link = link
        self._poll_s = poll_s
        self._heard = 0
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Publish and listen from now on."""
        self._tasks = [
            asyncio.create_task(self._publish(), name="bus-publisher"),
            asyncio.create_task(self._listen(), name="bus-listener"),
        ]

    async def close(self) -> None:
        """Stop publishing and let go of every connection."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._link.close()

    def _share(self, group: GroupState) -> Sharing:
        return RedisSharing(
            self._link, group, ledger=self._store.ledger, tail=self._tail, member=self._holder,
            stale_s=self._settings.stale_s,
        )  # fmt: skip

    async def _publish(self) -> None:
        """Add an entry for each event, in order of positions.

        What is too old to be kept by the tail is left out: whoever needs it reads the ledger.
        """
        async with self._tail.following():
            while True:
                try:
                    await self._tail.moved(self._link.published)
                    await self._publish_news()
                except LedgerError:  # the tail tells, and goes on trying
                    continue
                except RedisAway:
                    await self._link.back_off()
                except Exception:
                    _log.exception("publishing to Redis failed; it goes on")
                    await asyncio.sleep(AGAIN_S)

    async def _publish_news(self) -> None:
        events = self._tail.after(self._link.published)
        if events is None:
            self._link.published = self._tail.floor
            return
        for start in range(0, len(events), PAGE):
            page = events[start : start + PAGE]
            new = [event for event in page if event.position > self._heard]
            if new:
                await self._link.publish(new)
            self._link.published = page[-1].position

    async def _listen(self) -> None:
        """Look into the ledger as soon as another process published."""
        while True:
            try:
                await self._hear()
                self._tail.poll_s = POLL_BESIDE_REDIS_S
            except NothingThere:
                continue
            except RedisAway:
                self._tail.poll_s = self._poll_s
                self._tail.look()
                await self._link.back_off()
            except Exception:
                _log.exception("listening to Redis failed; it goes on")
                self._tail.poll_s = self._poll_s
                await asyncio.sleep(AGAIN_S)

    async def _hear(self) -> None:
        last = max(self._heard, self._tail.position)
        answer: Any = await self._link.ask(
            lambda redis: redis.xread({self._link.stream: f"{last}-0"}, count=1_000, block=BLOCK_MS)
        )
        if answer:
            ((_, entries),) = answer
            self._heard = position_of(entries[-1][0])
            self._tail.look()
