"""One stretch of work under its guard, and what its end means."""

from __future__ import annotations

import asyncio
import logging

from contracts import ErrorCategory, OrderId, OrderState, Problem, StatusReport
from runtime.canonical import clean_text
from runtime.errors import LedgerUnavailable, SiliconError, StaleWriter
from runtime.executor.guard import Guard
from runtime.executor.port import Body, ExecutionRun

_OUT_OF_TIME = Problem(
    code="CANCELLED",
    category=ErrorCategory.PERMISSION,
    message="The execution was cancelled, and stopped before it had found out about all it did and taken that back: "
    "`executor.cancel_most_s` were over. `silicon show` tells which effects were begun and which were taken back.",
)

_log = logging.getLogger(__name__)


async def work(body: Body, run: ExecutionRun, guard: Guard) -> StatusReport:
    """Return the report of the stretch: the body's own, or one that says that it failed or was cancelled.

    Raises:
        StaleWriter: the lease was lost; the body was stopped and nothing more may be written.
        LedgerUnavailable: the ledger went away; the execution can be resumed.
    """
    working = asyncio.create_task(body.run(run), name=f"body of {run.execution_id}")
    keeping = asyncio.create_task(guard.keep_lease(), name=f"lease of {run.execution_id}")
    cancelling = asyncio.create_task(guard.wait_for_cancel(), name=f"cancel of {run.execution_id}")
    tasks = (working, keeping, cancelling)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        stopped_by = None if working.done() else keeping if keeping.done() else cancelling
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    if stopped_by is keeping:
        raise keeping.result()
    if stopped_by is cancelling:
        cancelling.result()
        if working.cancelled() or working.exception() is not None:
            return ended(run.root_order_id, OrderState.CANCELLED, _OUT_OF_TIME)
    return _report(working, run)


def ended(order_id: OrderId, state: OrderState, error: Problem | None = None) -> StatusReport:
    """Return the report of an execution that ended without a report of its own."""
    return StatusReport(order_id=order_id, state=state, error=error)


def _report(working: asyncio.Task[StatusReport], run: ExecutionRun) -> StatusReport:
    try:
        report = working.result()
    except (StaleWriter, LedgerUnavailable):
        raise
    except asyncio.CancelledError:  # the work cancelled itself; nobody asked for it
        return ended(run.root_order_id, OrderState.FAILED, _problem(RuntimeError("the work was dropped"), run))
    except Exception as error:
        return ended(run.root_order_id, OrderState.FAILED, _problem(error, run))
    if report.state is OrderState.RUNNING:
        unfinished = RuntimeError("the work ended while its report says that it runs")
        return ended(run.root_order_id, OrderState.FAILED, _problem(unfinished, run))
    return report


def _problem(error: Exception, run: ExecutionRun) -> Problem:
    known = _known(error)
    if known is not None:
        _log.info("%s failed: %s", run.execution_id, known.message, exc_info=error)
        return known.problem()
    _log.error("%s failed on a fault of the program", run.execution_id, exc_info=error)
    said = clean_text(f"{type(error).__name__}: {error}")[:500]
    return Problem(
        code="UNEXPECTED",
        message=f"The execution stopped on a fault of the program ({said}). The log file has the details.",
        facts={"error": said},
    )


def _known(error: BaseException) -> SiliconError | None:
    """Return the error itself, or the first one inside a group, that was made for people."""
    if isinstance(error, SiliconError):
        return error
    if isinstance(error, BaseExceptionGroup):
        return next((known for inner in error.exceptions if (known := _known(inner)) is not None), None)
    return None
