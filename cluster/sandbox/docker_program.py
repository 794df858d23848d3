"""A script, or a program that stays, in a container: fed, watched and ended."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import struct
import time
from collections.abc import AsyncIterator
from pathlib import Path

from cluster.errors import SandboxBroken
from cluster.sandbox.allowance import MIB, Allowance
from cluster.sandbox.containers import Container, Ended
from cluster.sandbox.inside import runner
from cluster.sandbox.program import Watch
from cluster.sandbox.started import CHUNK, LOOK_S
from cluster.sandbox.usage import disk_used
from runtime.capabilities.port import SandboxResult
from runtime.capabilities.slot_files import read_file
from runtime.errors import BusinessRefusal, InvalidArguments, PermissionRefused
from runtime.settings import SlotSettings

_OUT, _ERRORS = 1, 2
_HEADER = struct.Struct(">BxxxI")
_KEPT = 64 * 1_024
_TO_CLOSE_S = 5.0


async def run_script(
    container: Container, asked: bytes, answer: str, allowance: Allowance, settings: SlotSettings, *, wall_s: float
) -> SandboxResult:
    """Return how the script ended; the container is gone afterwards."""
    began = time.monotonic()
    watch = Watch(settings.output_kib * 1_024, settings.result_kib * 1_024)
    try:
        reader, writer = await _attached(container)
        feeding = asyncio.create_task(_feed(writer, asked))
        output = asyncio.create_task(_take(reader, watch))
        try:
            await _until_the_end(output, watch, container, allowance, wall_s)
            ended = await asyncio.to_thread(container.end)
        finally:
            feeding.cancel()
            output.cancel()
            await asyncio.gather(feeding, output, return_exceptions=True)
            writer.close()
    finally:
        await asyncio.shield(asyncio.to_thread(container.remove))
    given = await asyncio.to_thread(_answer, container.folder, answer, watch, settings.result_kib * 1_024)
    seconds = time.monotonic() - began
    killed_for = watch.killed_for or _limit_behind(ended, allowance, seconds)
    if not given.startswith(runner.READY) and killed_for is None:
        why = (given or bytes(watch.parts["err"][-500:])).decode(errors="replace").strip()
        raise SandboxBroken(f"The script left no sign in its container that it was confined and began: {why}.")
    given = given.removeprefix(runner.READY).removesuffix(b"\n")
    if given == runner.OUT_OF_MEMORY:
        killed_for = "memory"
    return SandboxResult(
        exit_code=ended.exit_code if killed_for is None else None,
        stdout=watch.parts["out"].decode(errors="replace"),
        stderr=watch.parts["err"].decode(errors="replace"),
        killed_for=killed_for,
        seconds=seconds,
        answer=given,
    )


class ResidentContainer:
    """A program that stays in its container, with pipes of its own in front of the engine's one connection."""

    def __init__(
        self, container: Container, allowance: Allowance, stdin: asyncio.StreamWriter, stdout: asyncio.StreamReader,
        wall_s: float | None,
    ) -> None:  # fmt: skip
        self.stdin = stdin
        self.stdout = stdout
        self._container = container
        self._allowance = allowance
        self._pumps: list[asyncio.Task[None]] = []
        self._errors = bytearray()
        self._kept: tuple[asyncio.StreamWriter, ...] = ()
        self._stop = asyncio.Event()
        self._watcher = asyncio.create_task(self._watch(wall_s))

    @classmethod
    async def start(cls, container: Container, allowance: Allowance, *, wall_s: float | None) -> ResidentContainer:
        """Start the container and return the program in it."""
        try:
            engine_reader, engine_writer = await _attached(container)
        except BaseException:
            await asyncio.shield(asyncio.to_thread(container.remove))
            raise
        ours_in, theirs_in = socket.socketpair()
        ours_out, theirs_out = socket.socketpair()
        _, stdin = await asyncio.open_connection(sock=ours_in)
        typed, back = await asyncio.open_connection(sock=theirs_in)
        stdout, kept = await asyncio.open_connection(sock=ours_out)
        _, shown = await asyncio.open_connection(sock=theirs_out)
        engine_writer.write(container.head)
        resident = cls(container, allowance, stdin, stdout, wall_s)
        resident._pumps += [
            asyncio.create_task(_pass_on(typed, engine_writer)),
            asyncio.create_task(resident._sort(engine_reader, shown)),
        ]
        resident._kept = (kept, back, engine_writer)  # a writer that nobody holds closes its connection
        return resident

    async def wait(self) -> SandboxResult:
        """Return how it ended, once it has."""
        return await asyncio.shield(self._watcher)

    async def stop(self) -> SandboxResult:
        """End it and return how it ended."""
        self._stop.set()
        return await asyncio.shield(self._watcher)

    async def _watch(self, wall_s: float | None) -> SandboxResult:
        began = time.monotonic()
        try:
            killed_for = await self._first_reason(wall_s)
            ended = await asyncio.to_thread(self._container.end)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_TO_CLOSE_S):
                    await asyncio.shield(self._output)  # what it wrote last
        finally:
            for pump in self._pumps:
                pump.cancel()
            await asyncio.gather(*self._pumps, return_exceptions=True)
            for writer in (self.stdin, *self._kept):
                writer.close()
            await asyncio.shield(asyncio.to_thread(self._container.remove))
        seconds = time.monotonic() - began
        killed_for = killed_for or _limit_behind(ended, self._allowance, seconds)
        return SandboxResult(
            exit_code=ended.exit_code if killed_for is None else None,
            stdout="",
            stderr=self._errors.decode(errors="replace"),
            killed_for=killed_for,
            seconds=seconds,
        )

    @property
    def _output(self) -> asyncio.Task[None]:
        return self._pumps[1]

    async def _first_reason(self, wall_s: float | None) -> str | None:
        """Return why it has to end; None when it ended by itself."""
        stop = asyncio.create_task(self._stop.wait())
        full = asyncio.create_task(_full(self._container.folder, self._allowance))
        try:
            done, _ = await asyncio.wait({self._output, stop, full}, timeout=wall_s, return_when="FIRST_COMPLETED")
            if self._output in done:
                return None
            if full in done:
                return "disk"
            return "stopped" if stop in done else "wall_time"
        finally:
            stop.cancel()
            full.cancel()
            await asyncio.gather(stop, full, return_exceptions=True)

    async def _sort(self, engine: asyncio.StreamReader, shown: asyncio.StreamWriter) -> None:
        """Hand its output to whoever reads, as fast as that one reads, and keep the end of its errors."""
        try:
            async for stream, data in _frames(engine):
                if stream == _OUT:
                    shown.write(data)
                    await shown.drain()
                else:
                    self._errors += data
                    del self._errors[:-_KEPT]
        finally:
            shown.close()


