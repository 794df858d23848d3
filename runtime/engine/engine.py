"""The step engine: carries one order out, step by step, so that it can be stopped anywhere and goes on from there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import aclosing, suppress
from functools import partial

from contracts import OrderId, OrderState, Problem, SlotAllocation, StatusReport, TaskOrder
from runtime.blackboard.port import Blackboard
from runtime.canonical import to_bytes
from runtime.capabilities.port import Gate, Sandbox
from runtime.capabilities.router import Router
from runtime.clock import Clock
from runtime.context.blocks import Block
from runtime.context.budget import Gauge
from runtime.draining import Steps
from runtime.engine.account import Account
from runtime.engine.amounts import is_more
from runtime.engine.branches import is_in
from runtime.engine.cancelled import cancelled as cancelled_problem
from runtime.engine.compensate import Left, compensate
from runtime.engine.context import Run
from runtime.engine.flow import Flow
from runtime.engine.guards import RecursionStopped, guard_chain
from runtime.engine.journal import SNAPSHOT_EVENTS, Journal, Redact
from runtime.engine.order_json import json_of
from runtime.engine.pace import Pace
from runtime.engine.ports import Delegate, SlotFiles
from runtime.engine.react.past import PastRequest, past_requests
from runtime.engine.report import report, report_on
from runtime.engine.resume import open_view
from runtime.engine.schedule import carry_out_plan
from runtime.engine.scope import Outputs
from runtime.engine.shared import Shared
from runtime.engine.shared_budget import SharedBudgets
from runtime.engine.shares import promised
from runtime.engine.source import source_of
from runtime.engine.states import UnitState
from runtime.engine.unsettled import doubtful_units, settle
from runtime.engine.view import OrderView, Said, Unit
from runtime.engine.withdraw import settle_below
from runtime.errors import InvalidArguments, NotStorable, VersionConflict
from runtime.known import Known, New
from runtime.ledger.facts import PAYLOAD_BYTES
from runtime.ledger.grip import StillHeld, always
from runtime.ledger.port import Lease, NewEvent, Store
from runtime.model.port import Model
from runtime.schema import fault_of, json_schema_of_parameters
from runtime.settings.context import ContextSettings
from runtime.settings.groups import EngineSettings
from runtime.telemetry.context import working_on

LARGEST_OUTPUT = PAYLOAD_BYTES - 1024 * 1024
"""Bytes of output that a report can carry, so that it fits into its events."""

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
        steps: lets each step begin, or holds it back where this process is about to end.
        model: who reasons in `react` steps; without one they fail with MODEL_REQUIRED.
        snapshot_events: after how many events of an order's stream a snapshot of it is taken.
        cancelled_branches: names of the branches that were asked to stop; polled like `cancelled`.
        still_held: asked before each effect; raises StaleWriter when the leases may have run out and cannot be renewed.
        context: in which form models see what they see.
        blocks: what else stands in their system prompts.
        gauge: tells whether their prompts fit, and learns from each request.
        shared: the budgets that orders share with others.
        known: what this process knows of the stretch's orders, so that it need not read them.
    """

    def __init__(
        self, *, store: Store, router: Router, gate: Gate, clock: Clock, settings: EngineSettings,
        blackboard: Blackboard, delegate: Delegate | None, leases: Sequence[Lease], cancelled: Callable[[], bool],
        redact: Redact, reopen: bool = False, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        grace_s: float = 2.0, steps: Steps | None = None, model: Model | None = None,
        snapshot_events: int = SNAPSHOT_EVENTS,
        cancelled_branches: Callable[[], Collection[str]] = tuple, still_held: StillHeld = always,
        known: Known | None = None, context: ContextSettings | None = None, blocks: Sequence[Block] = (),
        gauge: Gauge | None = None, shared: SharedBudgets | None = None,
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
        self._steps = steps or Steps()
        self._model = model
        self._snapshot_events = snapshot_events
        self._cancelled_branches = cancelled_branches
        self._still_held = still_held
        self._known = Known() if known is None else known
        self._context = context or ContextSettings()
        self._blocks = blocks
        self._gauge = gauge or Gauge()
        self._shared = shared

    async def run(
        self, order: TaskOrder, *, allocation: SlotAllocation | None = None, sandbox: Sandbox | None = None,
        files: SlotFiles | None = None,
    ) -> StatusReport:  # fmt: skip
        """Carry the order out, or go on with it, and return how it stands.

        The first event of its stream is `order.accepted`, the last `order.finished` with the report. A finished order
        is not touched; its report is returned. A waiting one has no last event: run it again when people have answered.
        A cancelled one waits too, as long as only people can tell whether an effect happened. With `files`, what a step
        leaves in the slot's folder is kept in the commit that tells how it ended.

        Raises:
            StaleWriter: a lease was lost; somebody else has the order now.
            LedgerUnavailable: nothing can be written; the order goes on from the last commit another time.
        """
        with working_on(trace_id=order.trace_id, order=order.order_id):
            run = await self._opened(order, allocation, sandbox, files)
            if isinstance(run, StatusReport):
                return run
            async with aclosing(run.journal):
                return await self._carry_out(run, files)

    async def settle_doubts(self, order: TaskOrder) -> StatusReport | None:
        """Find out, without a slot, about effects of an order that were announced and have no receipt; begin no step.

        Return how it stands: waiting for whoever is asked, or ended, where that is all it takes. None when nothing is
        in doubt any more and there is more to do than can be done without a slot.
        """
        with working_on(trace_id=order.trace_id, order=order.order_id):
            view = await open_view(self._store.ledger, str(order.order_id))
            doubtful = doubtful_units(view)
            if view.report is not None or not doubtful:
                return None
            run = await self._begin(order, view, None, None, None)
            async with aclosing(run.journal):
                return await self._without_doubts(run, doubtful)

    async def past_requests(self, order_id: OrderId) -> Sequence[PastRequest]:
        """Return the requests of an order that models answered, put together again; nothing is written."""

        async def begin(view: OrderView) -> Run:
            assert view.order is not None
            return await self._begin(view.order, view, None, None, None)

        events = await self._store.ledger.read(str(order_id))
        return [request async for request in past_requests(events, begin)]

    async def _without_doubts(self, run: Run, doubtful: Sequence[Unit]) -> StatusReport | None:
        view = run.view
        if run.cancelled():
            return await self._carry_out(run, None)
        asked = await settle(run, doubtful, goes_on=True)
        if asked:
            return report(run, OrderState.WAITING, waiting_for=tuple(dict.fromkeys((*asked, *view.waiting_for))))
        for unit in doubtful:
            if unit.state is UnitState.FAILED:
                return await self._finish(run, report(run, OrderState.FAILED, problem=unit.problem))
        over = all(view.state_of(step.id) in (UnitState.DONE, UnitState.SKIPPED) for step in run.order.plan.steps)
        return await self._carry_out(run, None) if over else None

    async def _opened(
        self, order: TaskOrder, allocation: SlotAllocation | None, sandbox: Sandbox | None, files: SlotFiles | None
    ) -> Run | StatusReport:  # fmt: skip
        """Return the order as it goes on, or how it ended."""
        new = self._known.take_new(order.order_id)
        if new is not New.NO:
            with suppress(VersionConflict):  # somebody began with it elsewhere after all
                return await self._begin(order, OrderView(), allocation, sandbox, files, proven=new is New.MADE)
        view = await open_view(self._store.ledger, str(order.order_id))
        if view.report is not None and not self._goes_on(order, view.report):
            return view.report
        return await self._begin(order, view, allocation, sandbox, files)

    async def _carry_out(self, run: Run, files: SlotFiles | None) -> StatusReport:
        refusal = self._refusal(run.order)
        if refusal is not None:
            return await self._finish(run, report(run, OrderState.FAILED, problem=refusal))
        outcomes = await carry_out_plan(run)
        standing = await report_on(run, outcomes)
        if standing.state.final and await settle_below(run):
            standing = await report_on(run, outcomes)
        problem = files.problem(done=standing.state is OrderState.DONE) if files is not None else None
        if problem is not None and not run.cancelled():
            standing = report(run, OrderState.FAILED, problem=problem)
        if standing.state is OrderState.CANCELLED:
            await run.journal.flush()
            left = await compensate(run)
            if left.asked:
                return report(run, OrderState.WAITING, waiting_for=left.asked)
            standing = report(run, OrderState.CANCELLED, problem=_told(self._what_was_cancelled(run.order), left))
        return await self._finish(run, standing)

    def _goes_on(self, order: TaskOrder, report: StatusReport) -> bool:
        """Whether an order that has ended goes on: it was reopened, or got more than it had when it reached a limit."""
        if report.state in _REOPENED and self._reopen:
            return True
        return report.state is OrderState.PARTIAL and report.asks is not None and is_more(order.budget, report.asks.had)

    async def _begin(
        self, order: TaskOrder, view: OrderView, allocation: SlotAllocation | None, sandbox: Sandbox | None,
        files: SlotFiles | None, *, proven: bool = True,
    ) -> Run:  # fmt: skip
        """Return the order as it begins or goes on; one whose view is not proven is recorded before anything is done.

        Raises:
            VersionConflict: it does not stand as its view says.
        """
        source, goes_on = f"/organisation/{order.organisation}/employee/{order.employee}", view.version > 0
        pace = Pace.of(order.plan.dispatch, self._settings, narrowed=None if view.report else view.narrowed)
        broken = files is not None and files.problem(done=False) is not None
        flow = Flow(pace=pace, closing=broken, broken=broken)
        budgets = self._shared.over(view.order or order) if self._shared is not None else ()
        shared = Shared(budgets, view.order or order, view, self._clock.now)
        journal = Journal(
            self._store, order, view, redact=self._redact, leases=self._leases, source=source,
            clock=self._clock, snapshot_events=self._snapshot_events, flow=flow, files=files,
            shared=shared,
        )  # fmt: skip
        events = []
        if view.order is None:
            view.said = Said(order, json_of(order))
            events.append(NewEvent("order.accepted", {"order": view.said.data}))
        if view.report is not None:
            events.append(NewEvent("order.reopened", {"from": view.report.state.value}))
        if allocation is not None and allocation != view.allocation:
            events.append(NewEvent("order.allocated", {"allocation": allocation.to_json()}))
        alone = len(events) == 1 and view.version == 0
        if alone and proven and order.known_at is not None:  # without that, it counts when the ledger stores this event
            await journal.write_ahead(*events)
        elif events:
            await journal.write(*events)
        assert view.order is not None
        pinned = view.order
        if pinned is not order:
            pinned = pinned.model_copy(update={"budget": order.budget, "deadline": order.deadline})
        account = Account(
            order.budget, view, flow=flow, promised=partial(promised, pinned.plan, view),
            stopping=lambda step: flow.closing or self._is_cancelled(order, journal.branches.get(step, order.branch)),
        )  # fmt: skip
        return Run(
            order=pinned, view=view, journal=journal, store=self._store, router=self._router, gate=self._gate,
            delegate=self._delegate, blackboard=self._blackboard, sandbox=sandbox, clock=self._clock,
            settings=self._settings, cancelled=lambda: self._is_cancelled(order), outputs=Outputs(), sleep=self._sleep,
            grace_s=self._grace_s, steps=self._steps, model=self._model, branch=order.branch,
            cancelled_branches=self._cancelled_branches, flow=flow, still_held=self._still_held, account=account,
            known=self._known, goes_on=goes_on, context=self._context, blocks=self._blocks, gauge=self._gauge,
            shared=shared,
        )  # fmt: skip

    def _is_cancelled(self, order: TaskOrder, branch: str | None = None) -> bool:
        return self._cancelled() or is_in(order.branch if branch is None else branch, self._cancelled_branches())

    def _what_was_cancelled(self, order: TaskOrder) -> str:
        around = (each for each in self._cancelled_branches() if is_in(order.branch, {each}))
        branch = None if self._cancelled() else next(around, None)
        return "The execution" if branch is None else f"The branch {branch}"

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
        size = len(to_bytes(standing.output))
        if size > LARGEST_OUTPUT and standing.state is OrderState.PARTIAL:
            standing = standing.model_copy(update={"output": None})  # every result is kept, and the limit is the news
        elif size > LARGEST_OUTPUT:
            standing = report(run, OrderState.FAILED, problem=_too_large(size))
        said = run.view.said = Said(standing, standing.to_json())
        await run.journal.write(NewEvent("order.finished", {"report": said.data}))
        assert run.view.report is not None
        if self._known.awaits_end(run.order.order_id):
            self._known.ended(run.order.order_id, await source_of(run.view))
        return run.view.report


def _too_large(size: int) -> Problem:
    return NotStorable(
        f"What the plan gives takes {size:,} bytes, and a report holds {LARGEST_OUTPUT:,}. Every step is done and its "
        f"result is kept. Name in `gives` only what whoever asked needs, or let a step write the rest into a file.",
        size=size, most=LARGEST_OUTPUT,
    ).problem()  # fmt: skip


def _told(what: str, left: Left) -> Problem:
    """Return what a person wants to know about a cancelled order: what was taken back, and what was not."""
    message = f"{what} was cancelled."
    if left.taken_back or left.standing:
        message += f" Effects taken back: {left.taken_back}."
    if left.standing:
        message += f" Effects that could not be taken back: {left.standing}; the orders' events name them."
    if left.in_doubt:
        message += (
            f" Effects in doubt: {len(left.in_doubt)}; nobody said whether they happened, and they were not taken "
            f"back: {', '.join(left.in_doubt)}. Look at the other side."
        )
    return cancelled_problem(message)
