"""The step engine: carries one order out, step by step, so that it can be stopped anywhere and goes on from there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from contracts import OrderState, Problem, SlotAllocation, StatusReport, TaskOrder
from runtime.blackboard.port import Blackboard
from runtime.capabilities.port import Gate, Sandbox
from runtime.capabilities.router import Router
from runtime.clock import Clock
from runtime.engine.compensate import cancelled as cancelled_problem
from runtime.engine.compensate import compensate
from runtime.engine.context import Run
from runtime.engine.fold import fold_order
from runtime.engine.guards import RecursionStopped, guard_chain
from runtime.engine.journal import Journal, Redact
from runtime.engine.ports import Delegate
from runtime.engine.report import report, report_on
from runtime.engine.schedule import carry_out_plan
from runtime.engine.scope import Outputs
from runtime.engine.view import OrderView
from runtime.errors import InvalidArguments
from runtime.ledger.port import Lease, NewEvent, Store
from runtime.schema import fault_of, json_schema_of_parameters
from runtime.settings.groups import EngineSettings
from runtime.telemetry.context import working_on

_REOPENED = (OrderState.FAILED, OrderState.PARTIAL)


class Engine:
    """Carries out orders; holds no state of its own, the ledger has it all.

    Args:
        redact: takes secrets out of whatever is written; what later steps see is what was written.
        leases: rights that must still be held at each append.
        cancelled: polled several times a second, between steps and during them.
        reopen: let orders that failed or reached a limit go on where they stopped, with the budget they are given now.
        sleep: waits between retries.
        grace_s: how long an effect in progress gets to end after a cancel.
    """

    def __init__(
        self, *, store: Store, router: Router, gate: Gate, clock: Clock, settings: EngineSettings,
        blackboard: Blackboard, delegate: Delegate | None, leases: Sequence[Lease], cancelled: Callable[[], bool],
        redact: Redact, reopen: bool = False, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        grace_s: float = 2.0,
    ) -> None:  # fmt: skip
        self._store = store
        self._router = router
        self._gate = gate
        self._clock = clock
        self._settings = settings
        self._blackboard = blackboard
        self._delegate = delegate
        self._leases = leases
        self._cancelled = cancelled
        self._redact = redact
        self._reopen = reopen
        self._sleep = sleep
        self._grace_s = grace_s

    async def run(
        self, order: TaskOrder, *, allocation: SlotAllocation | None = None, sandbox: Sandbox | None = None,
    ) -> StatusReport:  # fmt: skip
        """Carry the order out, or go on with it, and return how it stands.

        The first event of its stream is `order.accepted`, the last `order.finished` with the report. A finished order
        is not touched; its report is returned. A waiting one has no last event: run it again when people have answered.

        Raises:
            StaleWriter: a lease was lost; somebody else has the order now.
            LedgerUnavailable: nothing can be written; the order goes on from the last commit another time.
        """
        view = fold_order(await self._store.ledger.read(str(order.order_id)))
        if view.report is not None and not (self._reopen and view.report.state in _REOPENED):
            return view.report
        with working_on(trace_id=order.trace_id, order=order.order_id):
            return await self._carry_out(order, view, allocation, sandbox)

    async def _carry_out(
        self, order: TaskOrder, view: OrderView, allocation: SlotAllocation | None, sandbox: Sandbox | None
    ) -> StatusReport:
        run = await self._begin(order, view, allocation, sandbox)
        refusal = self._refusal(run.order)
        if refusal is not None:
            return await self._finish(run, report(run, OrderState.FAILED, problem=refusal))
        standing = await report_on(run, await carry_out_plan(run))
        if standing.state is OrderState.CANCELLED:
            await compensate(run)
            standing = report(run, OrderState.CANCELLED, problem=_told(run.view))
        return await self._finish(run, standing)

    async def _begin(
        self, order: TaskOrder, view: OrderView, allocation: SlotAllocation | None, sandbox: Sandbox | None
    ) -> Run:
        source = f"/organisation/{order.organisation}/employee/{order.employee}"
        journal = Journal(self._store, order, view, redact=self._redact, leases=self._leases, source=source)
        events = []
        if view.order is None:
            events.append(NewEvent("order.accepted", {"order": order.to_json()}))
        if view.report is not None:
            events.append(NewEvent("order.reopened", {"from": view.report.state.value}))
        if allocation is not None and allocation != view.allocation:
            events.append(NewEvent("order.allocated", {"allocation": allocation.to_json()}))
        if events:
            await journal.write(*events)
        assert view.order is not None
        pinned = view.order.model_copy(update={"budget": order.budget, "deadline": order.deadline})
        return Run(
            order=pinned, view=view, journal=journal, store=self._store, router=self._router, gate=self._gate,
            delegate=self._delegate, blackboard=self._blackboard, sandbox=sandbox, clock=self._clock,
            settings=self._settings, cancelled=self._cancelled, outputs=Outputs(), sleep=self._sleep,
            grace_s=self._grace_s,
        )  # fmt: skip

    def _refusal(self, order: TaskOrder) -> Problem | None:
        """Return why the order is not begun at all, if it is not."""
        try:
            guard_chain(order, self._settings)
        except RecursionStopped as error:
            return error.problem()
        schema = json_schema_of_parameters(order.plan.parameters, open_arguments=True)
        fault = fault_of(order.inputs, schema) if order.plan.parameters else None
        if fault is None:
            return None
        return InvalidArguments(f"The order for {order.employee} cannot begin: {fault}").problem()

    async def _finish(self, run: Run, standing: StatusReport) -> StatusReport:
        if not standing.state.final:
            return standing
        await run.journal.write(NewEvent("order.finished", {"report": standing.to_json()}))
        assert run.view.report is not None
        return run.view.report


def _told(view: OrderView) -> Problem:
    """Return what a person wants to know about a cancelled order: what was taken back, and what was not."""
    states = list(view.undone.values())
    back, left = states.count("done"), len(states) - states.count("done")
    message = "The execution was cancelled."
    if states:
        message += f" Effects taken back: {back}."
    if left:
        message += f" Effects that could not be taken back: {left}; the order's events name them."
    return cancelled_problem(message)
