"""How much of the disk and of memory the programs of a slot use now: what no limit of the kernel counts for them."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path

_LONGEST = 3_500
_ENTRY = 4_096
"""Bytes that a file counts at least, so that a million empty ones are noticed too."""


def disk_used(folder: Path, pids: Iterable[int], *, enough: int) -> int:
    """Return the bytes on disk below the folder, with files that are deleted but still open; stop at `enough`."""
    used = _below(folder, enough)
    for pid in pids:
        if used > enough:
            break
        used += _deleted_but_open(pid)
    return used


def memory_used(pids: Iterable[int]) -> int:
    """Return the memory that these processes have for themselves or share in memory, in bytes."""
    return sum(_memory(pid) for pid in pids)


def _below(folder: Path, enough: int) -> int:
    used, left = 0, [os.fspath(folder)]
    while left and used <= enough:
        folder_path = left.pop()
        if len(folder_path) > _LONGEST:  # deeper than a path can name: nobody could look there
            return enough + 1
        with contextlib.suppress(OSError), os.scandir(folder_path) as entries:
            for entry in entries:
                state = entry.stat(follow_symlinks=False)
                used += max(_ENTRY, state.st_blocks * 512)
                if stat.S_ISDIR(state.st_mode):
                    left.append(entry.path)
                if used > enough:
                    break
    return used


def _deleted_but_open(pid: int) -> int:
    used, seen = 0, set()
    with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                state = entry.stat()
                if stat.S_ISREG(state.st_mode) and state.st_nlink == 0 and state.st_ino not in seen:
                    seen.add(state.st_ino)
                    used += state.st_blocks * 512
    return used


def _memory(pid: int) -> int:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status", encoding="utf-8") as rows:  # noqa: PTH123
        return sum(int(row.split()[1]) * 1_024 for row in rows if row.startswith(("RssAnon:", "RssShmem:")))
    return 0
