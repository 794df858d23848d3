"""Ends what a killed process leaves of the Ray that it had started; a program of its own, with no other imports.

    python -I -S reaper.py PID < pipe from that process

Most processes of Ray die with whoever started it. Those that are further down notice it late: they wait for a server
that is gone as well. As long as the pipe is open this remembers all processes below PID; when it closes, those that
still live are killed.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections import defaultdict
from pathlib import Path

LOOK_S = 2.0
GRACE_S = 2.0
"""How long the rest gets to end by itself, which it does when Ray was stopped in good order."""

Life = tuple[int, str]
"""A process id, and when that process began."""


def table() -> dict[int, tuple[int, str]]:
    """Return the parent and the start of each process."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            found[int(entry.name)] = int(fields[1]), fields[19]
    return found


def below(pid: int) -> set[Life]:
    """Return all processes below one, without this one."""
    there = table()
    children = defaultdict(list)
    for child, (parent, _) in there.items():
        children[parent].append(child)
    found: set[Life] = set()
    waiting = list(children[pid])
    while waiting:
        child = waiting.pop()
        if child != os.getpid():
            found.add((child, there[child][1]))
            waiting += children[child]
    return found


def kill(lives: set[Life]) -> None:
    """Kill those of them that still live."""
    there = table()
    for pid, began in lives:
        if pid in there and there[pid][1] == began:
            os.kill(pid, signal.SIGKILL)


def main(pid: int) -> None:
    """Watch until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the command
    known: set[Life] = set()
    while not select.select([sys.stdin], [], [], LOOK_S)[0]:
        known |= below(pid)
    select.select([], [], [], GRACE_S)
    kill(known)


if __name__ == "__main__":
    main(int(sys.argv[1]))
