"""A cgroup for each program: memory and processes of all its processes together, and none that hides.

Only where this process may make groups: as root, or in a systemd unit with `Delegate=yes` and `DelegateSubgroup=`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

from cluster.sandbox.allowance import MIB, Allowance

_NEEDED = ("memory", "pids")
_ROOT = Path("/sys/fs/cgroup")
_PREFIX = "silicon-"


@dataclass(frozen=True, slots=True)
class Parents:
    """Folders in which groups can be made, one for each controller; with version 2 they are the same."""

    version: int
    folders: Mapping[str, Path]


@cache
def parents() -> Parents | None:
    """Return where this process can make groups for memory and processes; None where it cannot."""
    try:
        own = Path("/proc/self/cgroup").read_text(encoding="utf-8")
    except OSError:
        return None
    found = find_parents(own, _ROOT)
    if found is not None:
        for folder in set(found.folders.values()):
            sweep(folder)
    return found


def find_parents(own: str, root: Path) -> Parents | None:
    """Return where a process can make groups whose `/proc/self/cgroup` reads `own`."""
    paths: dict[str, str] = {}
    for line in own.splitlines():
        _, controllers, path = line.split(":", 2)
        paths.update(dict.fromkeys(controllers.split(","), path.lstrip("/")))
    if all(name in paths for name in _NEEDED):
        folders = {name: root / name / paths[name] for name in _NEEDED}
        return Parents(1, folders) if all(_can_make(folder) for folder in folders.values()) else None
    if "" not in paths:
        return None
    here = root / paths[""]
    for folder in (here, here.parent):  # with a subgroup of its own for the service, its parent is ours
        if folder.is_relative_to(root) and _offers(folder) and _can_make(folder):
            return Parents(2, dict.fromkeys(_NEEDED, folder))
    return None


def sweep(folder: Path) -> None:
    """End and remove the groups of processes that are gone: killed, they could not do so themselves."""
    for group in folder.glob(f"{_PREFIX}*"):
        owner = group.name.removeprefix(_PREFIX).split("-")[0]
        if owner.isdecimal() and not psutil.pid_exists(int(owner)):
            _end_all(group)
            with contextlib.suppress(OSError):
                group.rmdir()


def _can_make(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK) and os.access(folder / "cgroup.procs", os.W_OK)


def _offers(folder: Path) -> bool:
    """Whether groups made here get the controllers; a group that holds processes cannot hand them on."""
    try:
        return set(_NEEDED) <= set((folder / "cgroup.subtree_control").read_text(encoding="utf-8").split())
    except OSError:
        return False


class Cgroup:
    """The group of one program."""

    def __init__(self, made: Parents, name: str, allowance: Allowance) -> None:
        """Make it, with the limits set.

        Raises:
            OSError: the kernel refused.
        """
        self._version = made.version
        own = f"{_PREFIX}{os.getpid()}-{name}"
        self._folders = {folder / own for folder in made.folders.values()}
        self._memory = made.folders["memory"] / own
        try:
            for folder in self._folders:
                folder.mkdir()
            self._limit(made.folders["pids"] / own, allowance)
        except OSError:
            self.remove()
            raise

    def doors(self) -> tuple[int, ...]:
        """Return descriptors; a process that writes "0" to each of them is in the group."""
        return tuple(os.open(folder / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC) for folder in self._folders)

    def pids(self) -> list[int]:
        """Return the processes in the group."""
        return _pids(self._memory)

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel ended a process of the group because the group had no memory left."""
        name = "memory.oom_control" if self._version == 1 else "memory.events"
        return _counted(self._memory / name, "oom_kill") > 0

    def kill(self) -> None:
        """End every process of the group; return when none runs any more, or after a second."""
        _end_all(self._memory)

    def remove(self) -> None:
        """Remove the group; one that still holds a process stays, which only a process that cannot die makes happen."""
        until = time.monotonic() + 1
        left = set(self._folders)
        while left and time.monotonic() < until:
            for folder in tuple(left):
                with contextlib.suppress(OSError):
                    folder.rmdir()
                if not folder.exists():
                    left.discard(folder)
            if left:
                time.sleep(0.002)

    def _limit(self, pids: Path, allowance: Allowance) -> None:
        memory = str(allowance.memory_mib * MIB)
        if self._version == 1:
            _write(self._memory / "memory.limit_in_bytes", memory)
            with contextlib.suppress(OSError):  # only kernels that account for swap have it
                _write(self._memory / "memory.memsw.limit_in_bytes", memory)
        else:
            _write(self._memory / "memory.max", memory)
            with contextlib.suppress(OSError):
                _write(self._memory / "memory.swap.max", "0")
        _write(pids / "pids.max", str(allowance.processes))


def group_for(name: str, allowance: Allowance) -> Cgroup | None:
    """Return a new group; None where none can be made."""
    made = parents()
    if made is None:
        return None
    return Cgroup(made, name, allowance)


def _pids(group: Path) -> list[int]:
    """Return the processes; one of another namespace of processes reads as 0, which to a signal means ourselves."""
    try:
        return [int(pid) for pid in (group / "cgroup.procs").read_text(encoding="utf-8").split() if pid != "0"]
    except OSError:
        return []


def _end_all(group: Path) -> None:
    until = time.monotonic() + 1
    while (pids := _pids(group)) and time.monotonic() < until:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)


def _write(file: Path, text: str) -> None:
    fd = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def _counted(file: Path, name: str) -> int:
    try:
        rows = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return next((int(row.split()[1]) for row in rows if row.startswith(f"{name} ")), 0)
