"""An embedded file that cannot be written here: how far it can be read, and what a person is told where it cannot."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import URL

CANNOT_BE_READ = (
    "The ledger {address} is read-only here (its file, its folder or their disk), and what belongs to its last commits "
    "cannot be taken in without writing beside it. To look into it, copy silicon.db together with silicon.db-wal, if "
    "it is there, into a folder that you may write to, and name that folder in SILICON_HOME."
)


def in_file(url: URL) -> Path | None:
    """Return the file of an embedded database whose address is a plain path."""
    name = url.database or ""
    return Path(name) if url.get_backend_name() == "sqlite" and not name.startswith("file:") else None


def is_read_only(file: Path) -> bool:
    """Whether the file is there but it, or its folder, cannot be written by this process."""
    return file.is_file() and not (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK))


def to_open(url: URL) -> URL:
    """Return the address to open: that of a file that cannot be written says so, and then it can be read.

    SQLite keeps the last commits in the file `-wal` and needs `-shm` beside it to read them. Both may be there, left by
    a process that was killed or used by one that may write; then `mode=ro` reads everything. Where there is no `-wal`,
    the file alone holds everything, but SQLite opens it only when told that nothing changes it (`immutable`), which is
    known where the whole file system is read-only and not where only this user may not write. In all other cases
    SQLite refuses, and that is right: an `immutable` file with a `-wal` would be read without its last commits.
    """
    file = in_file(url)
    if file is None or not is_read_only(file):
        return url
    query = {"mode": "ro", "uri": "true"}
    if os.statvfs(file).f_flag & os.ST_RDONLY and not _has_commits(Path(f"{file}-wal")):
        query["immutable"] = "1"
    return url.set(database=f"file:{quote(str(file.absolute()))}", query=query)


def _has_commits(wal: Path) -> bool:
    return wal.exists() and wal.stat().st_size > 0
