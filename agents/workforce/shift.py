"""The employees of one process during one stretch of an execution."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from agents.employee.dispatch import Dispatcher
from agents.employee.employee import Employee
from agents.employee.ports import EngineFor
from contracts import StatusReport, TaskOrder

Send: TypeAlias = Callable[[TaskOrder], Awaitable[StatusReport]]
"""Has an order carried out by its employee, wherever that one sits."""


class Shift:
    """The port `Workforce` for the orders of one stretch: they stay in this process unless there is a `send`."""

    def __init__(
        self,
        employee_of: Callable[[TaskOrder], Employee],
        engine_for: EngineFor,
        dispatcher_for: Callable[[Shift], Dispatcher],
        *,
        send: Send | None = None,
    ) -> None:
        self._employee_of = employee_of
        self._engine_for = engine_for
        self.delegate = dispatcher_for(self)
        """Where orders go that are passed on."""
        self._send = send or self.carry_out

    async def begin(self, order: TaskOrder) -> StatusReport:
        """Have the first order carried out; it and every order below it pass the dispatcher."""
        return await self.delegate.carry_out(order)

    async def deliver(self, order: TaskOrder) -> StatusReport:
        """Hand the order to its employee, wherever that one sits."""
        return await self._send(order)

    async def carry_out(self, order: TaskOrder) -> StatusReport:
        """Have the order carried out by its employee in this process."""
        employee = self._employee_of(order)
        return await employee.carry_out(order, engine_for=self._engine_for, delegate=self.delegate)
