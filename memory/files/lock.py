"""One at a time: who writes the files of an organisation, or takes them in, has them for itself."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from memory.files.errors import FilesBusy
from memory.files.places import make_private

_FILE = ".lock"
_WAIT_S = 30.0
_LOOK_AGAIN_S = 0.05


@asynccontextmanager
async def held(root: Path) -> AsyncIterator[None]:
    """Hold the files of an organisation; the lock of a process that dies is free.

    Raises:
        FilesBusy: somebody else has them for longer than one waits.
    """
    make_private(root)
    file = os.open(root / _FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        for _ in range(int(_WAIT_S / _LOOK_AGAIN_S)):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(_LOOK_AGAIN_S)
        else:
            raise FilesBusy(
                f"Somebody else has had the files of memories in {root} for {_WAIT_S:.0f} s. Nothing was changed; "
                "try again.", folder=str(root),
            )  # fmt: skip
        yield
    finally:
        os.close(file)
