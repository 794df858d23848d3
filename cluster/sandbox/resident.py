"""A program that stays in the slot, with pipes to the trusted side."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time

from cluster.sandbox.program import limit_behind
from cluster.sandbox.started import CHUNK, Started
from runtime.capabilities.port import SandboxResult

_KEPT = 64 * 1_024
"""Bytes of standard error that are kept, the last ones."""


class ResidentProgram:
    """One program with a watcher of its own, which ends it and tells how it ended."""

    def __init__(self, begun: Started, head: bytes, *, wall_s: float | None) -> None:
        assert begun.process.stdin is not None
        assert begun.process.stdout is not None
        self.stdin = begun.process.stdin
        self.stdout = begun.process.stdout
        self.stdin.write(head)  # before anything of the caller
        self._begun = begun
        self._errors = bytearray()
        self._stop = asyncio.Event()
        self._watcher = asyncio.create_task(self._watch(wall_s))

    async def wait(self) -> SandboxResult:
        """Return how it ended, once it has."""
        return await asyncio.shield(self._watcher)

    async def stop(self) -> SandboxResult:
        """End it with all it started and return how it ended."""
        self._stop.set()
        return await asyncio.shield(self._watcher)

    async def _watch(self, wall_s: float | None) -> SandboxResult:
        began = time.monotonic()
        reading = asyncio.create_task(self._keep_errors())
        try:
            killed_for = await self._first_reason(wall_s)
        finally:
            await asyncio.shield(self._begun.end())
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            self.stdout.feed_eof()  # also where a killed child held the pipe open
        seconds = time.monotonic() - began
        exit_code = self._begun.exit_code()
        killed_for = killed_for or limit_behind(self._begun, exit_code, b"", seconds)
        if killed_for is None and exit_code is not None and exit_code < 0:
            killed_for = "cpu_time" if exit_code == -signal.SIGXCPU else "signal"
        return SandboxResult(
            exit_code=exit_code if killed_for is None else None,
            stdout="",
            stderr=self._errors.decode(errors="replace"),
            killed_for=killed_for,
            seconds=seconds,
        )

    async def _first_reason(self, wall_s: float | None) -> str | None:
        """Return why it has to end; None when it ended by itself."""
        ended = asyncio.create_task(_exit_of(self._begun))
        limit = asyncio.create_task(self._begun.broken_limit())
        stop = asyncio.create_task(self._stop.wait())
        try:
            done, _ = await asyncio.wait({ended, limit, stop}, timeout=wall_s, return_when=asyncio.FIRST_COMPLETED)
            if ended in done:
                return None
            if limit in done:
                return limit.result()
            return "stopped" if stop in done else "wall_time"
        finally:
            for task in (ended, limit, stop):
                task.cancel()
            await asyncio.gather(ended, limit, stop, return_exceptions=True)

    async def _keep_errors(self) -> None:
        stream = self._begun.process.stderr
        assert stream is not None
        with contextlib.suppress(ConnectionError):
            while data := await stream.read(CHUNK):
                self._errors += data
                del self._errors[:-_KEPT]


async def _exit_of(begun: Started) -> None:
    """Return when the process itself ended; asyncio tells that only once every child has closed the pipes, too."""
    try:
        process = os.pidfd_open(begun.process.pid)
    except ProcessLookupError:
        return
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(process, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(process)
        os.close(process)
