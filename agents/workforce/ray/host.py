"""A host: many employees in one process, addressed by id, awake as long as they have orders in hand."""

from __future__ import annotations

import asyncio
import logging
import pickle
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count

from agents.workforce.errors import HostLapsed, Stopped
from agents.workforce.ray.desk import Desk, Desks
from agents.workforce.ray.messages import Address, pack_answer, unpack_order
from agents.workforce.ray.ports import Line, Office
from agents.workforce.ray.vigil import LEASES
from contracts import Name, OrderId, StatusReport, TaskOrder
from runtime.draining import Draining
from runtime.errors import LedgerError, LedgerUnavailable, StaleWriter
from runtime.executor.holder import is_gone, this_process
from runtime.ledger.grip import Grip
from runtime.ledger.port import Lease, Leases
from runtime.telemetry.context import working_on

_log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class _InHand:
    """An order that an employee of this host works on."""

    desk: Desk
    task: asyncio.Task[StatusReport]


class Host:
    """Carries out the orders of whoever sits here; the same order again joins the one in hand.

    It is a cache of the ledger: killed at any moment, its employees go on elsewhere from what was committed. All it
    writes carries its lease. Without that it is as good as dead, and ends.
    """

    def __init__(self, office: Office, line: Line, *, actor: str, alone: Name | None, end: Callable[[], None]) -> None:
        """Take a place of work over.

        Args:
            actor: the name under which others reach this host.
            alone: the employee to whom it belongs alone, if it does.
            end: ends the process, because the lease is lost.
        """
        self._office = office
        self._line = line
        self._actor = actor
        self._alone = alone
        self._end = end
        self._draining = Draining()
        self._orders: dict[OrderId, _InHand] = {}
        self._desks: Desks | None = None
        self._grip: Grip | None = None
        self._keeping: asyncio.Task[None] | None = None

    @property
    def in_hand(self) -> frozenset[OrderId]:
        """The orders that somebody here works on."""
        return frozenset(self._orders)

    async def open(self) -> Address:
        """Take a lease and be there; return where."""
        leases, ttl_s = self._office.store.leases, self._office.settings.lease_s
        lease = await _take_lease(leases, ttl_s)

        async def renew() -> float:
            await leases.renew(lease, ttl_s)
            return ttl_s

        grip = self._grip = Grip(ttl_s, renew)
        self._keeping = asyncio.create_task(self._keep(lease, grip), name="lease of this host")
        address = Address(self._actor, lease)
        self._desks = Desks(
            self._office, self._line, address, grip, alone=self._alone, draining=self._draining, carry_out=self._here
        )
        return address

    async def deliver(self, message: bytes) -> bytes:
        """Return what comes of an order, packed; see `unpack_answer`."""
        assert self._desks is not None
        packed, order, new = unpack_order(message)
        answer: StatusReport | BaseException
        source = None
        try:
            desk = self._desks.ready(packed) or await self._desks.at(packed)
            if new and order.order_id not in self._orders:
                desk.run.known.hear_of(order.order_id)
            desk.run.known.await_end(order.order_id)
            answer = await self._in_hand(desk, order)
            source = desk.run.known.take_end(order.order_id)
        except asyncio.CancelledError:
            answer = Stopped(str(order.order_id))
        except Exception as error:
            answer = error
        return pack_answer(answer, source)

    async def stop(self, message: bytes) -> bytes:
        """Stop an order; return once it is in nobody's hands here."""
        known = self._orders.get(OrderId(message.decode()))
        if known is not None:
            await _stopped(known.task)
        return b""

    async def leave(self, message: bytes) -> bytes:
        """Stop whatever is left of an execution's stretch, and forget it."""
        assert self._desks is not None
        execution_id = message.decode()
        for known in [each for each in self._orders.values() if each.desk.execution_id == execution_id]:
            await _stopped(known.task)
        await self._desks.close(execution_id)
        return b""

    async def drain(self, message: bytes) -> bytes:
        """Let no step begin any more; return the executions with a step in progress."""
        assert self._desks is not None
        self._draining.begin()
        return pickle.dumps(self._desks.busy())

    async def close(self, message: bytes = b"") -> bytes:
        """End in good order: nothing in hand, the lease given back."""
        assert self._desks is not None and self._keeping is not None
        for known in tuple(self._orders.values()):
            await _stopped(known.task)
        await self._desks.close()
        await _stopped(self._keeping)
        await self._office.close()
        return b""

    async def _here(self, desk: Desk, order: TaskOrder) -> StatusReport:
        """Carry an order out for an employee of this host; whoever is cancelled takes the order with it."""
        task = asyncio.current_task()
        assert task is not None
        while True:
            asked_to_stop = task.cancelling()
            try:
                return await self._in_hand(desk, order)
            except asyncio.CancelledError:
                if task.cancelling() > asked_to_stop:
                    if (known := self._orders.get(order.order_id)) is not None:
                        await _stopped(known.task)
                    raise

    async def _in_hand(self, desk: Desk, order: TaskOrder) -> StatusReport:
        """Return the report of the order, which is in hand once, however many wait for it."""
        while (known := self._orders.get(order.order_id)) is not None and known.desk.fence != desk.fence:
            if known.desk.fence > desk.fence:
                raise StaleWriter(f"A later stretch of {desk.execution_id} has {order.order_id} in hand.")
            await _stopped(known.task)  # of an earlier stretch, which nobody waits for any more
        if known is None:
            task = asyncio.create_task(self._work(desk, order), name=f"{order.employee}: {order.order_id}")
            known = self._orders[order.order_id] = _InHand(desk, task)
            task.add_done_callback(lambda _: self._orders.pop(order.order_id))
        return await asyncio.shield(known.task)

    async def _work(self, desk: Desk, order: TaskOrder) -> StatusReport:
        with working_on(trace_id=order.trace_id, execution=order.execution_id):
            try:
                return await desk.shift.carry_out(order)
            except StaleWriter:
                await self._require_lease()
                raise  # it was the execution's: somebody else works on it now

    async def _require_lease(self) -> None:
        """Return when this host has its lease; else end it, and raise HostLapsed to whoever waits for an order."""
        assert self._grip is not None
        try:
            await self._grip.renew()
        except StaleWriter as lost:
            self._end()
            raise HostLapsed(self._actor) from lost

    async def _keep(self, lease: Lease, grip: Grip) -> None:
        """Renew the lease; end the process once it is lost."""
        settings = self._office.settings
        try:
            while grip.left_s > 0:
                await asyncio.sleep(settings.renew_s)
                with suppress(LedgerUnavailable):  # the next time may get through; until then the lease holds
                    await grip.renew()
        except StaleWriter as lost:
            _log.warning("this host ends: %s", lost)
        except asyncio.CancelledError:
            with suppress(LedgerError):
                await self._office.store.leases.release(lease)
            raise
        self._end()


async def _take_lease(leases: Leases, ttl_s: float) -> Lease:
    """Return the first free lease of a host of this machine; the names are used again, so that there stay few."""
    holder = f"{this_process()}/{secrets.token_hex(4)}"
    for number in count():
        name = f"{LEASES}{socket.gethostname()[:100]}/{number}"
        for held in await leases.live(name):
            if held.name == name and is_gone(held.holder):
                await leases.release(held)
        lease = await leases.acquire(name, holder, ttl_s)
        if lease is not None:
            return lease
    raise AssertionError("there is always another number")


async def _stopped(task: asyncio.Task[StatusReport] | asyncio.Task[None]) -> None:
    """Cancel the task and return once it has ended, and whoever it told knows."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
