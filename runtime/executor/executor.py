"""Starts, runs, cancels and lists executions. All it knows stands in the ledger; it keeps no state of its own."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Sequence
from pathlib import Path

from contracts import ExecutionId, ExecutionRequest, Name, OrderState, StatusReport
from runtime.clock import Clock
from runtime.errors import ExecutionBusy, LedgerError
from runtime.executor import states
from runtime.executor.guard import Guard
from runtime.executor.holder import is_gone
from runtime.executor.port import Body, ExecutionRun
from runtime.executor.record import Record
from runtime.executor.states import ExecutionState
from runtime.executor.stretch import ended, work
from runtime.executor.view import ExecutionView
from runtime.ledger.port import Lease, Store
from runtime.settings.groups import ExecutorSettings
from runtime.telemetry.context import working_on

_log = logging.getLogger(__name__)


class Executor:
    """Executions of one store. `holder` names this process in leases; no other process bears the same name."""

    def __init__(self, store: Store, clock: Clock, settings: ExecutorSettings, body: Body, holder: str) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings
        self._body = body
        self._holder = holder
        self._record = Record(store.ledger)

    async def start(
        self, request: ExecutionRequest, organisation_sha256: str, home: Path, blobs: Sequence[bytes] = ()
    ) -> ExecutionId:
        """Record the request with its pinned organisation and return its execution; nothing runs yet.

        The same idempotency key is the same execution, however often and from wherever it is asked for.

        Raises:
            KeyInUse: the key stands for an execution that asks for something else.
        """
        return await self._record.request(request, organisation_sha256, home, blobs)

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
        lease = await self._claim(execution_id)
        try:
            return await self._run_claimed(execution_id, lease, reason, reopen=reopen)
        finally:
            await self._release(lease)

    async def cancel(self, execution_id: ExecutionId, by: str) -> ExecutionView:
        """Ask for the execution to stop, and return how it stands: finished when nobody worked on it.

        A process that works on it notices within a second, lets tools in progress end, and finishes it. Where nobody
        does, this process takes back what has to be taken back.
        """
        view = await self.view(execution_id)
        if view.report is not None:
            return view
        if view.cancel_requested_by is None:
            view = await self._record.add(execution_id, states.CANCEL_REQUESTED, {"by": by})
        lease = await self._acquire(execution_id)
        if lease is None:
            return view
        try:
            if view.started_at is None:
                return await self._record.finish(execution_id, ended(view.root_order_id, OrderState.CANCELLED), lease)
            await self._run_claimed(execution_id, lease, "cancelled", reopen=False)
            return await self.view(execution_id)
        finally:
            await self._release(lease)

    async def view(self, execution_id: ExecutionId) -> ExecutionView:
        """Return what the ledger says about the execution; raise NotFound when it says nothing."""
        return await self._record.view(execution_id)

    async def find(self, organisation: Name, idempotency_key: str) -> ExecutionId | None:
        """Return the execution that was asked for under the key, or None when none was."""
        return await self._record.claimed(organisation, idempotency_key)

    async def list(self, *, organisation: str | None = None, unfinished_only: bool = False) -> Sequence[ExecutionView]:
        """Return the executions, oldest first."""
        streams = await self._store.ledger.streams(
            "execution", organisation=organisation, last_types=states.UNFINISHED if unfinished_only else ()
        )
        return await asyncio.gather(*(self.view(ExecutionId(stream)) for stream in streams))

    async def orphans(self) -> Sequence[ExecutionView]:
        """Return executions that were begun, do not wait, are not finished, and that nobody works on."""
        live = {lease.name for lease in await self._store.leases.live("execution/")}
        return [
            view
            for view in await self.list(unfinished_only=True)
            if view.state is ExecutionState.RUNNING and view.execution_id not in live
        ]

    async def _run_claimed(self, execution_id: ExecutionId, lease: Lease, reason: str, *, reopen: bool) -> StatusReport:
        view = await self.view(execution_id)  # it may have moved before the lease was ours
        reopened = reopen and view.state is ExecutionState.STOPPED
        if view.report is not None and not reopened:
            return view.report
        resumed = view.state is not ExecutionState.REQUESTED
        if resumed:
            fact = {"holder": lease.holder, "reason": reason}
            view = await self._record.add(execution_id, states.RESUMED, fact, lease)
        else:
            view = await self._record.add(execution_id, states.STARTED, {"holder": lease.holder}, lease)
        cancelled = view.cancel_requested_by is not None
        guard = Guard(self._store, self._settings, lease, version=view.version, cancelled=cancelled)
        run = ExecutionRun(
            execution_id=execution_id,
            request=view.request,
            organisation_sha256=view.organisation_sha256,
            home=view.home,
            trace_id=view.trace_id,
            resumed=resumed,
            reopened=reopened,
            leases=(lease,),
            cancelled=lambda: guard.cancelled,
        )
        with working_on(trace_id=view.trace_id, execution=execution_id):
            _log.info("execution resumed" if resumed else "execution started", extra={"reason": reason})
            report = await work(self._body, run, guard)
            _log.info("execution %s", report.state, extra={"usage": report.usage.to_json()})
            return await self._settle(execution_id, report, lease)

    async def _settle(self, execution_id: ExecutionId, report: StatusReport, lease: Lease) -> StatusReport:
        """Record how the stretch ended; return the report that holds."""
        if report.state is OrderState.WAITING:
            waiting_for = {"for": list(report.waiting_for)}
            view = await self._record.add(execution_id, states.WAITING, waiting_for, lease)
            if view.cancel_requested_by is None:
                return report
            report = ended(report.order_id, OrderState.CANCELLED)
        view = await self._record.finish(execution_id, report, lease)
        return view.report or report

    async def _claim(self, execution_id: ExecutionId) -> Lease:
        lease = await self._acquire(execution_id)
        if lease is not None:
            return lease
        held = next(iter(await self._store.leases.live(execution_id)), None)
        if held is not None and is_gone(held.holder):
            await self._release(held)
            return await self._claim(execution_id)
        who = "another process" if held is None else held.holder
        until = self._clock.now() if held is None else held.expires_at
        left_s = max(0, round((until - self._clock.now()).total_seconds()))
        raise ExecutionBusy(
            f"{execution_id} is being worked on by {who}, whose lease runs for another {left_s} s and may be renewed. "
            "Follow it with `silicon show`, or wait until it is done.",
            execution_id=execution_id,
            holder=who,
            until=until.isoformat(timespec="seconds"),
        )

    async def _acquire(self, execution_id: ExecutionId) -> Lease | None:
        """Claim the execution; two claims of one process are strangers to each other as well."""
        holder = f"{self._holder}/{secrets.token_hex(4)}"
        acquiring = asyncio.ensure_future(self._store.leases.acquire(execution_id, holder, self._settings.lease_s))
        try:
            return await asyncio.shield(acquiring)
        except asyncio.CancelledError:  # stopped while the claim was on its way: nobody would give it back
            lease = await acquiring
            if lease is not None:
                await self._release(lease)
            raise

    async def _release(self, lease: Lease) -> None:
        try:
            await self._store.leases.release(lease)
        except LedgerError as error:
            _log.warning("the lease %s could not be given back and will run out: %s", lease.name, error)
