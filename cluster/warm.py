"""Slots made ready before an order comes: a fresh folder, and an interpreter that waits in it for its first script."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cluster.control_plane import ControlPlane
from cluster.errors import SandboxBroken
from cluster.sandbox.port import SandboxDriver
from cluster.sandbox.slot_sandbox import ProcessSandbox
from cluster.slot import HeldSlot
from runtime.errors import LedgerError

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Ready:
    """A slot that waits for its next order."""

    driver: SandboxDriver
    sandbox: ProcessSandbox
    follows: int
    """Fence of the slot's last lease. Only the very next holder gets what was made ready: nobody was there between."""


class WarmSlots:
    """The slots that this process keeps ready on its node.

    What is ready is for one order: its folder and its interpreter have seen none before, and see none after it. With
    drivers whose programs are no processes of this machine (`docker`) there is nothing to make ready.

    Args:
        folder: of the node's slots.
        count: how many are kept ready, as long as so many are free.
        every_s: after this long it is looked whether they still are.
    """

    def __init__(
        self, plane: ControlPlane, driver_for: Callable[[int], SandboxDriver], folder: Path, *, count: int,
        every_s: float,
    ) -> None:  # fmt: skip
        self._plane = plane
        self._driver_for = driver_for
        self._folder = folder
        self._count = count
        self._every_s = every_s
        self._ready: dict[int, _Ready] = {}
        self._news = asyncio.Event()
        self._turn = asyncio.Lock()

    async def keep(self) -> None:
        """Keep slots ready until cancelled; then there are none."""
        if not self._count:
            return
        try:
            while True:
                self._news.clear()
                try:
                    await self.refresh()
                except (LedgerError, SandboxBroken, OSError) as error:  # also where an order came and cleared it
                    _log.warning("no slot is made ready: %s", error)
                except Exception:  # a fault of the program must not end it
                    _log.exception("no slot is made ready")
                try:
                    async with asyncio.timeout(self._every_s):
                        await self._news.wait()
                except TimeoutError:
                    continue
        finally:
            await asyncio.shield(self.close())

    def wake(self) -> None:
        """Look now: a slot was taken or given back."""
        self._news.set()

    async def refresh(self) -> None:
        """Throw away what waits for nobody any more, and make slots ready up to the number that is wanted."""
        async with self._turn:
            free = await self._plane.warm(self._ready.keys())
            for index, ready in list(self._ready.items()):
                if free.get(index) != ready.follows or not ready.sandbox.warm:
                    await self._discard(self._ready.pop(index))
            before = set(self._ready)
            for index in sorted(free.keys() - before, reverse=True):  # others take the first that is free
                if len(self._ready) >= self._count:
                    break
                made = await self._make(index, free[index])
                if made is not None:
                    self._ready[index] = made
            if set(self._ready) != before:
                await self._plane.warm(self._ready.keys())

    async def take(self, held: HeldSlot) -> ProcessSandbox | None:
        """Return what is ready for the holder of a slot; None when nothing is, or it was made for somebody before."""
        self.wake()
        ready = self._ready.pop(held.index, None)
        if ready is None:
            return None
        if ready.follows == held.follows and ready.sandbox.warm:
            return ready.sandbox
        await self._discard(ready)
        return None

    async def close(self) -> None:
        """End all that waits, and say so."""
        async with self._turn:
            while self._ready:
                await self._discard(self._ready.popitem()[1])
            try:
                await self._plane.warm(())
            except LedgerError as error:
                _log.info("it could not be told that no slot is kept ready any more: %s", error)

    async def _make(self, index: int, follows: int) -> _Ready | None:
        node = self._plane.node
        assert node is not None, "only a process with a node keeps slots ready"
        driver, slot = self._driver_for(index), node.slot_id(index).ulid
        sandbox = await driver.open(self._folder / f"{slot}-warm-{secrets.token_hex(8)}")
        try:
            if isinstance(sandbox, ProcessSandbox):
                await sandbox.warm_up()
                return _Ready(driver, sandbox, follows)
        except BaseException:
            await asyncio.shield(driver.close(sandbox))
            raise
        await driver.close(sandbox)
        return None

    async def _discard(self, ready: _Ready) -> None:
        await asyncio.shield(ready.driver.close(ready.sandbox))
