"""Looks at a slot's folder as something that a program may have prepared: nothing in it is followed or trusted."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from cluster.workspaces.manifest import (
    FOLDER,
    LINK,
    SECOND_NAME,
    SPECIAL,
    TOO_LARGE,
    TOO_MANY,
    TOO_MUCH,
    UNNAMEABLE,
    UNREADABLE,
    Entry,
    Manifest,
    is_path,
)
from runtime.canonical import clean_text
from runtime.telemetry.redaction import redact

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_UNSURE_NS = 50_000_000
"""A kernel's clock of files moves in steps of up to 10 ms: what was written just before a look may be written again
without a sign, and is read again by the next look (git's "racy" files)."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a folder is kept."""

    files: int
    file_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells without reading that a file is the one that was read."""

    inode: int
    size: int
    mode: int
    modified_ns: int
    changed_ns: int

    @classmethod
    def of(cls, state: os.stat_result) -> Stamp:
        """Return what a stat tells."""
        return cls(state.st_ino, state.st_size, stat.S_IMODE(state.st_mode), state.st_mtime_ns, state.st_ctime_ns)


@dataclass(slots=True)
class Look:
    """What one look at a folder found."""

    manifest: Manifest = field(default_factory=dict)
    stamps: dict[str, Stamp] = field(default_factory=dict)
    """Files whose bytes need not be read again while they look like this."""
    read: dict[str, bytes] = field(default_factory=dict)
    """sha256 → bytes of what had to be read."""


class Looking:
    """Looks at one folder again and again; reads only what changed since the last look."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._folder = folder
        self._limits = limits

    def look(self, before: Mapping[str, Entry], stamps: Mapping[str, Stamp]) -> Look:
        """Return what the folder holds now.

        What lies below a name that begins with a dot, at the top of the folder, belongs to programs (caches, profiles)
        and is passed over: the folder is their HOME. Limits hold for what is new: what was kept before and is still as
        it was stays kept, whatever a program put beside it.
        """
        began_ns = time.time_ns()
        found, there = Look(), self._there(before)
        sizes = {path: entry.size for path, entry in before.items() if entry.is_file and path in there}
        total = sum(sizes.values())
        for path, (state, why) in there.items():
            if why is None and path not in before and redact(path) != path:  # the ledger would not keep it as it is
                found.manifest[str(redact(path))] = Entry(left=UNNAMEABLE)
                continue
            others = total - sizes.get(path, 0)
            over = why or self._over_limits(state, others)
            if over is not None:
                found.manifest[path], total = Entry(left=over), others
            elif stat.S_ISDIR(state.st_mode):
                found.manifest[path] = FOLDER
            else:
                self._take(found, path, Stamp.of(state), (before.get(path), stamps.get(path)), began_ns)
                total = others + state.st_size
        return found

    def _there(self, before: Mapping[str, Entry]) -> dict[str, tuple[os.stat_result, str | None]]:
        """Return what lies in the folder, by path, with why it cannot be kept, if it cannot.

        Where there is more than is kept, the first that is too much is among it, and whatever was kept before.
        """
        found: dict[str, tuple[os.stat_result, str | None]] = {}
        for path, state, why in self._walk():
            if why == TOO_MANY or (len(found) >= self._limits.files and path not in before):
                found[path] = (state, TOO_MANY)
                break
            found[path] = (state, why)
        else:
            return found
        for path in before:
            if path not in found and before[path].left is None and (state_now := self._state(path)) is not None:
                found[path] = (state_now, None if stat.S_ISDIR(state_now.st_mode) else _why_left(state_now))
        return found

    def _take(
        self, found: Look, path: str, stamp: Stamp, earlier: tuple[Entry | None, Stamp | None], began_ns: int
    ) -> None:
        before, known = earlier
        if before is not None and before.is_file and stamp == known:
            found.manifest[path], found.stamps[path] = before, stamp
            return
        data = self._read(path)
        if isinstance(data, str):
            found.manifest[path] = Entry(left=data)
            return
        digest = hashlib.sha256(data).hexdigest()
        found.manifest[path] = Entry(digest, len(data), stamp.mode & 0o777)
        if before is None or before.sha256 != digest:
            found.read[digest] = data
        if len(data) == stamp.size and max(stamp.changed_ns, stamp.modified_ns) < began_ns - _UNSURE_NS:
            found.stamps[path] = stamp

    def _over_limits(self, state: os.stat_result, total: int) -> str | None:
        if not stat.S_ISREG(state.st_mode):
            return None
        if state.st_size > self._limits.file_bytes:
            return TOO_LARGE
        return TOO_MUCH if total + state.st_size > self._limits.total_bytes else None

    def _walk(self) -> Iterator[tuple[str, os.stat_result, str | None]]:
        """Yield each file and each empty folder by path, with why it cannot be kept, if it cannot."""
        try:
            top = os.open(self._folder, _FOLDER)
        except OSError:  # a script took the whole folder away, or put a link there: nothing of it is left
            return
        try:
            yield from self._inside(top, "", top=True)
        finally:
            os.close(top)

    def _inside(self, fd: int, prefix: str, *, top: bool = False) -> Iterator[tuple[str, os.stat_result, str | None]]:
        with os.scandir(fd) as entries:
            names = (entry.name for entry in entries if not (top and entry.name.startswith(".")))
            some = sorted(islice(names, self._limits.files + 1))  # a program may have made millions
        if len(some) > self._limits.files:
            yield f"{prefix}…", os.fstat(fd), TOO_MANY
            return
        for name in some:
            try:
                state = os.stat(name, dir_fd=fd, follow_symlinks=False)
            except OSError:  # gone since
                continue
            path = prefix + name
            if clean_text(path) != path or not is_path(path):
                yield str(redact(prefix + _spelt(name))), state, UNNAMEABLE
            elif stat.S_ISDIR(state.st_mode):
                yield from self._folder_at(fd, name, path, state)
            else:
                yield path, state, _why_left(state)

    def _folder_at(
        self, fd: int, name: str, path: str, state: os.stat_result
    ) -> Iterator[tuple[str, os.stat_result, str | None]]:
        try:
            below = os.open(name, _FOLDER, dir_fd=fd)
        except OSError:
            yield path, state, UNREADABLE
            return
        try:
            empty = True
            for each in self._inside(below, f"{path}/"):
                empty = False
                yield each
            if empty:
                yield path, state, None
        finally:
            os.close(below)

    def _read(self, path: str) -> bytes | str:
        """Return the bytes of a plain file, or why there are none."""
        try:
            with self._above(path) as (fd, name), os.fdopen(os.open(name, _FILE, dir_fd=fd), "rb") as file:
                left = _why_left(os.fstat(file.fileno()))
                if left is not None:  # it was put in the place of the file that was looked at
                    return left
                data = file.read(self._limits.file_bytes + 1)
                return TOO_LARGE if len(data) > self._limits.file_bytes else data
        except OSError:
            return UNREADABLE

    def _state(self, path: str) -> os.stat_result | None:
        """Return what lies at a path; None where nothing does."""
        try:
            with self._above(path) as (fd, name):
                return os.stat(name, dir_fd=fd, follow_symlinks=False)
        except OSError:
            return None

    @contextmanager
    def _above(self, path: str) -> Iterator[tuple[int, str]]:
        """Give the folder that a path lies in and its name there; each part of the path is opened by itself."""
        *folders, name = path.split("/")
        opened: list[int] = []
        try:
            opened.append(os.open(self._folder, _FOLDER))
            for part in folders:
                opened.append(os.open(part, _FOLDER, dir_fd=opened[-1]))
            yield opened[-1], name
        finally:
            for fd in opened:
                os.close(fd)


def _why_left(state: os.stat_result) -> str | None:
    if stat.S_ISLNK(state.st_mode):
        return LINK
    if not stat.S_ISREG(state.st_mode):
        return SPECIAL
    return SECOND_NAME if state.st_nlink > 1 else None  # it may be a file from elsewhere, which only we could read


def _spelt(name: str) -> str:
    """Return a name that is no text, or too long, in letters that can be shown."""
    return clean_text(os.fsencode(name).decode("utf-8", "backslashreplace"))[:255]
