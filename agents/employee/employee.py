"""An employee: carries out an order in four phases, and knows nothing it could lose."""

from __future__ import annotations

from agents.employee.plan import plan
from agents.employee.ports import EngineFor, Staff
from agents.employee.reflect import reflect
from agents.employee.synthesise import synthesise
from contracts import Name, OrderState, StatusReport, TaskOrder
from runtime.engine.ports import Delegate
from runtime.errors import CapabilityFailed
from runtime.ledger.port import Store
from runtime.settings.groups import EngineSettings


class Employee:
    """One employee of the tree. All it knows about an order is in the ledger, so that any copy can go on with it."""

    def __init__(self, name: Name, *, staff: Staff, store: Store, settings: EngineSettings | None = None) -> None:
        self.name = name
        self._staff = staff
        self._store = store
        self._settings = settings or EngineSettings()

    async def carry_out(self, order: TaskOrder, *, engine_for: EngineFor, delegate: Delegate) -> StatusReport:
        """Plan, dispatch, reflect, synthesise; the same order again goes on where it stood.

        Args:
            engine_for: gives the step engine of this execution.
            delegate: where steps go that others do.
        """
        try:
            plan(order, self._staff, self.name, settings=self._settings)
        except CapabilityFailed as error:
            return StatusReport(order_id=order.order_id, state=OrderState.FAILED, error=error.problem())
        report = await engine_for(delegate).run(order)
        report = await reflect(order, report, self._store)
        return synthesise(order, report)
