"""Files that appear whole or not at all, and never in the place of another."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from runtime.keeping.errors import FileInUse, FileNotUsable


def refuse_existing(path: Path) -> None:
    """Raise FileInUse when there is something of that name, FileNotUsable when nobody can tell."""
    try:
        there = path.exists() or path.is_symlink()
    except OSError as error:  # too long a name, a folder that may not be entered
        raise _unusable(path, error) from error
    if there:
        raise FileInUse(
            f"There is a file {path} already, which is never written over. Choose another name.", path=str(path)
        )


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Give an empty file of another name to write to; it gets the name `path` once the block is left without an error.

    Only its owner may read it: it holds all that the ledger holds. It is on disk before it gets its name.

    Raises:
        FileInUse: there is something of that name, also when it came meanwhile.
        FileNotUsable: it cannot be made there, or not be written.
    """
    refuse_existing(path)
    partial = path.with_name(f".{secrets.token_hex(8)}.partial")
    try:
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield partial
        _sync(partial)
        _name(partial, path)
        _sync(path.parent)
    except FileExistsError as error:
        refuse_existing(path)
        raise _unusable(path, error) from error
    except OSError as error:
        raise _unusable(path, error) from error
    finally:
        partial.unlink(missing_ok=True)


def _name(partial: Path, path: Path) -> None:
    """Give the file its name; a link is refused where that name is taken, a rename would take its place."""
    try:
        os.link(partial, path)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK):
            raise
        refuse_existing(path)  # a file system without hard links
        partial.rename(path)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _unusable(path: Path, error: OSError) -> FileNotUsable:
    return FileNotUsable(
        f"The file {path} cannot be made: {error.strerror}. Choose another place, or make room or rights there.",
        path=str(path),
    )