async def _attached(container: Container) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    connection = await asyncio.to_thread(container.start)
    return await asyncio.open_connection(sock=connection)


async def _until_the_end(
    output: asyncio.Task[None], watch: Watch, container: Container, allowance: Allowance, wall_s: float
) -> None:
    """Return when the script ended or broke a limit, which `watch` then names."""
    full = asyncio.create_task(_full(container.folder, allowance))
    stop = asyncio.create_task(watch.stop.wait())
    try:
        done, _ = await asyncio.wait({output, full, stop}, timeout=wall_s, return_when="FIRST_COMPLETED")
        if not done:
            watch.end_for("wall_time")
        elif full in done:
            watch.end_for("disk")
    finally:
        full.cancel()
        stop.cancel()
        await asyncio.gather(full, stop, return_exceptions=True)


async def _full(folder: Path, allowance: Allowance) -> None:
    """Return once the slot's files take more of the disk than they may."""
    most = allowance.disk_mib * MIB
    wait_s = LOOK_S
    while True:
        await asyncio.sleep(wait_s)
        began = time.monotonic()
        if await asyncio.to_thread(lambda: disk_used(folder, (), enough=most)) > most:
            return
        wait_s = max(LOOK_S, 10 * (time.monotonic() - began))


async def _feed(writer: asyncio.StreamWriter, data: bytes) -> None:
    with contextlib.suppress(ConnectionError):
        writer.write(data)
        await writer.drain()
        writer.write_eof()


async def _pass_on(typed: asyncio.StreamReader, engine: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await typed.read(CHUNK):
            engine.write(data)
            await engine.drain()
        engine.write_eof()


async def _take(engine: asyncio.StreamReader, watch: Watch) -> None:
    async for stream, data in _frames(engine):
        watch.take("out" if stream == _OUT else "err", data)


async def _frames(engine: asyncio.StreamReader) -> AsyncIterator[tuple[int, bytes]]:
    """Read what a container writes: a header of eight bytes (stream, size) before each piece."""
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            stream, size = _HEADER.unpack(await engine.readexactly(_HEADER.size))
            while size:
                data = await engine.read(min(size, CHUNK))
                if not data:
                    return
                size -= len(data)
                yield stream, data


def _answer(folder: Path, name: str, watch: Watch, most: int) -> bytes:
    """Return what the runner wrote, and remove it; the script may have put anything in its place."""
    try:
        return read_file(folder, name, most=most + len(runner.READY))
    except BusinessRefusal:
        watch.end_for("result")
        return b""
    except (InvalidArguments, PermissionRefused):
        return b""
    finally:
        with contextlib.suppress(OSError):
            (folder / name).unlink()


def _limit_behind(ended: Ended, allowance: Allowance, seconds: float) -> str | None:
    """Return the limit behind the end of a container, which tells a signal as 128 + its number."""
    if ended.out_of_memory:
        return "memory"
    match ended.exit_code - 128:
        case signal.SIGXCPU:
            return "cpu_time"
        case signal.SIGKILL:
            return "cpu_time" if seconds >= allowance.cpu_s else "signal"
    return None
