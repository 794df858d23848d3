"""The life of an execution: one table, and nothing else decides what may follow what."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from runtime.errors import SiliconError


class ExecutionState(StrEnum):
    """Where an execution stands."""

    NEW = "new"
    """Nothing is known of it."""
    REQUESTED = "requested"
    """Asked for, never begun."""
    RUNNING = "running"
    """Begun; a process with a live lease works on it, or it is orphaned."""
    WAITING = "waiting"
    """Nothing can go on until a person answers; nobody works on it."""
    STOPPED = "stopped"
    """Ended with a failure or at a limit; may be taken up again once the cause is mended."""
    FINISHED = "finished"
    """Over; its report says how."""
    IMPORTED = "imported"
    """Happened elsewhere and came in as a file: it can be looked at, and never goes on here, however it stood."""


REQUESTED = "execution.requested"
STARTED = "execution.started"
RESUMED = "execution.resumed"
REOPENED = "execution.reopened"
WAITING = "execution.waiting"
CANCEL_REQUESTED = "execution.cancel_requested"
BRANCH_CANCEL_REQUESTED = "branch.cancel_requested"
"""One branch of a parallel group is to stop; the rest goes on."""
FINISHED = "execution.finished"
IMPORTED = "execution.imported"
STOPPED = "execution.finished, failed or at a limit"
"""The same event, when its report leaves something to be taken up again."""

UNFINISHED = (REQUESTED, STARTED, RESUMED, REOPENED, WAITING, CANCEL_REQUESTED, BRANCH_CANCEL_REQUESTED)

_S = ExecutionState
LIFE: Mapping[tuple[ExecutionState, str], ExecutionState] = {
    (_S.NEW, REQUESTED): _S.REQUESTED,
    (_S.REQUESTED, STARTED): _S.RUNNING,
    (_S.REQUESTED, CANCEL_REQUESTED): _S.REQUESTED,
    **{(state, BRANCH_CANCEL_REQUESTED): state for state in (_S.REQUESTED, _S.RUNNING, _S.WAITING)},
    (_S.REQUESTED, FINISHED): _S.FINISHED,
    (_S.RUNNING, RESUMED): _S.RUNNING,
    (_S.RUNNING, WAITING): _S.WAITING,
    (_S.RUNNING, CANCEL_REQUESTED): _S.RUNNING,
    (_S.RUNNING, FINISHED): _S.FINISHED,
    (_S.RUNNING, STOPPED): _S.STOPPED,
    (_S.WAITING, RESUMED): _S.RUNNING,
    (_S.WAITING, CANCEL_REQUESTED): _S.WAITING,
    (_S.WAITING, FINISHED): _S.FINISHED,
    (_S.REQUESTED, STOPPED): _S.STOPPED,
    (_S.WAITING, STOPPED): _S.STOPPED,
    (_S.STOPPED, RESUMED): _S.RUNNING,
    (_S.STOPPED, REOPENED): _S.RUNNING,
    **{(state, IMPORTED): _S.IMPORTED for state in _S if state is not _S.NEW},
}


class IllegalTransition(SiliconError):
    """An event does not fit where the execution stands; nothing changed."""

    code = "ILLEGAL_TRANSITION"


def state_after(state: ExecutionState, event_type: str) -> ExecutionState:
    """Return where an event leads; raise IllegalTransition when the table has no such row."""
    try:
        return LIFE[state, event_type]
    except KeyError:
        raise IllegalTransition(
            f"An execution that is {state} cannot have {event_type} next.", state=state, event=event_type
        ) from None
