"""A process takes away its own rights, one kind after the other, before it becomes the program of a slot."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import struct
from typing import Any

from . import landlock, seccomp  # noqa: TID252  loaded in the slot too, where no package of ours exists

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION_3 = 0x20080522


def confine(wanted: dict[str, Any], *, keep: int | None) -> None:
    """Do to this process what the driver wants (`cluster.sandbox.cell.Confinement`); of its descriptors, `keep` stays.

    Raises:
        OSError: the kernel refused a part; the program must not run then.
    """
    for fd in wanted["join"]:
        os.write(fd, b"0")  # the cgroup's file takes "0" as whoever writes
    for first, last in ((3, 65_536),) if keep is None else ((3, keep), (keep + 1, 65_536)):
        os.closerange(first, last)
    went = _enter(wanted["folder"])  # root may have to pass a folder that the slot's user cannot
    limit(wanted["limits"])
    if wanted["uid"] is not None:
        os.setgroups([])
        os.setresgid(wanted["uid"], wanted["uid"], wanted["uid"])
        os.setresuid(wanted["uid"], wanted["uid"], wanted["uid"])
        _prctl(_PR_SET_DUMPABLE, 1)  # else its own entries in /proc belong to root
    if not went:  # root without its rights may not enter what is open to the slot's user alone
        os.chdir(wanted["folder"])
    _drop_capabilities()
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    end_with_parent()
    if (paths := wanted["landlock"]) is not None:
        landlock.restrict(paths["read"], paths["write"], tcp=paths["tcp"])
    if wanted["families"] is not None:
        seccomp.load(wanted["families"])


def _enter(folder: str) -> bool:
    try:
        os.chdir(folder)
    except PermissionError:
        return False
    return True


def limit(limits: dict[str, int]) -> None:
    """Set the limits for good. CPU gets a second more as its hard limit, so that SIGXCPU comes before SIGKILL."""
    for name, wanted in limits.items():
        kind = getattr(resource, name)
        most = resource.getrlimit(kind)[1]
        soft = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        hard = soft + 1 if kind == resource.RLIMIT_CPU and most == resource.RLIM_INFINITY else soft
        resource.setrlimit(kind, (soft, hard))


def end_with_parent() -> None:
    """Have the kernel kill this process when the one that started it is gone."""
    with contextlib.suppress(OSError):  # the alarm ends it where the kernel cannot
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _drop_capabilities() -> None:
    """Give up root's rights, also where the process stays root by name."""
    number = _CAPSET.get(os.uname().machine)
    if os.geteuid() != 0 or number is None:
        return  # the kernel took them with the change of user
    head = ctypes.create_string_buffer(struct.pack("=II", _CAPABILITY_VERSION_3, 0))
    none = ctypes.create_string_buffer(24)
    if ctypes.CDLL(None, use_errno=True).syscall(number, head, none) != 0:
        raise OSError(ctypes.get_errno(), "the rights of root could not be given up")


def _prctl(option: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")
