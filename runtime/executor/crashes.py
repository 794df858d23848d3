"""Executions whose process dies again and again: counted in the ledger, and given up in the end.

A server that is killed by an execution finds it again after its restart, and would be killed for ever. What counts is
a stretch that left nothing behind: whoever gets further with each try is not given up, however often it crashes.
"""

from __future__ import annotations

from contracts import OrderState, Problem, StatusReport
from runtime.executor.states import ExecutionState
from runtime.executor.view import ExecutionView
from runtime.ledger.port import Lease, Ledger

ALONE_BEFORE = 2
"""So many tries before the last, an execution is worked on only while no other one is that is about to be given up.

An execution that kills its process takes others with it that are in hand at the same time and had nothing to store.
"""
_ANNOUNCED = frozenset(
    {"order.allocated", "order.reopened", "effect.intended", "call.intended", "compensation.intended"}
)
"""Events that say what is about to be done: each try writes them anew."""
_PAGE = 100


async def crashes_of(ledger: Ledger, view: ExecutionView, lease: Lease) -> int:
    """Return how many stretches in a row ended with the death of their process, with nothing new in the ledger since.

    Args:
        view: the execution as it stands, before anybody goes on with it.
        lease: the claim under which somebody is about to.
    """
    if view.state is not ExecutionState.RUNNING or not lease.taken_over:
        return 0
    after = view.last_begun
    while page := await ledger.read_execution(view.execution_id, after=after, limit=_PAGE):
        if any(event.subject != view.execution_id and event.type not in _ANNOUNCED for event in page):
            return 1
        after = page[-1].position
    return view.crashes + 1


def given_up(view: ExecutionView, crashes: int) -> StatusReport:
    """Return the report of an execution that is not tried again by itself."""
    message = (
        f"The process that worked on the execution died {crashes} times in a row without getting any further, so it is "
        "not tried again by itself (`executor.crashes`). The system's log may say what ended the process, such as too "
        "little memory; `silicon show` tells which step it was at. What was finished is kept, and `silicon resume` "
        "goes on from there once the cause is mended."
    )
    problem = Problem(code="CRASH_LOOP", message=message, facts={"crashes": crashes})
    return StatusReport(order_id=view.root_order_id, state=OrderState.FAILED, error=problem)
