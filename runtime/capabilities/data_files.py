"""The identity of a data file: which bytes an answer came from."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass
from pathlib import Path

from runtime.capabilities.errors import DataUnavailable

_known: dict[FileState, str] = {}
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as it is now; equal states hold the same bytes."""

    path: Path
    size: int
    mtime_ns: int
    inode: int


def state_of(path: Path, *, connection: str, made_by: str = "") -> FileState:
    """Return the state of a data file; raise DataUnavailable, naming how it is made, when it is not there."""
    try:
        found = path.stat()
    except OSError as error:
        how = f" It is made by: {made_by}" if made_by else " Look at `file` in connections.yaml."
        why = "is missing" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
        raise DataUnavailable(
            f"The data file of connection {connection} {why}: {path}.{how}",
            connection=connection, file=str(path), made_by=made_by,
        ) from None  # fmt: skip
    return FileState(path, found.st_size, found.st_mtime_ns, found.st_ino)


def sha256_of(state: FileState) -> str:
    """Return the sha256 of the file's bytes, read once for each state of the file."""
    with _lock:
        if state not in _known:
            with state.path.open("rb") as file:
                _known[state] = hashlib.file_digest(file, "sha256").hexdigest()
        return _known[state]
