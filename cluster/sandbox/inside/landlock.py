"""Landlock: a process gives up, for good and for all its children, what lies outside the paths it names.

Numbers and semantics: https://docs.kernel.org/userspace-api/landlock.html. By ctypes, because the child that calls this
may run under another interpreter than ours, without any package.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable
from functools import cache

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_BITS_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15}
"""How many file rights an ABI knows; later ones know 16."""
_TCP = 0b11
"""Bind and connect."""
_SCOPES = 0b11
"""Abstract unix sockets and signals."""

ABI_TCP, ABI_TRUNCATE, ABI_SCOPES = 4, 3, 6
"""From which ABI on TCP can be cut, truncating counts as writing, and signals and abstract sockets stay inside."""


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


@cache
def abi() -> int:
    """Return the ABI version of the running kernel; 0 where Landlock is missing or switched off."""
    return max(0, int(ctypes.CDLL(None).syscall(_CREATE, None, ctypes.c_size_t(0), _VERSION_FLAG)))


def restrict(read: Iterable[str] | None, write: Iterable[str], *, tcp: bool) -> None:
    """Confine this thread, and whatever it starts. `no_new_privs` has to be set before.

    Args:
        read: paths that stay readable and executable; None leaves the file system as it is.
        write: paths that stay readable and writable. Paths that are missing are passed over.
        tcp: whether TCP stays possible.

    Raises:
        OSError: the kernel refused.
    """
    version = abi()
    every = (1 << _BITS_BY_ABI.get(version, 16)) - 1
    handled = _Ruleset(
        fs=0 if read is None else every,
        net=0 if tcp or version < ABI_TCP else _TCP,
        scoped=_SCOPES if version >= ABI_SCOPES else 0,
    )
    size = 24 if version >= ABI_SCOPES else 16 if version >= ABI_TCP else 8
    ruleset = _call(_CREATE, ctypes.byref(handled), ctypes.c_size_t(size), 0)
    try:
        if read is not None:
            for path in read:
                _allow(ruleset, path, _EXECUTE | _READ_FILE | _READ_DIR)
            for path in write:
                _allow(ruleset, path, every)
        _call(_RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # not on this machine, or behind a folder that this user cannot pass: nothing to allow
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _OF_FILES
        beneath = _PathBeneath(allowed=rights, parent=fd)
        _call(_ADD, ruleset, _PATH_BENEATH, ctypes.byref(beneath), 0)
    finally:
        os.close(fd)


def _call(number: int, *arguments: object) -> int:
    ended = int(ctypes.CDLL(None, use_errno=True).syscall(number, *arguments))
    if ended < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"Landlock call {number}: {os.strerror(code)}")
    return ended
