"""The office of a process on Ray that stops at a write which a test has chosen; of all, the first that comes to it.

It holds just that write, before its commit or right after it, until the test lets go, or kills it or what it stands on.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from console.hosting import SiliconOffice, SiliconResidence
from console.hosting import open_office as open_real_office
from console.hosting import open_residence as open_real_residence
from console.resources import Resources
from tests.crash.dying_store import DyingStore

T = TypeVar("T")
_CHOSEN, _HELD = "chosen.json", "held.json"
_AGAIN_S = 0.02


def hold_at(home: Path, label: str, *, after: bool) -> None:
    """Have the first process that writes an event of that label stop before its commit, or right after it."""
    (home / _HELD).unlink(missing_ok=True)
    (home / _CHOSEN).write_text(json.dumps({"label": label, "after": after}))


async def until_held(home: Path) -> int:
    """Return the process that is held, once there is one."""
    while not (home / _HELD).exists():  # noqa: ASYNC110 - it happens in another process
        await asyncio.sleep(_AGAIN_S)
    return int((home / _HELD).read_text())


def let_go(home: Path) -> None:
    """Hold nobody any more."""
    for name in (_CHOSEN, _HELD):
        (home / name).unlink(missing_ok=True)


class Hold:
    """Where a process stops, as it stands in the home folder; whoever takes the file away is the one."""

    def __init__(self, home: Path) -> None:
        self._home = home

    async def at(self, labels: Sequence[str], write: Callable[[], Awaitable[T]]) -> T:
        """Make the write; stop where that is told."""
        chosen = self._chosen()
        here = chosen["label"] in labels and self._is_mine()
        if here and not chosen["after"]:
            await self._stop()
        done = await write()
        if here and chosen["after"]:
            await self._stop()
        return done

    def _chosen(self) -> dict[str, Any]:
        try:
            chosen: dict[str, Any] = json.loads((self._home / _CHOSEN).read_text())
        except (FileNotFoundError, json.JSONDecodeError):  # nothing is chosen, or it is being written
            return {"label": ""}
        return chosen

    def _is_mine(self) -> bool:
        try:
            (self._home / _CHOSEN).unlink()
        except FileNotFoundError:  # another process was quicker
            return False
        return True

    async def _stop(self) -> None:
        told = self._home / f"{_HELD}.{os.getpid()}"
        told.write_text(str(os.getpid()))
        told.rename(self._home / _HELD)
        while (self._home / _HELD).exists():  # noqa: ASYNC110 - the test is another process
            await asyncio.sleep(_AGAIN_S)


class HoldingResources(Resources):
    """The resources of a process whose hosts and bridges can be held."""

    office = f"{__name__}:open_office"
    residence = f"{__name__}:open_residence"


class HeldResources(Resources):
    """What such a process has open."""

    async def store(self) -> Any:
        """Return the store, whose writes pass by the hold."""
        if not isinstance(self._store, DyingStore):
            self._store = cast(Any, DyingStore(await super().store(), cast(Any, Hold(self.settings.home))))
        return self._store


async def open_office(home: Path, given: Mapping[str, Any], node: Any) -> SiliconOffice:
    """Open the office of a host that can be held."""
    return await open_real_office(home, given, node, resources_of=HeldResources)


async def open_residence(home: Path, given: Mapping[str, Any], node: Any) -> SiliconResidence:
    """Open a bridge that can be held."""
    return await open_real_residence(home, given, node, resources_of=HeldResources)
