"""One event through a member's handler: settled, tried again, or put among the dead letters."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from contracts import Event, Json
from runtime.bus.dead import burial, original_of
from runtime.bus.deliveries import Delivery
from runtime.bus.port import Handler
from runtime.bus.sharing import GroupState
from runtime.errors import LedgerError, LedgerUnavailable, VersionConflict
from runtime.ledger.port import Append, Ledger
from runtime.settings.groups import BusSettings

AWAY_S = 0.5
"""How long an event waits when the ledger is away."""
_log = logging.getLogger(__name__)


class HandlerTooSlow(TimeoutError):
    """A handler took longer than the group may wait for it."""


class Handling:
    """Handles deliveries of one group."""

    def __init__(
        self,
        ledger: Ledger,
        group: GroupState,
        settings: BusSettings,
        *,
        settled: Callable[[int], None],
    ) -> None:
        self._ledger = ledger
        self._group = group.name
        self._progress = group.progress
        self._hand = group.hand
        self._settings = settings
        self._settled = settled

    async def handle(self, delivery: Delivery, handler: Handler) -> None:
        """Handle one delivery. Whatever happens, it is let go of or will be handled again."""
        try:
            await self._try(delivery, handler)
        except LedgerError as error:
            _log.debug("the group %s waits for the ledger: %s", self._group, error)
            self._hand.again(delivery, in_s=AWAY_S)
        except BaseException:  # cancelled: another member goes on with it
            self._hand.again(delivery)
            raise

    async def _try(self, delivery: Delivery, handler: Handler) -> None:
        position = delivery.event.position
        if self._progress.known.is_settled(position):
            return self._let_go(delivery)
        if delivery.uncertain:
            tries = await self._progress.count_try(position)
            delivery.uncertain = False
            if tries == 0:  # another member settled it
                return self._let_go(delivery)
            if tries >= self._settings.deliveries:
                died = RuntimeError("Each process that was given this event ended before it was done with it.")
                return await self._bury(delivery, died, tries=tries)
        try:
            await self._handle_and_settle(delivery.event, handler)
        except LedgerUnavailable:
            raise
        except Exception as error:
            return await self._after(delivery, error)
        return self._let_go(delivery)

    async def _handle_and_settle(self, event: Event, handler: Handler) -> None:
        """Run the handler and store what it makes; a stream that moved on meanwhile lets it decide again.

        Only a handler that names the same version again has failed: it does not read what stands there.
        """
        named: tuple[Json, Json] | None = None
        while True:
            appends = await self._handled(event, handler)
            try:
                await self._progress.settle(event.position, appends)
                return
            except VersionConflict as conflict:
                names = (conflict.facts.get("stream"), conflict.facts.get("expected"))
                if names == named:
                    raise
                named = names

    async def _handled(self, event: Event, handler: Handler) -> Sequence[Append]:
        original = await original_of(self._ledger, event)
        if original is None:
            _log.warning("the group %s was sent an event again that was pruned meanwhile", self._group)
            return ()
        limit_s = self._settings.stale_s
        try:
            async with asyncio.timeout(limit_s) as limit:
                return await handler(original) or ()
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise HandlerTooSlow(f"The handler was not done after {limit_s:g} s (`bus.stale_s`).") from error

    async def _after(self, delivery: Delivery, error: Exception) -> None:
        event = delivery.event
        tries = await self._progress.count_try(event.position)
        if tries == 0:  # another member settled it
            return self._let_go(delivery)
        _log.warning(
            "the group %s failed to handle %s at %d, try %d: %s",
            self._group, event.type, event.position, tries, error, exc_info=error,
        )  # fmt: skip
        if tries >= self._settings.deliveries:
            return await self._bury(delivery, error, tries=tries)
        wait_s = min(self._settings.retry_first_s * 2 ** (tries - 1), self._settings.stale_s)
        return self._hand.again(delivery, in_s=wait_s)

    async def _bury(self, delivery: Delivery, error: Exception, *, tries: int) -> None:
        event = delivery.event
        original = await original_of(self._ledger, event) or event
        append = await burial(self._ledger, self._group, original, tries=tries, error=error)
        _log.error("the group %s gives %s at %d up: %s", self._group, original.type, original.position, error)
        await self._progress.settle(event.position, [append])
        self._let_go(delivery)

    def _let_go(self, delivery: Delivery) -> None:
        self._hand.done(delivery)
        self._settled(delivery.event.position)
