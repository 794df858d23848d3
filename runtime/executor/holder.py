"""Who holds a lease, named so that another process of the same machine can tell whether the holder still lives."""

from __future__ import annotations

import os
import socket
from hashlib import sha256
from pathlib import Path

_SEPARATOR = "/"


def this_process() -> str:
    """Return the name of this process: host, machine, process id and start time.

    The machine part stands for one boot and one process table, because a process id means nothing in another.
    """
    pid = os.getpid()
    return _SEPARATOR.join((socket.gethostname(), _machine(), str(pid), _started(pid) or "0"))


def host_and_pid(holder: str) -> tuple[str, str]:
    """Return on which host the holder runs, and its process id there."""
    host, _, pid, *_ = holder.split(_SEPARATOR)
    return host, pid


def is_gone(holder: str) -> bool:
    """Whether the holder was a process of this very machine that no longer runs; False whenever that is not sure."""
    parts = holder.split(_SEPARATOR)
    if len(parts) < 4 or parts[1] != _machine() or not parts[2].isdigit() or parts[3] == "0":
        return False
    return _started(int(parts[2])) != parts[3]


def _machine() -> str:
    """Return what tells this boot and process table apart from others; empty where the system does not say."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        table = Path("/proc/self/ns/pid").readlink()
    except OSError:
        return ""
    return sha256(f"{boot} {table}".encode()).hexdigest()[:12]


def _started(pid: int) -> str | None:
    """Return when a process began, in ticks since boot; None when there is none, or it only waits to be buried."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if after_name[0] in ("Z", "X") else after_name[19]
