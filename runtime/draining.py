"""Stopping in good order: steps in progress end, and none begins any more."""

from __future__ import annotations

import asyncio
from types import TracebackType


class Draining:
    """Whether this process still begins something. Once it drains, it does so until it ends."""

    def __init__(self) -> None:
        self._begun = False
        self._began = asyncio.Event()
        self.changed = asyncio.Event()
        """Set with each step that ended or was held back since it was cleared."""

    @property
    def begun(self) -> bool:
        """Whether nothing new begins."""
        return self._begun

    def begin(self) -> None:
        """Let nothing new begin from now on."""
        self._begun = True
        self._began.set()
        self.changed.set()

    async def until_begun(self) -> None:
        """Return once nothing new begins."""
        await self._began.wait()


class Steps:
    """The steps of one execution that are in progress here; `async with` one of them around its work.

    A step that would begin while the process drains waits inside `async with` until its task is cancelled: nothing of
    it was done, and whoever takes the execution up next begins it.
    """

    def __init__(self, draining: Draining | None = None) -> None:
        self._draining = draining or Draining()
        self._in_progress = 0
        self._held = 0

    @property
    def busy(self) -> bool:
        """Whether a step is in progress."""
        return self._in_progress > 0

    @property
    def parked(self) -> bool:
        """Whether nothing is in progress and something was held back: the execution cannot go on here."""
        return self._held > 0 and self._in_progress == 0

    @property
    def draining(self) -> bool:
        """Whether no step begins any more."""
        return self._draining.begun

    async def until_draining(self) -> None:
        """Return once no step begins any more."""
        await self._draining.until_begun()

    async def rest(self) -> None:
        """Hold back a step in progress, at a place where it goes on another time, once the process drains."""
        if not self._draining.begun:
            return
        self._in_progress -= 1
        try:
            await self._hold()
        finally:
            self._in_progress += 1

    def step_out(self) -> None:
        """Let a step in progress not count as that while others carry out what it asks for."""
        self._in_progress -= 1
        if self._draining.begun:
            self._draining.changed.set()

    async def step_in(self, *, goes_on: bool) -> None:
        """Count the step again that stepped out; one that goes on is held back once the process drains."""
        try:
            if goes_on and self._draining.begun:
                await self._hold()
        finally:
            self._in_progress += 1

    async def __aenter__(self) -> None:
        if self._draining.begun:
            await self._hold()
        self._in_progress += 1

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._in_progress -= 1
        if self._draining.begun:
            self._draining.changed.set()

    async def _hold(self) -> None:
        self._held += 1
        self._draining.changed.set()
        try:
            await asyncio.Event().wait()
        finally:
            self._held -= 1
