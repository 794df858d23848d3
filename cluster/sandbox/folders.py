"""The folder of a slot: made empty, taken away whole."""

from __future__ import annotations

import os
import stat
from itertools import count
from pathlib import Path


def fresh_folder(folder: Path, uid: int | None) -> None:
    """Make the folder, empty, for the slot's own user where it has one."""
    remove_folder(folder)
    folder.mkdir(parents=True, mode=0o700)
    if uid is not None:
        os.chown(folder, uid, uid)
        _let_through(folder.parent)


def _let_through(folder: Path) -> None:
    """Let the slot's user pass the folder above its own, without seeing what is in it."""
    mode = stat.S_IMODE(folder.stat().st_mode)
    folder.chmod(mode | stat.S_IXOTH)


def remove_folder(folder: Path) -> None:
    """Remove a folder and everything in it, also what a script made unreadable or nested too deep for a path."""
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
        return
    if not folder.exists():
        return
    names = count()
    while below := _cleared_of_files(folder):
        for inner in below:  # a level goes away by lifting what is in it up to the top
            for deeper in _cleared_of_files(inner):
                deeper.rename(folder / f".{next(names)}.lifted")
            inner.rmdir()
    folder.rmdir()


def _cleared_of_files(folder: Path) -> list[Path]:
    """Remove everything in the folder but folders, and return those."""
    folder.chmod(0o700)
    below = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                below.append(Path(entry.path))
            else:
                os.unlink(entry)  # noqa: PTH108
    for inner in below:
        inner.chmod(0o700)  # its owner may rename and empty it only then
    return below
