"""Claims, runs and cancels executions. All it knows stands in the ledger; it keeps no state of its own."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from contracts import ExecutionId, OrderState, StatusReport
from runtime.clock import Clock
from runtime.draining import Draining, Steps
from runtime.executor import states
from runtime.executor.claims import Claims
from runtime.executor.crashes import crashes_of, given_up
from runtime.executor.guard import Guard
from runtime.executor.lookout import Lookout
from runtime.executor.port import Body, ExecutionRun
from runtime.executor.register import Register
from runtime.executor.states import ExecutionState
from runtime.executor.stretch import ended, work
from runtime.executor.view import ExecutionView, refuse_imported
from runtime.ledger.port import Lease, Store
from runtime.settings.groups import ExecutorSettings
from runtime.telemetry.context import working_on

_log = logging.getLogger(__name__)


class Executor(Register):
    """Executions of one store, carried out by this process.

    Args:
        holder: names this process in leases; no other process bears the same name.
        draining: says when nothing new begins here any more.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        settings: ExecutorSettings,
        body: Body,
        holder: str,
        *,
        draining: Draining | None = None,
    ) -> None:
        super().__init__(store)
        self._settings = settings
        self._body = body
        self._draining = draining or Draining()
        self._lookout = Lookout(store.ledger)
        self._claims = Claims(store, clock, settings, holder)
        self._in_hand: dict[ExecutionId, Steps] = {}

    async def run(self, execution_id: ExecutionId, reason: str = "asked", *, reopen: bool = False) -> StatusReport:
        """Work on the execution until it is finished or waits for people; a finished one only gives its report.

        With `reopen`, one that failed or reached a limit goes on where it stopped; what was finished stays finished.

        Raises:
            NotFound: there is no such execution.
            ExecutionBusy: another process works on it.
            StaleWriter: another process took it over meanwhile.
            LedgerUnavailable: the ledger went away; run it again later.
        """
        view = await self.view(execution_id)
        if view.report is not None and not (reopen and view.state is ExecutionState.STOPPED):
            return view.report
        refuse_imported(view)
        lease = await self._claims.claim(execution_id)
        try:
            return await self._run_claimed(execution_id, lease, reason, reopen=reopen, seen=view)
        finally:
            await self._claims.release(lease)

    async def take_up(self, seen: ExecutionView, reason: str) -> StatusReport | None:
        """Work on the execution as it was seen, like `run`; return None when it is not to be had that way.

        That is so when somebody else works on it, when it moved on since it was seen, and when this process drains.
        Nothing is done and nothing written then: no claim, no run. One that ended its process `executor.crashes` times
        in a row fails instead of being tried once more.

        Raises:
            StaleWriter, LedgerUnavailable: as `run`.
        """
        lease = await self._claims.claim_free(seen.execution_id)
        if lease is None:
            return None
        try:
            now = await self.view(seen.execution_id)
            if now.version != seen.version or self._draining.begun:
                return None
            if now.cancel_requested_by is not None and now.started_at is None:
                return (await self._never_begun(now, lease)).report
            crashes = await crashes_of(self._store.ledger, now, lease)
            if crashes >= self._settings.crashes:
                _log.error("%s is given up: its process died %d times in a row", now.execution_id, crashes)
                return (await self._record.finish(now.execution_id, given_up(now, crashes), lease)).report
            return await self._run_claimed(seen.execution_id, lease, reason, reopen=False, seen=now)
        finally:
            await self._claims.release(lease)

    async def cancel(self, execution_id: ExecutionId, by: str) -> ExecutionView:
        """Ask for the execution to stop, and return how it stands: finished when nobody worked on it.

        A process that works on it notices within a second, lets tools in progress end, and finishes it. Where nobody
        does, this process takes back what has to be taken back. One that waits for people, because only they can tell
        whether an effect happened, finishes when they have.
        """
        view = await self.request_cancel(execution_id, by)
        if view.report is not None or (view.state is ExecutionState.WAITING and not view.cancel_waits):
            return view
        lease = await self._claims.claim_free(execution_id)
        if lease is None:
            return view
        try:
            if view.started_at is None:
                return await self._never_begun(view, lease)
            await self._run_claimed(execution_id, lease, "cancelled", reopen=False)
            return await self.view(execution_id)
        finally:
            await self._claims.release(lease)

    async def cancel_branch(self, execution_id: ExecutionId, branch: str, by: str) -> ExecutionView:
        """Ask for one branch of a group to stop, and return how the execution stands.

        A process that works on it stops the branch within a second or two. Where nobody does, because it waits for
        people or was left behind, this process takes the branch out and goes on with the rest.
        """
        view = await self.request_branch_cancel(execution_id, branch, by)
        if view.report is not None or not view.branch_waits:
            return view
        lease = await self._claims.claim_free(execution_id)
        if lease is None:
            return view
        try:
            await self._run_claimed(execution_id, lease, "a branch was cancelled", reopen=False)
            return await self.view(execution_id)
        finally:
            await self._claims.release(lease)

    @property
    def in_hand(self) -> Mapping[ExecutionId, Steps]:
        """What this process works on now, with the steps in progress."""
        return self._in_hand

    async def release_left(self) -> None:
        """Give back the leases that could not be given back while the ledger was away."""
        await self._claims.release_left()

    async def _never_begun(self, view: ExecutionView, lease: Lease) -> ExecutionView:
        """End a cancelled execution that nobody ever worked on."""
        return await self._record.finish(view.execution_id, ended(view.root_order_id, OrderState.CANCELLED), lease)

    async def _run_claimed(
        self, execution_id: ExecutionId, lease: Lease, reason: str, *, reopen: bool, seen: ExecutionView | None = None
    ) -> StatusReport:
        """Work on the execution under the lease; `seen` is how it stood a moment before, which saves reading it."""
        view = await self.view(execution_id) if seen is None else seen
        if view.report is not None and not (reopen and view.state is ExecutionState.STOPPED):
            return view.report
        resumed = view.state is not ExecutionState.REQUESTED
        if resumed:
            crashes = await crashes_of(self._store.ledger, view, lease)
            fact = {"holder": lease.holder, "reason": reason, **({"crashes": crashes} if crashes else {})}
            begun = await self._begun(view, states.RESUMED, fact, lease)
        else:
            begun = await self._begun(view, states.STARTED, {"holder": lease.holder}, lease)
        if begun is None:  # it moved before the lease was ours
            return await self._run_claimed(execution_id, lease, reason, reopen=reopen)
        view = begun
        guard = Guard(self._store, self._settings, lease, view, self._lookout)
        run = ExecutionRun.of(
            view,
            resumed=resumed,
            reopened=view.reopened,
            leases=(lease,),
            cancelled=lambda: guard.cancelled,
            cancelled_branches=lambda: guard.cancelled_branches,
            still_held=guard.still_held,
            steps=Steps(self._draining),
        )
        self._in_hand[execution_id] = run.steps
        try:
            with working_on(trace_id=view.trace_id, execution=execution_id):
                _log.info("execution resumed" if resumed else "execution started", extra={"reason": reason})
                report = await work(self._body, run, guard)
                _log.info("execution %s", report.state, extra={"usage": report.usage.to_json()})
                return await self._settle(run, report, lease, view)
        finally:
            self._in_hand.pop(execution_id, None)

    async def _begun(
        self, view: ExecutionView, event_type: str, fact: Mapping[str, Any], lease: Lease
    ) -> ExecutionView | None:
        """Record that the work begins where the execution stands so; return None when it stands elsewhere by now."""
        moved = False

        def has_moved(now: ExecutionView) -> bool:
            nonlocal moved
            moved = now.version != view.version
            return moved

        begun = await self._record.add(view.execution_id, event_type, fact, lease, unless=has_moved, seen=view)
        return None if moved else begun

    async def _settle(
        self, run: ExecutionRun, report: StatusReport, lease: Lease, begun: ExecutionView
    ) -> StatusReport:
        """Record how the stretch ended that began so; return the report that holds.

        One that came to wait when it had just been cancelled is run once more, so that it takes back what it did.
        """
        if report.state is OrderState.WAITING:
            waiting_for = {"for": list(report.waiting_for)}
            view = await self._record.add(run.execution_id, states.WAITING, waiting_for, lease, seen=begun)
            if view.cancel_waits:
                return await self._run_claimed(run.execution_id, lease, "cancelled", reopen=False)
            if view.branch_waits and view.cancel_requested_by is None:
                return await self._run_claimed(run.execution_id, lease, "a branch was cancelled", reopen=False)
            return report
        view = await self._record.finish(run.execution_id, report, lease, seen=begun)
        return view.report or report
