"""A process of a slot: started confined, watched while it runs, and ended with everything that it started."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import signal
import time
from asyncio.subprocess import Process, SubprocessStreamProtocol
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from uuid import uuid4

import psutil

from cluster.errors import SandboxBroken
from cluster.sandbox.allowance import MIB, Allowance
from cluster.sandbox.cell import Cell, Command
from cluster.sandbox.cgroups import Cgroup, group_for
from cluster.sandbox.paths import INSIDE
from cluster.sandbox.processes import MARK, kill_strays, signal_group, strays
from cluster.sandbox.usage import disk_used, memory_used
from contracts import Json
from runtime.capabilities.port import Grants

START = "import sys; sys.path.insert(0, sys.argv[1]); from inside import runner; del sys.path[0]; runner.main()"
_PASSED_ON = ("LANG", "LC_ALL", "TZ", "OPENBLAS_CORETYPE", "OPENBLAS_VERBOSE")
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
GRACE_S = 0.5
"""Between the request to end and the end."""
CHUNK = 65_536
_SIGNALS = frozenset(int(each) for each in signal.valid_signals())
LOOK_S = 0.25
"""Between two looks at disk and memory in use."""


@dataclass(slots=True)
class Started:
    """The process, and what is needed to find and end all that comes of it."""

    cell: Cell
    grants: Grants
    process: Process
    transport: asyncio.SubprocessTransport
    environment: Mapping[str, str]
    """Variables of the slot."""
    doors: Sequence[int]
    """Descriptors of the group that the process joins."""
    answer: int | None
    """The descriptor through which it answers."""
    allowance: Allowance
    group: Cgroup | None
    mark: str
    since: float
    info: int
    held: ExitStack
    first: int | None = None
    """Descriptor of the first process of the slot's own namespace, where it has one."""
    out_of_memory: bool = False
    """Whether the kernel says that memory ran out; known at the end, and only where there is a group."""
    asked: bool = False
    """Whether it was told what to run; until then it waits, with nothing of an order in it."""

    async def head(self, asked: Mapping[str, Json], *, wall_s: float | None) -> bytes:
        """Return what the runner has to be sent first; from then on it may start anything.

        Args:
            asked: what it is asked beside its confinement, see `inside.runner`.
            wall_s: its own alarm, in case nobody else ends it.
        """
        self.asked = True
        confinement = await asyncio.to_thread(self.cell.confinement, self.allowance, self.grants)
        head = {**asked, "wall_s": wall_s, "answer_fd": self.answer, "confine": confinement.to_json(self.doors)}
        text = json.dumps(head).encode()
        return b"%08x" % len(text) + text

    async def broken_limit(self) -> str:
        """Return `disk` or `memory` once the slot uses more of it than it has; runs until cancelled otherwise."""
        wait_s = LOOK_S
        while True:
            await asyncio.sleep(wait_s)
            began = time.monotonic()
            broken = await asyncio.to_thread(self._broken_now)
            if broken is not None:
                return broken
            wait_s = max(LOOK_S, 10 * (time.monotonic() - began))  # looking never takes a tenth of a core

    async def end(self) -> None:
        """End the process and all it started; return when none of them runs, and what held them is given back."""
        try:
            if self.process.returncode is None and not self.cell.own_processes:
                signal_group(self.process.pid, signal.SIGTERM)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(GRACE_S):
                        await self.process.wait()
            await asyncio.to_thread(self._kill)
            await self._read_the_rest()
        finally:
            self.transport.close()
            await self.process.wait()
            await asyncio.to_thread(self.held.close)

    async def _read_the_rest(self) -> None:
        """Take what the pipes still hold, also where nobody has read for a while; asyncio waits for their ends."""
        for number in (1, 2):
            pipe = self.transport.get_pipe_transport(number)
            if isinstance(pipe, asyncio.ReadTransport):
                pipe.resume_reading()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_S):
                await self.process.wait()

    def exit_code(self) -> int | None:
        """Return the exit code, negative for a signal.

        Where a process in between tells a signal as 128 + its number, a program that ends with such a code by itself
        cannot be told from one that was killed; codes that no signal has are the program's own.
        """
        code = self.process.returncode
        if self.cell.own_processes and code is not None and code - 128 in _SIGNALS:
            return 128 - code
        return code

    def _kill(self) -> None:
        if self.cell.own_processes:
            self._look_for_the_first()
        signal_group(self.process.pid, signal.SIGKILL)
        if self.group is not None:
            self.group.kill()
            self.out_of_memory = self.group.ran_out_of_memory()
        if self.first is not None:
            select.select([self.first], [], [], 1)  # its end is the end of the whole namespace
        elif self.group is None and self.asked:  # else nothing came of it, and the slot's user may be at work elsewhere
            kill_strays(self.mark, self.cell.uid, self.since)

    def _broken_now(self) -> str | None:
        pids = self._pids()
        disk, memory = self.allowance.disk_mib * MIB, self.allowance.memory_mib * MIB
        if disk_used(self.cell.folder, pids, enough=disk) > disk:
            return "disk"
        if self.group is None and memory_used(pids) > memory:
            return "memory"
        return None

    def _pids(self) -> list[int]:
        if self.group is not None:
            return self.group.pids()
        if self.cell.own_processes:
            with contextlib.suppress(psutil.Error):
                return [child.pid for child in psutil.Process(self.process.pid).children(recursive=True)]
            return []
        return [process.pid for process in strays(self.mark, self.cell.uid, self.since)]

    def _look_for_the_first(self) -> None:
        """Learn which process ends the namespace; the driver tells as soon as it made it."""
        ready, _, _ = select.select([self.info], [], [], 1 if self.process.returncode is None else 0)
        if ready and self.first is None:
            with contextlib.suppress(ValueError, KeyError, ProcessLookupError):  # it failed early, or is gone by now
                self.first = os.pidfd_open(json.loads(os.read(self.info, CHUNK))["child-pid"])
                self.held.callback(os.close, self.first)


