"""Stops work in progress when the execution is cancelled: one look serves all calls of an order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from runtime.engine.outcome import Stop

T = TypeVar("T")
POLL_S = 0.1
"""How often it is looked whether the execution was cancelled, as long as anything is in progress."""


@dataclass(eq=False, slots=True)
class _Call:
    """Something in progress, in the task that waits for it."""

    task: asyncio.Task[Any]
    grace_s: float
    cancelling: int
    """How many had asked the task to stop before."""
    end: asyncio.TimerHandle | None = None
    """When its grace is over, once the execution is cancelled."""
    stopped: bool = False

    def stop(self) -> None:
        """Stop it, as `asyncio.timeout` does: the task is cancelled and told apart by who asked for it."""
        self.stopped = True
        self.task.cancel()


class Interrupter:
    """Runs work in the task of whoever asks for it; a task and a timer for each call would cost more than the call."""

    def __init__(self, cancelled: Callable[[], bool]) -> None:
        self._cancelled = cancelled
        self._calls: set[_Call] = set()
        self._next_look: asyncio.TimerHandle | None = None

    async def run(self, work: Coroutine[Any, Any, T], *, grace_s: float) -> T:
        """Return what `work` gives; raise Stop when the execution was cancelled and `grace_s` later it still ran.

        Work that gives something although it was stopped had gone too far to be stopped: that is returned.
        """
        task = asyncio.current_task()
        assert task is not None
        call = _Call(task, grace_s, task.cancelling())
        self._calls.add(call)
        self._look_later()
        try:
            return await work
        except (asyncio.CancelledError, Exception) as error:
            if not call.stopped or task.cancelling() - 1 > call.cancelling:
                raise
            raise Stop from error
        finally:
            self._calls.discard(call)
            if call.end is not None:
                call.end.cancel()
            if call.stopped:
                task.uncancel()

    def _look_later(self) -> None:
        if self._next_look is None:
            self._next_look = asyncio.get_running_loop().call_later(POLL_S, self._look)

    def _look(self) -> None:
        self._next_look = None
        if not self._calls:
            return
        if self._cancelled():
            loop = asyncio.get_running_loop()
            for call in self._calls:
                if call.end is None:
                    call.end = loop.call_later(call.grace_s, call.stop)
        self._look_later()
