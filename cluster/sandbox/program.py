"""A script in the slot: run once, watched, and ended with everything it started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from asyncio.subprocess import Process
from dataclasses import dataclass, field
from typing import Self

from cluster.errors import SandboxBroken
from cluster.sandbox.cell import Cell
from cluster.sandbox.inside import runner
from cluster.sandbox.started import CHUNK, GRACE_S, Started, start
from runtime.capabilities.port import Grants, SandboxResult


@dataclass(slots=True)
class Watch:
    """What a program sent so far, and why it was stopped."""

    most_output: int
    most_answer: int
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    killed_for: str | None = None
    output: int = 0
    ready: bool = False
    """Whether the process was confined, so that the script began."""
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
        if name == "answer" and not self.ready and part.startswith(runner.READY):
            self.ready = True
            del part[: len(runner.READY)]
        if name == "answer" and part.endswith(b"\n"):
            self.answered.set()
        if len(data) > room:
            self.end_for("result" if name == "answer" else "output")

    def end_for(self, limit: str) -> None:
        """Ask for the end of the program; the first reason counts."""
        self.killed_for = self.killed_for or limit
        self.stop.set()


class Interpreter:
    """A process that waits in the slot for the one script that it will run."""

    def __init__(self, begun: Started, answers: int) -> None:
        self.begun = begun
        self.answers = answers
        """Descriptor from which the answer is read."""

    @classmethod
    async def start(cls, cell: Cell, grants: Grants) -> Self:
        """Start it; nothing of an order is in it yet. Raise SandboxBroken when it cannot be started."""
        reading, writing = os.pipe()
        try:
            return cls(await start(cell, grants, answer=writing), reading)
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(writing)

    @property
    def waits(self) -> bool:
        """Whether it is still there."""
        return self.begun.process.returncode is None

    async def end(self) -> None:
        """End it with all it started."""
        try:
            await asyncio.shield(self.begun.end())
        finally:
            os.close(self.answers)


class Program:
    """A script to run once, in an interpreter of its own: a fresh one, or one that has waited for it."""

    def __init__(self, cell: Cell, grants: Grants, ready: Interpreter | None = None) -> None:
        self._cell = cell
        self._grants = grants
        self._ready = ready

    async def run(self, script: str, inputs: bytes, *, wall_s: float) -> SandboxResult:
        """Return how it ended; whatever happens, nothing of it runs afterwards.

        Raises:
            SandboxBroken: it could not be started, or not be confined.
        """
        began, limits = time.monotonic(), self._cell.settings
        watch = Watch(limits.output_kib * 1_024, limits.result_kib * 1_024)
        source = script.encode()
        interpreter = self._ready or await Interpreter.start(self._cell, self._grants)
        begun = interpreter.begun
        try:
            head = await begun.head({"script_bytes": len(source)}, wall_s=wall_s)
            await _watch(begun, watch, interpreter.answers, head + source + inputs, wall_s=wall_s)
        finally:
            await interpreter.end()
        return _result(begun, watch, time.monotonic() - began)


async def _watch(begun: Started, watch: Watch, answer: int, asked: bytes, *, wall_s: float) -> None:
    """Feed and read the program until it ends, breaks a limit or runs out of time."""
    process = begun.process
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
    ended, limit = asyncio.create_task(process.wait()), asyncio.create_task(begun.broken_limit())
    signs = [ended, limit, asyncio.create_task(watch.answered.wait()), asyncio.create_task(watch.stop.wait())]
    try:
        done, _ = await asyncio.wait(signs, timeout=wall_s, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            watch.end_for("wall_time")
        elif limit in done:
            watch.end_for(limit.result())
        if watch.killed_for is None:
            await asyncio.wait([*tasks, ended], timeout=GRACE_S)  # what is still in the pipes
    finally:
        for task in (*tasks, *signs):
            task.cancel()
        await asyncio.gather(*tasks, *signs, return_exceptions=True)
        answers.close()


def _result(begun: Started, watch: Watch, seconds: float) -> SandboxResult:
    answer = bytes(watch.parts["answer"]).removesuffix(b"\n")
    exit_code = begun.exit_code()
    killed_for = watch.killed_for or limit_behind(begun, exit_code, answer, seconds)
    if not watch.ready and killed_for is None:
        why = (answer or bytes(watch.parts["err"][-500:])).decode(errors="replace").strip()
        raise SandboxBroken(
            f"The script did not run, because it could not be confined: {why or 'its process ended at once'}. "
            "`silicon doctor` tells about the sandbox.",
            happened="no",
        )
    return SandboxResult(
        exit_code=exit_code if killed_for is None else None,
        stdout=watch.parts["out"].decode(errors="replace"),
        stderr=watch.parts["err"].decode(errors="replace"),
        killed_for=killed_for,
        seconds=seconds,
        answer=answer,
    )


def limit_behind(begun: Started, exit_code: int | None, answer: bytes, seconds: float) -> str | None:
    """Return the limit that the kernel or the script itself met; the kernel often only tells a signal.

    Memory is named only where the script ran into it, or the kernel counted it: whoever sent SIGKILL does not say why.
    """
    if exit_code == -signal.SIGXCPU:
        return "cpu_time"
    if exit_code == -signal.SIGKILL and not answer:
        if begun.out_of_memory:
            return "memory"
        return "cpu_time" if seconds >= begun.allowance.cpu_s else "signal"
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


async def _drain(stream: asyncio.StreamReader, name: str, watch: Watch) -> None:
    while data := await stream.read(CHUNK):
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
