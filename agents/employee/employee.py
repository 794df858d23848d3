"""An employee: carries out an order in four phases, and knows nothing it could lose."""

from __future__ import annotations

from agents.employee.plan import plan
from agents.employee.ports import EngineFor, Staff
from agents.employee.reflect import Done, reflect
from agents.employee.synthesise import synthesise
from contracts import Name, OrderState, StatusReport, TaskOrder
from runtime.engine.ports import Delegate
from runtime.engine.states import UnitState
from runtime.engine.view import fold_order
from runtime.errors import CapabilityFailed
from runtime.ledger.port import Ledger


class Employee:
    """One employee of the tree. All it knows about an order is in the ledger, so that any copy can go on with it."""

    def __init__(self, name: Name, *, staff: Staff, ledger: Ledger) -> None:
        self.name = name
        self._staff = staff
        self._ledger = ledger

    async def carry_out(self, order: TaskOrder, *, engine_for: EngineFor, delegate: Delegate) -> StatusReport:
        """Plan, dispatch, reflect, synthesise; the same order again goes on where it stood.

        Args:
            engine_for: gives the step engine of this execution.
            delegate: where steps go that others do.
        """
        try:
            plan(order, self._staff.head, self.name)
        except CapabilityFailed as error:
            return StatusReport(order_id=order.order_id, state=OrderState.FAILED, error=error.problem())
        report = await engine_for(delegate).run(order)
        report = reflect(order, report, await self._done(order))
        return synthesise(order, report)

    async def _done(self, order: TaskOrder) -> Done:
        view = fold_order(await self._ledger.read(str(order.order_id)))
        steps = frozenset(unit.step for unit in view.units.values() if unit.state is UnitState.DONE)
        return Done(steps, frozenset(view.uses))
