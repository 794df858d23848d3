"""Driver `rlimits`: a process of its own session under the kernel's resource limits, in the slot's folder."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from cluster.sandbox import runner
from cluster.sandbox.folders import fresh_folder, remove_folder
from cluster.sandbox.program import Program
from runtime.capabilities.port import Sandbox, SandboxResult
from runtime.settings import SlotSettings

_FIRST_UID = 2_000_000_000
"""User ids of slots start here, far above those of people and services; no name is needed for them."""
_ALWAYS = ("network", "reading outside the folder", "disk space of the slot")
_WITHOUT_OWN_USER = ("own user", "writing outside the folder", "processes that hide")


class RlimitsDriver:
    """The driver that works everywhere. What it cannot hold, it says in `cannot_enforce`."""

    name = "rlimits"

    def __init__(self, settings: SlotSettings, *, interpreter: str = sys.executable, uid: int | None = None) -> None:
        """Take the limits from `settings`; as root, programs run as `uid` (one no other slot has) where that works."""
        self._settings = settings
        self._interpreter = interpreter
        self._uid = uid if uid is not None and _can_run_as(uid, interpreter) else None

    @classmethod
    def for_slot(cls, settings: SlotSettings, index: int, *, interpreter: str = sys.executable) -> RlimitsDriver:
        """Return the driver of one slot; with root's rights each slot gets a user of its own."""
        uid = _FIRST_UID + index if os.geteuid() == 0 else None
        return cls(settings, interpreter=interpreter, uid=uid)

    @property
    def cannot_enforce(self) -> tuple[str, ...]:
        """Limits this driver cannot hold on this machine, by name."""
        missing: tuple[str, ...] = _ALWAYS
        if self._uid is None:
            missing += _WITHOUT_OWN_USER
        if self._uid is None and os.geteuid() == 0:
            missing += ("processes",)  # the kernel does not count those of root
        return missing

    async def open(self, folder: Path) -> RlimitsSandbox:
        """Return a sandbox in a fresh, empty folder."""
        await asyncio.to_thread(fresh_folder, folder, self._uid)
        return RlimitsSandbox(folder, self._settings, interpreter=self._interpreter, uid=self._uid)

    async def close(self, sandbox: Sandbox) -> None:
        """Remove the folder; programs ended with their own call."""
        await asyncio.to_thread(remove_folder, sandbox.folder)


class RlimitsSandbox:
    """One folder, one program at a time or several."""

    def __init__(self, folder: Path, settings: SlotSettings, *, interpreter: str, uid: int | None) -> None:
        self._folder = folder
        self._settings = settings
        self._interpreter = interpreter
        self._uid = uid

    @property
    def folder(self) -> Path:
        """The slot's own folder."""
        return self._folder

    async def run_python(self, script: str, *, stdin: bytes = b"", wall_s: float | None = None) -> SandboxResult:
        """Run `script` under the slot's limits; `stdin` is the JSON of its `inputs`."""
        if not self._folder.is_dir():  # an earlier script may have deleted it
            await asyncio.to_thread(fresh_folder, self._folder, self._uid)
        program = Program(self._interpreter, self._folder, self._settings, uid=self._uid)
        return await program.run(script, stdin, wall_s=wall_s or self._settings.wall_s)


def _can_run_as(uid: int, interpreter: str) -> bool:
    """Whether a user without rights can start the interpreter with its libraries, which root's home may hide."""
    try:
        tried = subprocess.run(  # noqa: S603
            [interpreter, "-I", "-B", "-c", f"import json, resource, traceback; open({runner.__file__!r}).close()"],
            user=uid, group=uid, extra_groups=[], cwd="/", env={"PATH": os.defpath}, capture_output=True, timeout=30,
            check=False,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.SubprocessError):
        return False
    return tried.returncode == 0
