"""Hands orders to the hosts in which their employees sit, and elsewhere when a host is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from agents.workforce.errors import HostLapsed, HostLost, HostsLost, HostsTooSlow, Stopped
from agents.workforce.ray.messages import Address, Stretch, pack_order, unpack_answer
from agents.workforce.ray.ports import Line
from agents.workforce.ray.seating import Seating
from agents.workforce.ray.vigil import Vigil
from agents.workforce.shift import Send
from contracts import Name, OrderState, StatusReport, TaskOrder
from runtime.known import Known, New

LOSSES = 3
"""Hosts that may die with an order in hand before that is reported: it may be what ends them."""
LAPSES = 10
"""How often an order is handed over again because its host did not keep its lease, or was told to stop it. Neither says
that the order is to blame, so it is more; one that keeps hosts from renewing their leases must end all the same."""


class Apart:
    """The hosts that this process started for single employees."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._hosts: dict[Name, asyncio.Task[Address]] = {}

    async def host_of(self, employee: Name, lost: set[Address]) -> Address:
        """Return the employee's own host, started with its first order and again when it was lost."""
        starting = self._hosts.get(employee)
        if starting is None or (starting.done() and (starting.exception() or starting.result() in lost)):
            starting = self._hosts[employee] = asyncio.create_task(self._line.start_apart(employee))
        return await asyncio.shield(starting)


class Post:
    """The way of one process's orders during one stretch."""

    def __init__(
        self,
        stretch: Stretch,
        seating: Seating,
        line: Line,
        vigil: Vigil,
        apart: Apart,
        *,
        known: Known,
        me: str = "",
        alone: Name | None = None,
        here: Send | None = None,
        refill: Callable[[], Awaitable[Stretch]] | None = None,
    ) -> None:
        """Take the stretch over.

        Args:
            known: tells which orders are new.
            me: the actor in which this process is a host.
            alone: the employee to whom this host belongs alone.
            here: carries an order out in this host.
            refill: gives the stretch with new hosts when all were lost; only who began the stretch can.
        """
        self._stretch = stretch
        self._seating = seating
        self._line = line
        self._vigil = vigil
        self._apart = apart
        self._known = known
        self._me = me
        self._alone = alone
        self._here = here
        self._refill = refill

    async def send(self, order: TaskOrder) -> StatusReport:
        """Have the order carried out where its employee sits, once, however many hosts are lost meanwhile.

        Raises:
            HostLost: no host is left.
        """
        losses = lapses = 0
        while losses < LOSSES and lapses < LAPSES:
            address = await self._address_of(order.employee)
            if address is None:
                assert self._here is not None, "who sends elsewhere knows where"
                return await self._here(order)
            try:
                return await self._hand_over(address, order)
            except HostLapsed:
                await self._vigil.give_up(address, lapsed=True)
                lapses += 1
            except HostLost:
                await self._vigil.give_up(address)
                losses += 1
            except Stopped:
                lapses += 1
        error = _died(order) if losses == LOSSES else _too_slow(order)
        return StatusReport(order_id=order.order_id, state=OrderState.FAILED, error=error.problem())

    async def _address_of(self, employee: Name) -> Address | None:
        """Return where the employee sits; None means here."""
        if employee == self._alone:
            return None
        if self._seating.sits_apart(employee):
            return await self._apart.host_of(employee, self._vigil.lost)
        address = self._seating.host_of(employee, self._stretch.hosts, self._vigil.lost)
        if address is None:
            if self._refill is None:
                raise HostLapsed("every host is lost")  # this one among them, which lives
            self._stretch = await self._refill()
            return await self._address_of(employee)
        return None if address.actor == self._me else address

    async def _hand_over(self, address: Address, order: TaskOrder) -> StatusReport:
        try:
            new = self._known.take_new(order.order_id) is not New.NO
            message = pack_order(self._stretch, order, new=new)
            answer = await self._vigil.wait(address, self._line.call(address.actor, "deliver", message))
        except asyncio.CancelledError:
            await asyncio.shield(self._stop(address, order))
            raise
        report, source = unpack_answer(answer)
        if source is not None:
            self._known.ended(order.order_id, source)
        return report

    async def _stop(self, address: Address, order: TaskOrder) -> None:
        """Return once the order is in nobody's hands there."""
        with suppress(HostLost):
            await self._vigil.wait(address, self._line.call(address.actor, "stop", str(order.order_id).encode()))


def _died(order: TaskOrder) -> HostsLost:
    return HostsLost(
        f"{order.order_id} of {order.employee} had {LOSSES} hosts, and each of them ended while the order was in "
        "hand. It may be what ends them: look at memory and at the system's log, then resume the execution.",
        order_id=str(order.order_id), employee=order.employee, hosts=LOSSES,
    )  # fmt: skip


def _too_slow(order: TaskOrder) -> HostsTooSlow:
    return HostsTooSlow(
        f"{order.order_id} of {order.employee} was handed over {LAPSES} times, because hosts that had it in hand did "
        "not keep their leases: they live, and are too slow. Give the machines less to do (ray.hosts_per_node, "
        "executor.at_once) or raise the setting executor.lease_s, then resume the execution.",
        order_id=str(order.order_id), employee=order.employee, lapses=LAPSES,
    )  # fmt: skip
