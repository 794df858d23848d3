"""The office of a host that tells in which process each employee's events are written."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from console.hosting import SiliconOffice
from console.hosting import open_office as open_real_office
from console.resources import Resources
from tests.crash.dying_store import DyingStore

T = TypeVar("T")
_FILE = "writers"


def forget_writers(home: Path) -> None:
    """Begin anew."""
    (home / _FILE).unlink(missing_ok=True)


def writers(home: Path) -> dict[str, set[int]]:
    """Return the processes in which hosts wrote, by employee."""
    found: dict[str, set[int]] = defaultdict(set)
    for line in (home / _FILE).read_text().splitlines():
        employee, pid = line.split()
        found[employee].add(int(pid))
    return found


class _Telling:
    """Notes who writes, in one file for all processes."""

    def __init__(self, home: Path) -> None:
        self._file = home / _FILE

    async def at(self, labels: Sequence[str], write: Callable[[], Awaitable[T]]) -> T:
        """Make the write, and note whose it was."""
        with self._file.open("a") as file:
            file.write("".join(f"{label.partition(':')[0]} {os.getpid()}\n" for label in labels if ":order:" in label))
        return await write()


class TellingResources(Resources):
    """The resources of such a host."""

    async def store(self) -> Any:
        """Return the store, whose writes are noted."""
        if not isinstance(self._store, DyingStore):
            self._store = cast(Any, DyingStore(await super().store(), cast(Any, _Telling(self.settings.home))))
        return self._store


async def open_office(home: Path, given: Mapping[str, Any], node: Any) -> SiliconOffice:
    """Open the office of a host that tells."""
    return await open_real_office(home, given, node, resources_of=TellingResources)
