"""One server for one embedded ledger: a lock on a file beside it, which ends with the process however that ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from console.server.errors import ServerRunning
from runtime.errors import LedgerUnavailable


@contextmanager
def only_server_of(database: Path) -> Iterator[None]:
    """Hold the lock of an embedded ledger; commands beside the server do not need it.

    Raises:
        ServerRunning: another process holds it; names that process.
        LedgerUnavailable: there can be no such file, for example because the folder is read-only.
    """
    database = database.resolve()
    path = database.with_name(f"{database.name}.server")
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _unusable(path, error) from error
    try:
        _lock(file, path, database)
        os.ftruncate(file, 0)
        os.pwrite(file, str(os.getpid()).encode(), 0)
        yield
        os.ftruncate(file, 0)
    finally:
        os.close(file)


def _lock(file: int, path: Path, database: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = os.pread(file, 20, 0).decode(errors="replace").strip() or "unknown"
        raise ServerRunning(
            f"The server with process id {pid} works on {database} already; an embedded ledger has one. Use that one "
            "(commands like `silicon run` work beside it), stop it, or give this server another home folder.",
            pid=pid,
            database=str(database),
        ) from None
    except OSError as error:
        raise _unusable(path, error) from error


def _unusable(path: Path, error: OSError) -> LedgerUnavailable:
    return LedgerUnavailable(
        f"The file {path}, by which a server keeps others off its ledger, cannot be used: {error.strerror}. "
        "Have the right to write there, or put the ledger on a local disk.",
        address=str(path),
        error=error.strerror,
    )
