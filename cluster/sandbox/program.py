"""One program in the slot: started, watched, and ended with everything it started."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import time
from asyncio.subprocess import Process, SubprocessStreamProtocol
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from cluster.sandbox import runner
from cluster.sandbox.processes import MARK, kill_strays, own_threads, signal_group
from runtime.capabilities.port import SandboxResult
from runtime.settings import SlotSettings

_RUNNER = Path(runner.__file__)
_PASSED_ON = ("LANG", "LC_ALL", "TZ", "OPENBLAS_CORETYPE", "OPENBLAS_VERBOSE")
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_GRACE_S = 0.5
"""Between the request to end and the end."""
_CHUNK = 65_536


@dataclass(slots=True)
class _Watch:
    """What a program sent so far, and why it was stopped."""

    most_output: int
    most_answer: int
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    killed_for: str | None = None
    output: int = 0
    parts: dict[str, bytearray] = field(
        default_factory=lambda: {name: bytearray() for name in ("out", "err", "answer")}
    )

    def take(self, name: str, data: bytes) -> None:
        """Keep what came, up to the limit; more than that ends the program."""
        part = self.parts[name]
        if name == "answer":
            room = self.most_answer - len(part)
        else:
            room = self.most_output - self.output
            self.output += min(len(data), room)
        part += data[:room]
        if name == "answer" and data.endswith(b"\n"):
            self.answered.set()
        if len(data) > room:
            self.end_for("result" if name == "answer" else "output")

    def end_for(self, limit: str) -> None:
        """Ask for the end of the program; the first reason counts."""
        self.killed_for = self.killed_for or limit
        self.stop.set()


class Program:
    """A script to run once."""

    def __init__(self, interpreter: str, folder: Path, settings: SlotSettings, *, uid: int | None) -> None:
        self._interpreter = interpreter
        self._folder = folder
        self._settings = settings
        self._uid = uid
        self._mark = uuid4().hex

    async def run(self, script: str, inputs: bytes, *, wall_s: float) -> SandboxResult:
        """Return how it ended; whatever happens, nothing of it runs afterwards."""
        began, since = time.monotonic(), time.time()
        watch = _Watch(self._settings.output_kib * 1_024, self._settings.result_kib * 1_024)
        reading, writing = os.pipe()
        try:
            try:
                asked = await asyncio.to_thread(self._asked, script, inputs, writing, wall_s)
                transport, process = await self._start(writing)
            finally:
                os.close(writing)
            try:
                await self._watch(process, watch, reading, asked, wall_s=wall_s)
            finally:
                try:
                    await asyncio.shield(self._end(process, since))
                finally:
                    transport.close()  # a pipe that nobody read to its end stays open otherwise
        finally:
            os.close(reading)
        return self._result(process.returncode, watch, time.monotonic() - began)

    async def _start(self, answer: int) -> tuple[asyncio.SubprocessTransport, Process]:
        user: dict[str, Any] = {}
        if self._uid is not None:
            user = {"user": self._uid, "group": self._uid, "extra_groups": []}
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.subprocess_exec(
            lambda: SubprocessStreamProtocol(limit=_CHUNK, loop=loop),
            self._interpreter, "-I", "-B", str(_RUNNER),
            cwd=self._folder, env=self._environment(), start_new_session=True, pass_fds=(answer,), umask=0o077,
            **user,
        )  # fmt: skip
        return transport, Process(transport, protocol, loop)

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        single = dict.fromkeys(_ONE_THREAD, "1")
        return {"PATH": os.defpath, "HOME": str(self._folder), "LANG": "C.UTF-8", MARK: self._mark, **single, **kept}

    def _asked(self, script: str, inputs: bytes, answer: int, wall_s: float) -> bytes:
        source = script.encode()
        order = {"script_bytes": len(source), "answer_fd": answer, "wall_s": wall_s, "limits": self._limits()}
        return json.dumps(order).encode() + b"\n" + source + inputs

    def _limits(self) -> dict[str, int]:
        limits, mib = self._settings, 1_024 * 1_024
        others = own_threads() if self._uid is None and os.geteuid() != 0 else 0
        return {
            "RLIMIT_CPU": max(1, round(limits.cpu_s)),
            "RLIMIT_AS": limits.memory_mib * mib,
            "RLIMIT_FSIZE": limits.file_mib * mib,
            "RLIMIT_NOFILE": limits.open_files,
            "RLIMIT_NPROC": limits.processes + others,
            "RLIMIT_CORE": 0,
        }

    async def _watch(self, process: Process, watch: _Watch, answer: int, asked: bytes, *, wall_s: float) -> None:
        """Feed and read the program until it ends, breaks a limit or runs out of time."""
        assert process.stdout is not None
        assert process.stderr is not None
        answers = await _reader(answer)
        tasks = [
            asyncio.create_task(_feed(process, asked)),
            asyncio.create_task(_drain(process.stdout, "out", watch)),
            asyncio.create_task(_drain(process.stderr, "err", watch)),
            asyncio.create_task(_drain(answers.reader, "answer", watch)),
        ]
        # a process counts as ended for asyncio when its pipes are closed, and a child may keep those open for long
        signs = [
            asyncio.create_task(process.wait()),
            asyncio.create_task(watch.answered.wait()),
            asyncio.create_task(watch.stop.wait()),
        ]
        try:
            done, _ = await asyncio.wait(signs, timeout=wall_s, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                watch.end_for("wall_time")
            if watch.killed_for is None:
                await asyncio.wait([*tasks, signs[0]], timeout=_GRACE_S)  # what is still in the pipes
        finally:
            for task in (*tasks, *signs):
                task.cancel()
            await asyncio.gather(*tasks, *signs, return_exceptions=True)
            answers.close()

    async def _end(self, process: Process, since: float) -> None:
        if process.returncode is None:
            signal_group(process.pid, signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_GRACE_S):
                    await process.wait()
        signal_group(process.pid, signal.SIGKILL)
        await asyncio.to_thread(kill_strays, self._mark, self._uid, since)
        await process.wait()

    def _result(self, exit_code: int | None, watch: _Watch, seconds: float) -> SandboxResult:
        answer = bytes(watch.parts["answer"]).removesuffix(b"\n")
        killed_for = watch.killed_for or self._limit_behind(exit_code, answer, seconds)
        return SandboxResult(
            exit_code=exit_code if killed_for is None else None,
            stdout=watch.parts["out"].decode(errors="replace"),
            stderr=watch.parts["err"].decode(errors="replace"),
            killed_for=killed_for,
            seconds=seconds,
            answer=answer,
        )

    def _limit_behind(self, exit_code: int | None, answer: bytes, seconds: float) -> str | None:
        """Return the limit that the kernel or the script itself met; the kernel only tells a signal.

        Memory is named only where the script itself ran into it: whoever sent SIGKILL does not say why.
        """
        if exit_code == -signal.SIGXCPU:
            return "cpu_time"
        if exit_code == -signal.SIGKILL and not answer:
            return "cpu_time" if seconds >= self._settings.cpu_s else "signal"
        return "memory" if answer == runner.OUT_OF_MEMORY else None


@dataclass(slots=True)
class _Answers:
    reader: asyncio.StreamReader
    transport: asyncio.ReadTransport

    def close(self) -> None:
        self.transport.close()


async def _reader(fd: int) -> _Answers:
    reader = asyncio.StreamReader()
    pipe = os.fdopen(os.dup(fd), "rb", buffering=0)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), pipe
    )
    return _Answers(reader, transport)


async def _drain(stream: asyncio.StreamReader, name: str, watch: _Watch) -> None:
    while data := await stream.read(_CHUNK):
        watch.take(name, data)
    if name == "answer":
        watch.answered.set()


async def _feed(process: Process, data: bytes) -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(data)
        await process.stdin.drain()
        process.stdin.close()
        await process.stdin.wait_closed()
