"""The office of a host that dies at a write which a test has chosen; of all hosts, the first that comes to it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from console.hosting import SiliconOffice
from console.hosting import open_office as open_real_office
from console.resources import Resources
from tests.crash.dying_store import DyingStore, die

T = TypeVar("T")
_FILE = "death.json"


def choose_death(home: Path, label: str, *, after: bool) -> None:
    """Have the first host that writes an event of that label die, before its commit or right after it."""
    (home / _FILE).write_text(json.dumps({"label": label, "after": after}))


def has_died(home: Path) -> bool:
    """Whether the chosen death has happened."""
    return not (home / _FILE).exists()


class ChosenDeath:
    """The death that stands in the home folder; whoever takes the file away dies."""

    def __init__(self, home: Path) -> None:
        self._file = home / _FILE

    async def at(self, labels: Sequence[str], write: Callable[[], Awaitable[T]]) -> T:
        """Make the write, unless this is where the process dies."""
        chosen = json.loads(self._file.read_text()) if self._file.exists() else {"label": ""}
        here = chosen["label"] in labels and self._is_mine()
        if here and not chosen["after"]:
            die()
        done = await write()
        if here:
            die()
        return done

    def _is_mine(self) -> bool:
        try:
            self._file.unlink()
        except FileNotFoundError:  # another host was quicker
            return False
        return True


class DyingResources(Resources):
    """The resources of such a host."""

    async def store(self) -> Any:
        """Return the store, whose writes pass by the death."""
        if not isinstance(self._store, DyingStore):
            self._store = cast(Any, DyingStore(await super().store(), cast(Any, ChosenDeath(self.settings.home))))
        return self._store


async def open_office(home: Path, given: Mapping[str, Any], node: Any) -> SiliconOffice:
    """Open the office of a host that may die."""
    return await open_real_office(home, given, node, resources_of=DyingResources)
