"""Drivers `rlimits` and `rlimits+landlock`: a process of its own session, which gives up its rights before it starts.

The first needs nothing but a kernel; the second also confines files by Landlock and kernel calls by seccomp.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from cluster.sandbox import cgroups
from cluster.sandbox.allowance import Allowance
from cluster.sandbox.cell import Command, Confinement, Paths
from cluster.sandbox.folders import fresh_folder, remove_folder
from cluster.sandbox.inside import landlock, seccomp
from cluster.sandbox.paths import readable
from cluster.sandbox.port import Lack
from cluster.sandbox.processes import own_threads
from cluster.sandbox.slot_sandbox import ProcessSandbox
from runtime.capabilities.port import Grants, Sandbox
from runtime.settings import SlotSettings

FIRST_UID = 2_000_000_000
"""User ids of slots start here, far above those of people and services; no name is needed for them."""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_FACTS = (
    "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm", "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
)  # fmt: skip
"""What libraries ask about the machine; of processes only the script's own."""
_INTERNET = (seccomp.INET, seccomp.INET6, seccomp.NETLINK)


class RlimitsDriver:
    """The drivers that work everywhere. What they cannot hold, they say in `cannot_enforce`."""

    def __init__(
        self, settings: SlotSettings, *, interpreter: str = sys.executable, uid: int | None = None,
        use_landlock: bool = False,
    ) -> None:  # fmt: skip
        """Take the limits from `settings`; as root, programs run as `uid` (one no other slot has) where that works."""
        self._settings = settings
        self._interpreter = interpreter
        self._uid = uid if uid is not None and _can_run_as(uid, interpreter) else None
        self._landlock = use_landlock and landlock.abi() > 0
        self._seccomp = use_landlock and seccomp.available()

    @classmethod
    def for_slot(
        cls, settings: SlotSettings, index: int, *, interpreter: str = sys.executable, use_landlock: bool = False
    ) -> RlimitsDriver:
        """Return the driver of one slot; with root's rights each slot gets a user of its own."""
        uid = FIRST_UID + index if os.geteuid() == 0 else None
        return cls(settings, interpreter=interpreter, uid=uid, use_landlock=use_landlock)

    @property
    def name(self) -> str:
        """Name of the driver."""
        return "rlimits+landlock" if self._landlock else "rlimits"

    @property
    def cannot_enforce(self) -> tuple[str, ...]:
        """Limits this driver cannot hold on this machine, by name."""
        group, version = cgroups.parents() is not None, landlock.abi() if self._landlock else 0
        holds = {
            Lack.NETWORK: self._seccomp,
            Lack.READING: self._landlock,
            Lack.WRITING: version >= landlock.ABI_TRUNCATE,
            Lack.OWN_USER: self._uid is not None,
            Lack.OTHER_PROGRAMS: self._uid is not None or version >= landlock.ABI_SCOPES,
            Lack.PROCESSES: self._uid is not None or os.geteuid() != 0 or group,  # the kernel does not count root's
            Lack.KERNEL: self._seccomp,
            Lack.HIDING: self._uid is not None or group,
        }
        return tuple(lack.value for lack, held in holds.items() if not held)

    @property
    def how_to_mend(self) -> str:
        """Say how this machine would get a stronger sandbox."""
        told = "Install bubblewrap for a stronger sandbox (Debian, Fedora: package `bubblewrap`)."
        if self._uid is not None:
            return told
        if os.geteuid() != 0:
            return f"{told} Scripts run as you: only with root's rights each slot gets a user of its own."
        return (
            f"{told} Scripts run as root without root's rights, because other users cannot read Python "
            f"({self._interpreter}). Use one from a folder that others may read, outside root's home; then each slot "
            "gets a user of its own."
        )

    async def open(self, folder: Path) -> ProcessSandbox:
        """Return a sandbox in a fresh, empty folder."""
        await asyncio.to_thread(fresh_folder, folder, self._uid)
        return ProcessSandbox(
            RlimitsCell(
                folder, self._settings, interpreter=self._interpreter, uid=self._uid, use_landlock=self._landlock,
                use_seccomp=self._seccomp,
            )
        )  # fmt: skip

    async def close(self, sandbox: Sandbox) -> None:
        """End residents and remove the folder; scripts ended with their own call."""
        if isinstance(sandbox, ProcessSandbox):
            await sandbox.end_residents()
        await asyncio.to_thread(remove_folder, sandbox.folder)


class RlimitsCell:
    """A slot whose programs see this machine as it is."""

    own_processes = False

    def __init__(
        self, folder: Path, settings: SlotSettings, *, interpreter: str, uid: int | None, use_landlock: bool,
        use_seccomp: bool,
    ) -> None:  # fmt: skip
        self.folder = folder
        self.settings = settings
        self.interpreter = interpreter
        self.uid = uid
        self._landlock = use_landlock
        self._seccomp = use_seccomp

    def command(self, grants: Grants, info_fd: int) -> Command:
        """Return the plain start; temporary files go to the slot's folder."""
        return Command(argv=(), environment={"TMPDIR": str(self.folder)})

    def confinement(self, allowance: Allowance, grants: Grants) -> Confinement:
        """Return limits, paths and kinds of sockets."""
        others = own_threads() if self.uid is None and os.geteuid() != 0 else 0
        paths, families = None, None
        if self._landlock:
            read = [*readable(self.interpreter, grants), *_FACTS]
            paths = Paths(read, [".", *_DEVICES], tcp=grants.network)
        if self._seccomp:
            families = _families(grants)
        return Confinement(self.folder, allowance.rlimits(others=others), self.uid, paths, families)

    def renew(self) -> None:
        """Make the folder again, where an earlier script deleted it."""
        if not self.folder.is_dir() or self.folder.is_symlink():
            fresh_folder(self.folder, self.uid)


def _families(grants: Grants) -> Sequence[int]:
    """Return the kinds of sockets; never unix sockets: those of the machine's services stand open to all."""
    return _INTERNET if grants.network else ()


@cache
def _can_run_as(uid: int, interpreter: str) -> bool:
    """Whether a user without rights can start the interpreter with its libraries, which root's home may hide."""
    try:
        tried = subprocess.run(  # noqa: S603
            [interpreter, "-I", "-B", "-c", "import json, resource, traceback"],
            user=uid, group=uid, extra_groups=[], cwd="/", env={"PATH": os.defpath}, capture_output=True, timeout=30,
            check=False,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.SubprocessError):
        return False
    return tried.returncode == 0