async def start(cell: Cell, grants: Grants, *, answer: int | None = None) -> Started:
    """Start the runner in the cell; it waits for its head. Whoever calls sends that, and ends it.

    Args:
        cell: the slot.
        grants: what the program gets beyond the usual.
        answer: a descriptor that the program keeps.

    Raises:
        SandboxBroken: the process could not be started at all.
    """
    mark, since = uuid4().hex, time.time()
    allowance = Allowance.of(cell.settings, grants)
    with ExitStack() as ours, ExitStack() as passed_on:
        info, told = os.pipe()
        ours.callback(os.close, info)
        passed_on.callback(os.close, told)
        try:
            group = group_for(mark, allowance)
            if group is not None:
                ours.callback(group.remove)
            doors = () if group is None else group.doors()
            for door in doors:
                passed_on.callback(os.close, door)
            command = cell.command(grants, told)
            usual = {**environment_of(cell, mark), **command.environment}
            fds = [*doors, *((told,) if cell.own_processes else ()), *((answer,) if answer is not None else ())]
            transport, process = await _spawn(cell, command, usual, fds)
        except OSError as error:
            raise SandboxBroken(
                f"No program can be started in the slot {cell.folder}: {error}. "
                "`silicon doctor` tells about the sandbox.",
                happened="no",
            ) from error
        return Started(
            cell, grants, process, transport, usual, doors, answer, allowance, group, mark, since, info, ours.pop_all()
        )


async def _spawn(
    cell: Cell, command: Command, environment: Mapping[str, str], fds: Sequence[int]
) -> tuple[asyncio.SubprocessTransport, Process]:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(
        lambda: SubprocessStreamProtocol(limit=CHUNK, loop=loop),
        *command.argv, cell.interpreter, "-I", "-B", "-c", START, str(INSIDE.parent),
        cwd="/", env=dict(environment), start_new_session=True, pass_fds=tuple(fds), umask=0o077,
    )  # fmt: skip
    return transport, Process(transport, protocol, loop)


def environment_of(cell: Cell, mark: str) -> dict[str, str]:
    """Return the few variables that a program of a slot sees."""
    kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    single = dict.fromkeys(_ONE_THREAD, "1")
    return {"PATH": os.defpath, "HOME": str(cell.folder), "LANG": "C.UTF-8", MARK: mark, **single, **kept}
