"""Finding and ending every process that a program of the slot started, also those that hide from their group."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import psutil

MARK = "SILICON_SLOT_RUN"
"""Environment variable that every process of one run inherits."""


def signal_group(group: int, number: signal.Signals) -> None:
    """Send a signal to a process group; one that is gone is fine."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def kill_strays(mark: str, uid: int | None, since: float) -> int:
    """Kill what is left of a run and return how many there were.

    A stray is a process with the run's mark in its environment, or one of the user id that only this slot has.
    `since` (seconds since the epoch) leaves out everything older than the run.
    """
    return _kill(lambda: strays(mark, uid, since))


def kill_strays_of(slot: Path, *, spare: Path | None = None) -> int:
    """Kill every program that still runs in a folder of this slot, `SLOT-…`, and return how many there were.

    `spare` is the one folder in which something may run.
    """
    return _kill(lambda: _in_folder(f"{slot}-", spare))


def _kill(find: Callable[[], Iterator[psutil.Process]]) -> int:
    killed = 0
    for _ in range(20):  # a process that forks faster than it is killed gets another round
        strays = list(find())
        if not strays:
            break
        for stray in strays:
            with contextlib.suppress(psutil.Error):
                stray.kill()
                killed += 1
        _await_end(strays)
    return killed


def _await_end(strays: Iterable[psutil.Process]) -> None:
    """Return when none of them runs any more; one that only waits to be buried does not, whoever buries it."""
    until = time.monotonic() + 1
    while any(_runs(stray) for stray in strays) and time.monotonic() < until:
        time.sleep(0.005)


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def own_threads() -> int:
    """Return how many threads the user of this process runs now: RLIMIT_NPROC counts them all."""
    uid = os.getuid()
    total = 0
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.uids().real == uid:
                total += process.num_threads()
    return total


def strays(mark: str, uid: int | None, since: float) -> Iterator[psutil.Process]:
    """Return what runs of a run; see `kill_strays`."""
    own = os.getpid()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.pid == own or process.create_time() < since - 2 or process.status() == psutil.STATUS_ZOMBIE:
                continue
            if (uid is not None and process.uids().real == uid) or _has_mark(process, mark):
                yield process


def _in_folder(start: str, spare: Path | None) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.status() == psutil.STATUS_ZOMBIE:
                continue
            environment = process.environ()
            home = environment.get("HOME", "")
            if MARK in environment and home.startswith(start) and home != str(spare):
                yield process


def _has_mark(process: psutil.Process, mark: str) -> bool:
    return process.environ().get(MARK) == mark
