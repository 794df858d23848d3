"""Files inside one folder and nowhere else: every part of a path is opened without following links."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from runtime.errors import BusinessRefusal, InvalidArguments, PermissionRefused

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LONGEST = 1_024
_DEEPEST = 16


def write_file(folder: Path, name: str, data: bytes) -> None:
    """Write a file of the folder whole or not at all, its parents included."""
    parts = _parts(name)
    with _opened(folder, parts[:-1], make=True) as parent:
        temporary = f".{secrets.token_hex(8)}.new"  # a name that no script can have put a pipe under
        with _told(name):
            fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=parent)
            with os.fdopen(fd, "wb") as file:
                file.write(data)
            os.rename(temporary, parts[-1], src_dir_fd=parent, dst_dir_fd=parent)


def read_file(folder: Path, name: str, *, most: int) -> bytes:
    """Return the bytes of a file of the folder; raise BusinessRefusal when there are more than `most`."""
    parts = _parts(name)
    with _opened(folder, parts[:-1]) as parent, _told(name):
        # without O_NONBLOCK a pipe that a script left there would hold the reader for ever
        fd = os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
        with os.fdopen(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise PermissionRefused(f"{name} is not a plain file of the slot.", path=name)
            data = file.read(most + 1)
    if len(data) > most:
        raise BusinessRefusal(f"{name} is larger than {most} bytes, the most that is read at once.", path=name)
    return data


def list_files(folder: Path, *, most: int) -> list[tuple[str, int]]:
    """Return the plain files of the folder with their sizes, sorted; links and closed folders are passed over."""
    found: list[tuple[str, int]] = []
    left: list[tuple[str, ...]] = [()]
    while left:
        parts = left.pop()
        above = "".join(f"{part}/" for part in parts)
        try:
            with _opened(folder, list(parts)) as here:
                files, folders = _entries(here)
        except (BusinessRefusal, InvalidArguments, PermissionRefused, PermissionError):
            if not parts:
                raise
            continue  # a script has closed it, or put something else in its place meanwhile
        if folders and len(parts) >= _DEEPEST:
            raise BusinessRefusal(f"{above}{folders[0]} is nested deeper than {_DEEPEST} folders.", path=above)
        found += [(above + name, size) for name, size in files]
        left += [(*parts, name) for name in folders]
        if len(found) > most:
            raise BusinessRefusal(f"The slot holds more than {most} files.", limit=most)
    return sorted(found)


def _entries(folder: int) -> tuple[list[tuple[str, int]], list[str]]:
    """Return the plain files of an open folder with their sizes, and its folders."""
    files, folders = [], []
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # it was there a moment ago
                if entry.is_file(follow_symlinks=False):
                    files.append((entry.name, entry.stat(follow_symlinks=False).st_size))
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
    return files, folders


def _parts(name: str) -> list[str]:
    parts = name.split("/")
    bad = not name or len(name) > _LONGEST or len(parts) > _DEEPEST or "\0" in name or "\\" in name
    if bad or any(part in ("", ".", "..") for part in parts):
        raise PermissionRefused(
            f"{name[:100]!r} is not a file of the slot. Name it by its path below the slot's folder, such as "
            "`tables/rates.csv`.",
            path=name[:100],
        )
    return parts


@contextmanager
def _opened(folder: Path, parts: list[str], *, make: bool = False) -> Iterator[int]:
    fd = os.open(folder, _FOLDER)
    try:
        for part in parts:
            if make:
                _make_folder(part, fd)
            with _told("/".join(parts)):
                below = os.open(part, _FOLDER, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)


def _make_folder(name: str, parent: int) -> None:
    try:
        os.mkdir(name, 0o755, dir_fd=parent)
    except FileExistsError:
        return


@contextmanager
def _told(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise PermissionRefused(f"{name} leads out of the slot's folder through a link.", path=name) from None
        if error.errno == errno.ENOENT:
            raise InvalidArguments(f"There is no file {name} in the slot.", path=name) from None
        raise BusinessRefusal(f"{name} cannot be used: {error.strerror}.", path=name) from error
