"""The workforce in one process: every employee on one event loop, awake from its first order on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from agents.employee.dispatch import Dispatcher
from agents.employee.employee import Employee
from agents.employee.ports import Cluster, Offer, Running, Staff
from agents.employee.root import narrower, root_order
from agents.employee.tree import find
from agents.workforce.shift import Send, Shift
from contracts import Name, StatusReport, TaskOrder
from runtime.capabilities.port import CapabilitySpec
from runtime.clock import Clock
from runtime.engine.ports import Delegate
from runtime.engine.resume import accepted_order
from runtime.errors import InvalidArguments
from runtime.executor.port import ExecutionRun
from runtime.ledger.port import Store
from runtime.settings.groups import EngineSettings

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
        offer_for: Callable[[ExecutionRun], Offer] | None = None,
        settings: EngineSettings | None = None,
    ) -> None:
        """Take over an organisation.

        Args:
            offer_for: tells which skills models are shown in an execution, and how; without it none can call any.
            specs: the capabilities of this organisation.
            choose_skill: finds the skill for the words of a goal; without it a request has to name one.
            settings: limits that plans are held against; the defaults without them.
        """
        self.staff = staff
        self._store = store
        self._specs = specs
        self._engine_for = engine_for
        self._cluster_for = cluster_for
        self._clock = clock
        self._choose_skill = choose_skill
        self._offer_for = offer_for
        self._settings = settings or EngineSettings()
        self._employees: dict[Name, Employee] = {}

    @property
    def awake(self) -> Sequence[Name]:
        """Employees that had an order in this process, in the order of their first."""
        return tuple(self._employees)

    async def run(self, run: ExecutionRun, *, send: Send | None = None) -> StatusReport:
        """Carry the execution out from its root order, or go on where it stood.

        With `send`, whose order it is carries it out where that sends it; else everybody does in this process.

        Raises:
            InvalidArguments: the request is another organisation's, or does not say what its plan needs.
            NotFound: there is no such skill.
        """
        order = await self._recorded(run) if run.resumed else None
        if order is None:
            order = self._new_root(run)
            run.known.make(order.order_id)
        return await self.shift(run, send=send).begin(order)

    def shift(self, run: ExecutionRun, *, send: Send | None = None) -> Shift:
        """Return this process's part in a stretch of an execution."""
        return Shift(
            self.employee,
            lambda delegate: self._engine_for(run, delegate),
            lambda shift: Dispatcher(
                self.staff, specs=self._specs, workforce=shift, cluster=self._cluster_for(run), store=self._store,
                clock=self._clock, offer=self._offer_for(run) if self._offer_for else None, settings=self._settings,
            ),
            send=send,
        )  # fmt: skip

    def employee(self, order: TaskOrder) -> Employee:
        """Return the employee an order is for, awake from now on."""
        self._own(order.organisation)
        node = find(self.staff.head, order.employee)
        if node.id not in self._employees:
            self._employees[node.id] = Employee(
                node.id, staff=self.staff, store=self._store, settings=self._settings
            )  # fmt: skip
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

    async def _recorded(self, run: ExecutionRun) -> TaskOrder | None:
        """Return the order that an earlier run began with, under the budget of now, or None when none did."""
        order = await accepted_order(self._store.ledger, str(run.root_order_id))
        if order is None:
            return None
        budget = narrower(run.request.governance.budget, self.staff.budget)
        return order.model_copy(update={"budget": budget})

    def _own(self, organisation: Name) -> None:
        if organisation != self.staff.name:
            raise InvalidArguments(
                f"This is the workforce of {self.staff.name}; it does no work for {organisation}.",
                organisation=organisation,
            )
