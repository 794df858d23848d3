"""What one reader of events gets, step by step; each step holds one batch at most, however long the reader takes."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Sequence

from console.api.desk import Desk
from console.api.feed import RETRY_S, Frame
from console.api.shown import ExecutionSummary
from console.api.stream import chunks, control, opening, silence
from console.seeing import OF_PEOPLE
from contracts import ExecutionId, Json
from governance.access import Principal
from runtime.errors import LedgerError, NotFound, PermissionRefused, SiliconError

SNAPSHOT = 500
"""Executions in a snapshot, the newest ones."""

_PRIVATE = ("token/", "first_token/", "user/", "sign_in/", "delivery/", *OF_PEOPLE)
"""Streams that only administrators see."""
_LAST = ("execution.finished", "execution.imported")

_log = logging.getLogger(__name__)


class Reader(ABC):
    """One stream: where it stands, and what may be seen in it."""

    def __init__(self, desk: Desk, principal: Principal, fits: Callable[[str], bool], seen: int) -> None:
        self._desk = desk
        self._principal = principal
        self._fits = fits
        self._seen = seen
        self._over = False
        self._due = False
        """Whether it is time to look at what no event tells."""

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield what is told, until there is nothing more to come, the token is revoked or the server stops."""
        clock, every_s = asyncio.get_running_loop().time, self._desk.settings.server.keep_alive_s
        yield opening(self._seen)
        told_at = checked_at = clock()
        while not (self._over or self._desk.feed.closed.is_set()):
            told = await self._tried()
            if not told and clock() - told_at >= every_s:
                told = [silence(self._seen)]
            for chunk in told:
                yield chunk
                told_at = clock()
            if clock() - checked_at >= every_s:
                checked_at = clock()
                self._due = True
                if not await self._still_counts():
                    yield control("end", {"reason": "The token counts for nothing any more."})
                    return

    @abstractmethod
    async def _step(self) -> Sequence[bytes]:
        """Return what comes next; nothing when nothing came for a while."""

    async def _tried(self) -> Sequence[bytes]:
        try:
            return await self._step()
        except LedgerError as error:
            _log.warning("a reader of events waits until the ledger is back: %s", error)
            await asyncio.sleep(RETRY_S)
            return ()

    async def _wait(self) -> None:
        await self._desk.feed.wait(self._seen, self._desk.settings.server.keep_alive_s)

    async def _shown(self, frames: Sequence[Frame]) -> Sequence[bytes]:
        fitting = [frame for frame in frames if self._fits(frame.type) and self._may_see(frame)]
        if not self._principal.is_admin and not self._desk.application.sight(self._principal).whole:
            fitting = [frame for frame in fitting if await self._in_sight(frame)]
        return chunks(fitting)

    async def _in_sight(self, frame: Frame) -> bool:
        """Whether whoever sees departments only may see an event: those of no execution concern the organisation."""
        if frame.execution_id is None:
            return False
        return await self._desk.may_see(ExecutionId(frame.execution_id), self._principal)

    def _may_see(self, frame: Frame) -> bool:
        if self._principal.is_admin:
            return True
        return self._principal.may_see(frame.organisation) and not frame.stream.startswith(_PRIVATE)

    async def _still_counts(self) -> bool:
        try:
            return await self._desk.application.principal(self._principal.id) is not None
        except PermissionRefused:
            return False
        except SiliconError:  # the ledger is away, or org.yaml is being mended: asked again soon
            return True


class ReaderOfAll(Reader):
    """Reads everything, for ever."""

    async def _step(self) -> Sequence[bytes]:
        batch = await self._desk.feed.read(self._seen)
        if batch.frames and batch.frames[-1].position - self._seen != len(batch.frames):
            return await self._gap()  # positions have no gaps: whatever is missing was pruned
        self._seen = batch.through
        if not batch.frames:
            await self._wait()
        return await self._shown(batch.frames)

    async def _gap(self) -> Sequence[bytes]:
        """Say that something is missing, and how everything stands instead."""
        horizon = await self._desk.application.horizon()
        gap = control("gap", {"after": self._seen, "through": horizon, "reason": "pruned"})
        self._seen = await self._desk.application.head()  # what comes after it may be in the snapshot already
        rows, last = await self._desk.page(self._principal.organisation, self._principal, before=None, limit=SNAPSHOT)
        shown: list[Json] = [ExecutionSummary.of(row).model_dump(mode="json", by_alias=True) for row in rows]
        snapshot: Json = {"position": self._seen, "executions": shown, "more": last is not None}
        return [gap, control("snapshot", snapshot, position=self._seen)]


class ReaderOfExecution(Reader):
    """Reads one execution, until it has ended and everything is told."""

    def __init__(
        self, desk: Desk, principal: Principal, fits: Callable[[str], bool], seen: int, execution_id: ExecutionId
    ) -> None:
        super().__init__(desk, principal, fits, seen)
        self._execution_id = execution_id
        self._may_be_over = True

    async def _step(self) -> Sequence[bytes]:
        batch = await self._desk.feed.read(self._seen, self._execution_id)
        own = [frame for frame in batch.frames if frame.execution_id == self._execution_id]
        self._seen = batch.through
        if own:
            self._may_be_over |= any(each.type in _LAST and each.stream == self._execution_id for each in own)
            return await self._shown(own)
        if (self._may_be_over or self._due) and (end := await self._end()):  # it may have been pruned by now
            self._over = True
            return end
        if not batch.frames:
            await self._wait()
        return ()

    async def _end(self) -> Sequence[bytes]:
        """Return how the stream ends, or nothing while there may be more to tell."""
        self._due = False
        application = self._desk.application
        try:
            row = await application.row(self._execution_id)
        except NotFound:
            gap: Json = {"after": self._seen, "execution_id": self._execution_id, "reason": "pruned"}
            return [control("gap", gap), control("end", {"state": None})]
        self._may_be_over = row.state.final or row.imported
        if not self._may_be_over:
            return ()
        if await application.events_after(self._seen, execution_id=self._execution_id, limit=1):
            return ()  # told next, then this is asked again
        return [control("end", {"state": row.state.value}, position=self._seen)]
