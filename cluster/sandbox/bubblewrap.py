"""Driver `bubblewrap`: programs see a machine of their own: its processes, its network, and few files of the real one.

Needs the program `bwrap` (0.5 or newer), and either root's rights or user namespaces for everybody. Root's rights build
the place and are given up inside it, so that a program has the slot's own user wherever the interpreter lies.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from cluster.sandbox import cgroups
from cluster.sandbox.allowance import MIB, Allowance
from cluster.sandbox.cell import Command, Confinement, Paths
from cluster.sandbox.folders import fresh_folder, remove_folder
from cluster.sandbox.inside import landlock, seccomp
from cluster.sandbox.paths import readable
from cluster.sandbox.port import Lack
from cluster.sandbox.rlimits import FIRST_UID
from cluster.sandbox.slot_sandbox import ProcessSandbox
from runtime.capabilities.port import NO_GRANTS, Grants, Sandbox
from runtime.settings import SlotSettings

_ALONE = ("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "slot")
_BOUND_TO_US = ("--die-with-parent", "--new-session")
_INTERNET = (seccomp.INET, seccomp.INET6, seccomp.NETLINK)
_FACTS = "/sys/devices/system/cpu"
_SCRATCH_MIB = 64
"""Size of /tmp and of /dev/shm, which lie in memory and are gone with the program."""


class BubblewrapDriver:
    """The strongest driver without a container engine."""

    name = "bubblewrap"

    def __init__(self, settings: SlotSettings, *, uid: int | None = None, interpreter: str = sys.executable) -> None:
        """Take the limits from `settings`; `uid` is the slot's own user, which only root can give it."""
        self._settings = settings
        self._interpreter = interpreter
        self._uid = uid

    @classmethod
    def for_slot(cls, settings: SlotSettings, index: int, *, interpreter: str = sys.executable) -> BubblewrapDriver:
        """Return the driver of one slot; with root's rights each slot gets a user of its own."""
        uid = FIRST_UID + index if os.geteuid() == 0 else None
        return cls(settings, uid=uid, interpreter=interpreter)

    @property
    def cannot_enforce(self) -> tuple[str, ...]:
        """Limits this driver cannot hold on this machine, by name."""
        holds = {
            Lack.OWN_USER: self._uid is not None,
            Lack.PROCESSES: self._uid is not None or _counts_by_namespace() or cgroups.parents() is not None,
            Lack.KERNEL: seccomp.available(),
        }
        return tuple(lack.value for lack, held in holds.items() if not held)

    @property
    def how_to_mend(self) -> str:
        """Say how this machine would get a stronger sandbox; empty where this is the strongest."""
        if self._uid is not None:
            return ""
        return (
            "Scripts have your user id, in a place of their own: only with root's rights each slot gets its own user."
        )

    async def open(self, folder: Path) -> ProcessSandbox:
        """Return a sandbox in a fresh, empty folder."""
        await asyncio.to_thread(fresh_folder, folder, self._uid)
        return ProcessSandbox(BubblewrapCell(folder, self._settings, uid=self._uid, interpreter=self._interpreter))

    async def close(self, sandbox: Sandbox) -> None:
        """End residents and remove the folder; scripts ended with their own call."""
        if isinstance(sandbox, ProcessSandbox):
            await sandbox.end_residents()
        await asyncio.to_thread(remove_folder, sandbox.folder)


class BubblewrapCell:
    """A slot whose programs see the interpreter, the system's libraries and their own folder."""

    own_processes = True

    def __init__(self, folder: Path, settings: SlotSettings, *, uid: int | None, interpreter: str) -> None:
        self.folder = folder
        self.settings = settings
        self.uid = uid
        self.interpreter = interpreter

    def command(self, grants: Grants, info_fd: int) -> Command:
        """Return bubblewrap with everything it is to build."""
        built = arguments(str(self.folder), readable(self.interpreter, grants), network=grants.network)
        return Command((_program(), "--info-fd", str(info_fd), *built, "--"), environment={"TMPDIR": "/tmp"})  # noqa: S108

    def confinement(self, allowance: Allowance, grants: Grants) -> Confinement:
        """Return limits, the slot's user, and what namespaces leave open: odd sockets, and calls into the kernel."""
        families = [*_INTERNET, seccomp.UNIX]
        scopes = None
        if grants.network:  # with the machine's network come the abstract unix sockets of its services
            if landlock.abi() >= landlock.ABI_SCOPES:
                scopes = Paths(read=None, write=(), tcp=True)
            else:
                families.remove(seccomp.UNIX)
        limits = allowance.rlimits(others=0)
        return Confinement(self.folder, limits, self.uid, scopes, families if seccomp.available() else None)

    def renew(self) -> None:
        """Make the folder again, where it is gone."""
        if not self.folder.is_dir() or self.folder.is_symlink():
            fresh_folder(self.folder, self.uid)


def arguments(folder: str | None, read: Sequence[str], *, network: bool) -> list[str]:
    """Return what bubblewrap is to build: `read` as it is, `folder` writable, and small places in memory."""
    size = str(_SCRATCH_MIB * MIB)
    built = [*_ALONE, *_BOUND_TO_US, *(() if network else ("--unshare-net",))]
    if os.geteuid() == 0:
        built += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        built += ["--unshare-user"]
    built += ["--perms", "1777", "--size", size, "--tmpfs", "/tmp", "--dev", "/dev", "--proc", "/proc"]  # noqa: S108
    built += ["--perms", "1777", "--size", size, "--tmpfs", "/dev/shm"]  # noqa: S108
    bound = [*read, _FACTS, *(() if folder is None else (folder,))]
    for parent in _parents(bound):
        built += ["--dir", parent]  # made by bubblewrap on the way, they would be closed to the slot's user
    for path in read:
        built += ["--ro-bind", path, path]
    built += ["--ro-bind-try", _FACTS, _FACTS]
    if folder is not None:
        built += ["--bind", folder, folder]
    return [*built, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/"]


def _parents(paths: Iterable[str]) -> list[str]:
    """Return the folders above, outermost first."""
    above = {str(parent) for path in paths for parent in Path(path).parents}
    return sorted(above - {"/", "/tmp", "/dev", "/proc"})  # noqa: S108


@cache
def _program() -> str:
    return shutil.which("bwrap") or ""


@cache
def why_not() -> str:
    """Return why bubblewrap does not work on this machine; empty where it does. It is really started, once."""
    if not _program():
        return "the program bwrap is not installed (Debian, Fedora: package `bubblewrap`)"
    read = readable(sys.executable, NO_GRANTS)
    command = [_program(), *arguments(None, read, network=False), "--", sys.executable, "-I", "-S", "-B", "-c", ""]
    try:
        tried = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError) as error:
        return f"bwrap cannot be started: {error}"
    return "" if tried.returncode == 0 else f"bwrap says: {tried.stderr.strip()[-300:] or tried.returncode}"


def _counts_by_namespace() -> bool:
    """Whether the kernel counts processes for each user namespace, as Linux does since 5.14."""
    major, minor = os.uname().release.split(".")[:2]
    return (int(major), int(minor)) >= (5, 14)
