"""Which hosts are lost, as this process knows it, and calls that are given up with them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, TypeVar

from agents.workforce.errors import HostLapsed, HostLost
from agents.workforce.ray.messages import Address
from runtime.errors import LedgerError
from runtime.executor.holder import is_gone
from runtime.ledger.port import Leases

T = TypeVar("T")
LEASES = "host/"
"""Begin of the names of the leases that hosts hold."""

_log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class _Call:
    """A call in progress, in the task that waits for it."""

    task: asyncio.Task[Any]
    given_up: bool = False


class Vigil:
    """Waits for answers of hosts, no longer than those live.

    That the process of a host ended is told at once by whoever carries calls. A host that stands still is found by its
    lease, which one query looks at for all calls in progress. A host once lost stays lost: its lease is taken from it
    before anybody goes on with what it had in hand, so that nothing it writes afterwards is accepted.
    """

    def __init__(self, leases: Leases, *, look_s: float) -> None:
        self.lost: set[Address] = set()
        self._lapsed: set[Address] = set()
        """Those of them that may live and only be slow."""
        self._leases = leases
        self._look_s = look_s
        self._calls: dict[Address, set[_Call]] = {}
        self._looking: asyncio.Task[None] | None = None

    async def wait(self, address: Address, call: Awaitable[T]) -> T:
        """Return what the call gives.

        Raises:
            HostLost: the host is dead, and can write nothing any more.
            HostLapsed: it lost its lease, with the same effect.
        """
        task = asyncio.current_task()
        assert task is not None
        asked_to_stop = task.cancelling()
        waiting = _Call(task)
        self._calls.setdefault(address, set()).add(waiting)
        self._look_later()
        try:
            return await call
        except HostLost as lost:
            await self.give_up(address, lapsed=isinstance(lost, HostLapsed))
            raise
        except asyncio.CancelledError:
            if not waiting.given_up or task.cancelling() - 1 > asked_to_stop:
                raise
            task.uncancel()
            raise (HostLapsed if address in self._lapsed else HostLost)(address.actor) from None
        finally:
            calls = self._calls[address]
            calls.discard(waiting)
            if not calls:
                del self._calls[address]

    async def give_up(self, address: Address, *, lapsed: bool = False) -> None:
        """Take the host for lost; raise LedgerUnavailable when its lease cannot be taken from it now.

        Args:
            lapsed: whether all that is known is that its lease ran out.
        """
        await self._leases.release(address.lease)
        if address not in self.lost:
            how = "did not keep its lease" if lapsed else "is lost"
            _log.warning("the host %s %s; what it had in hand goes on elsewhere", address.actor, how)
            if lapsed:
                self._lapsed.add(address)
        self.lost.add(address)
        for call in self._calls.get(address, ()):
            if not call.given_up and call.task is not asyncio.current_task():
                call.given_up = True
                call.task.cancel()

    def close(self) -> None:
        """Look at nothing any more."""
        if self._looking is not None:
            self._looking.cancel()

    def _look_later(self) -> None:
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look(), name="looks whether hosts live")

    async def _look(self) -> None:
        while self._calls:
            await asyncio.sleep(self._look_s)
            try:
                live = {lease.name: (lease.holder, lease.fence) for lease in await self._leases.live(LEASES)}
                for address in tuple(self._calls):
                    held = address.lease.holder, address.lease.fence
                    if live.get(address.lease.name) != held:
                        await self.give_up(address, lapsed=not is_gone(address.lease.holder))
            except LedgerError as error:
                _log.warning("whether hosts live could not be looked at: %s", error)
