"""The workforce in one process: every employee on one event loop, awake from its first order on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from agents.employee.dispatch import Dispatcher
from agents.employee.employee import Employee
from agents.employee.ports import Cluster, Running, Staff
from agents.employee.root import root_order
from agents.employee.tree import find
from contracts import ExecutionId, ExecutionRequest, Name, StatusReport, TaskOrder
from runtime.capabilities.port import CapabilitySpec
from runtime.clock import Clock
from runtime.engine.ports import Delegate
from runtime.errors import InvalidArguments
from runtime.ledger.port import Lease, Ledger

_PAGE = 1_000


class EngineFactory(Protocol):
    """Makes the step engine of one execution; wiring hands it in."""

    def __call__(
        self, *, execution_id: ExecutionId, leases: Sequence[Lease], cancelled: Callable[[], bool], delegate: Delegate
    ) -> Running:
        """Return an engine whose appends carry these leases and that sends employee steps to this delegate."""
        ...


class Execution(Protocol):
    """What the workforce needs to know about the execution it works for."""

    @property
    def execution_id(self) -> ExecutionId: ...  # noqa: D102

    @property
    def request(self) -> ExecutionRequest: ...  # noqa: D102

    @property
    def trace_id(self) -> str: ...  # noqa: D102

    @property
    def leases(self) -> Sequence[Lease]: ...  # noqa: D102

    def cancelled(self) -> bool:
        """Whether it is to stop."""
        ...


class InlineWorkforce:
    """The employees of one organisation. It never carries out another organisation's orders."""

    def __init__(
        self,
        staff: Staff,
        *,
        ledger: Ledger,
        specs: Mapping[str, CapabilitySpec],
        cluster: Cluster,
        engine_factory: EngineFactory,
        clock: Clock,
        choose_skill: Callable[[str], Name] | None = None,
    ) -> None:
        """Take over an organisation.

        Args:
            specs: the capabilities of this organisation.
            choose_skill: finds the skill for the words of a goal; without it a request has to name one.
        """
        self.staff = staff
        self._ledger = ledger
        self._specs = specs
        self._cluster = cluster
        self._engine_factory = engine_factory
        self._clock = clock
        self._choose_skill = choose_skill
        self._employees: dict[Name, Employee] = {}

    @property
    def awake(self) -> Sequence[Name]:
        """Employees that had an order in this process, in the order of their first."""
        return tuple(self._employees)

    async def run(self, execution: Execution) -> StatusReport:
        """Carry the execution out from its root order, or go on where it stood.

        Raises:
            InvalidArguments: the request is another organisation's, or does not say what its plan needs.
            NotFound: there is no such skill.
        """
        order = await self._recorded_root(execution.execution_id) or self._new_root(execution)
        return await _Shift(self, execution).dispatcher.carry_out(order)

    def employee(self, order: TaskOrder) -> Employee:
        """Return the employee an order is for, awake from now on."""
        self._own(order.organisation)
        node = find(self.staff.head, order.employee)
        if node.id not in self._employees:
            self._employees[node.id] = Employee(node.id, staff=self.staff, ledger=self._ledger)
        return self._employees[node.id]

    def _new_root(self, execution: Execution) -> TaskOrder:
        request = execution.request
        self._own(request.organisation)
        skill = request.skill
        if skill is None and request.plan is None and self._choose_skill is not None:
            skill = self._choose_skill(request.goal)
        return root_order(
            request,
            self.staff,
            skill=skill,
            execution_id=execution.execution_id,
            trace_id=execution.trace_id,
            now=self._clock.now(),
        )

    async def _recorded_root(self, execution_id: ExecutionId) -> TaskOrder | None:
        """Return the root order that an earlier run of the execution began with."""
        after = 0
        while events := await self._ledger.read_execution(execution_id, after=after, limit=_PAGE):
            for event in events:
                if event.type == "order.accepted" and event.data is not None:
                    order = TaskOrder.read(event.data["order"])
                    if not order.chain:
                        return order
            after = events[-1].position
        return None

    def _own(self, organisation: Name) -> None:
        if organisation != self.staff.name:
            raise InvalidArguments(
                f"This is the workforce of {self.staff.name}; it does no work for {organisation}.",
                organisation=organisation,
            )


class _Shift:
    """The workforce during one execution: whose leases it writes under, and when it has to stop."""

    def __init__(self, workforce: InlineWorkforce, execution: Execution) -> None:
        self._workforce = workforce
        self._execution = execution
        self.dispatcher = Dispatcher(
            workforce.staff,
            specs=workforce._specs,
            workforce=self,
            cluster=workforce._cluster,
            clock=workforce._clock,
        )

    async def deliver(self, order: TaskOrder) -> StatusReport:
        """Hand the order to its employee."""
        employee = self._workforce.employee(order)
        return await employee.carry_out(order, engine_for=self._engine, delegate=self.dispatcher)

    def _engine(self, delegate: Delegate) -> Running:
        execution = self._execution
        return self._workforce._engine_factory(
            execution_id=execution.execution_id,
            leases=execution.leases,
            cancelled=execution.cancelled,
            delegate=delegate,
        )
