"""The workforce in one process: every employee on one event loop, awake from its first order on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from agents.employee.dispatch import Dispatcher
from agents.employee.employee import Employee
from agents.employee.ports import Cluster, Running, Staff
from agents.employee.root import root_order
from agents.employee.tree import find
from contracts import Name, OrderId, StatusReport, TaskOrder
from runtime.capabilities.port import CapabilitySpec
from runtime.clock import Clock
from runtime.engine import Delegate, fold_order
from runtime.errors import InvalidArguments
from runtime.executor.port import ExecutionRun
from runtime.ledger.port import Store

EngineFor: TypeAlias = Callable[[ExecutionRun, Delegate], Running]
"""Makes the step engine of one stretch: its appends carry the run's leases, it stops when the run is cancelled, and it
sends employee steps to the delegate. Wiring hands it in."""

ClusterFor: TypeAlias = Callable[[ExecutionRun], Cluster]
"""Gives the way into the cluster for one stretch, under the same leases and cancellation."""


class InlineWorkforce:
    """The employees of one organisation. It never carries out another organisation's orders."""

    def __init__(
        self,
        staff: Staff,
        *,
        store: Store,
        specs: Mapping[str, CapabilitySpec],
        engine_for: EngineFor,
        cluster_for: ClusterFor,
        clock: Clock,
        choose_skill: Callable[[str], Name] | None = None,
    ) -> None:
        """Take over an organisation.

        Args:
            specs: the capabilities of this organisation.
            choose_skill: finds the skill for the words of a goal; without it a request has to name one.
        """
        self.staff = staff
        self._store = store
        self._specs = specs
        self._engine_for = engine_for
        self._cluster_for = cluster_for
        self._clock = clock
        self._choose_skill = choose_skill
        self._employees: dict[Name, Employee] = {}

    @property
    def awake(self) -> Sequence[Name]:
        """Employees that had an order in this process, in the order of their first."""
        return tuple(self._employees)

    async def run(self, run: ExecutionRun) -> StatusReport:
        """Carry the execution out from its root order, or go on where it stood.

        Raises:
            InvalidArguments: the request is another organisation's, or does not say what its plan needs.
            NotFound: there is no such skill.
        """
        order = await self._recorded(run.root_order_id) or self._new_root(run)
        shift = _Shift(self.employee, lambda delegate: self._engine_for(run, delegate))
        delegate = Dispatcher(
            self.staff, specs=self._specs, workforce=shift, cluster=self._cluster_for(run), store=self._store,
            clock=self._clock,
        )  # fmt: skip
        return await shift.begin(delegate, order)

    def employee(self, order: TaskOrder) -> Employee:
        """Return the employee an order is for, awake from now on."""
        self._own(order.organisation)
        node = find(self.staff.head, order.employee)
        if node.id not in self._employees:
            self._employees[node.id] = Employee(node.id, staff=self.staff, store=self._store)
        return self._employees[node.id]

    def _new_root(self, run: ExecutionRun) -> TaskOrder:
        request = run.request
        self._own(request.organisation)
        skill = request.skill
        if skill is None and request.plan is None and self._choose_skill is not None:
            skill = self._choose_skill(request.goal)
        return root_order(
            request,
            self.staff,
            skill=skill,
            order_id=run.root_order_id,
            execution_id=run.execution_id,
            trace_id=run.trace_id,
            now=self._clock.now(),
        )

    async def _recorded(self, order_id: OrderId) -> TaskOrder | None:
        """Return the order that an earlier run began with, or None when none did."""
        return fold_order(await self._store.ledger.read(str(order_id))).order

    def _own(self, organisation: Name) -> None:
        if organisation != self.staff.name:
            raise InvalidArguments(
                f"This is the workforce of {self.staff.name}; it does no work for {organisation}.",
                organisation=organisation,
            )


class _Shift:
    """The workforce during one stretch of an execution."""

    def __init__(self, employee_of: Callable[[TaskOrder], Employee], engine_for: Callable[[Delegate], Running]) -> None:
        self._employee_of = employee_of
        self._engine_for = engine_for
        self._delegate: Dispatcher | None = None

    async def begin(self, delegate: Dispatcher, order: TaskOrder) -> StatusReport:
        """Have the first order carried out; every order below it goes through `delegate`."""
        self._delegate = delegate
        return await delegate.carry_out(order)

    async def deliver(self, order: TaskOrder) -> StatusReport:
        """Hand the order to its employee."""
        assert self._delegate is not None, "orders are delivered once the shift has begun"
        employee = self._employee_of(order)
        return await employee.carry_out(order, engine_for=self._engine_for, delegate=self._delegate)
