"""What the stream of an execution says about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from contracts import (
    Budget,
    CardId,
    Event,
    ExecutionId,
    ExecutionRequest,
    OrderId,
    OrderState,
    QuestionId,
    StatusReport,
    asked_id,
)
from runtime.errors import BusinessRefusal, NotFound
from runtime.executor import states
from runtime.executor.states import ExecutionState, state_after


class ExecutionImported(BusinessRefusal):
    """The execution is a record of what happened elsewhere; it does not go on here."""

    code = "EXECUTION_IMPORTED"


@dataclass(frozen=True, slots=True)
class ExecutionView:
    """One execution as its stream tells it."""

    execution_id: ExecutionId
    request: ExecutionRequest
    """With the budget that holds now, where it got another one than it was asked for with."""
    organisation_sha256: str
    """Address of the organisation as it was pinned at the start."""
    home: Path
    """The organisation's folder on the machine that asked."""
    trace_id: str
    models: Mapping[str, str]
    """Role → the model that has it from the start to the end, whatever is set meanwhile."""
    requested_at: datetime
    updated_at: datetime
    version: int
    """Events of its stream that are folded in here."""
    state: ExecutionState = ExecutionState.REQUESTED
    started_at: datetime | None = None
    finished_at: datetime | None = None
    holder: str | None = None
    """Who works on it, or did last."""
    waiting_for: tuple[CardId | QuestionId, ...] = ()
    cancel_requested_by: str | None = None
    cancel_requested_at: int = 0
    """Position of the request."""
    cancelled_branches: Mapping[str, int] = field(default_factory=dict)
    """Name of a branch that was asked to stop → position of the request."""
    reopened: bool = False
    """Whether it goes on after it had ended with a failure or at a limit; until it waits or ends again."""
    last_begun: int = 0
    """Position of the event with which somebody last began to work on it."""
    crashes: int = 0
    """Stretches in a row before this one that left nothing but a dead process."""
    report: StatusReport | None = None
    """How it ended; absent until then."""
    imported_at: datetime | None = None
    """When it came in as a file; absent for an execution of this ledger."""
    stood: ExecutionState | None = None
    """Where it stood when it was imported."""

    @property
    def cancel_waits(self) -> bool:
        """Whether it was asked to stop since somebody last began to work on it."""
        return self.cancel_requested_at > self.last_begun

    @property
    def branch_waits(self) -> bool:
        """Whether a branch was asked to stop since somebody last began to work on the execution."""
        return any(position > self.last_begun for position in self.cancelled_branches.values())

    @property
    def root_order_id(self) -> OrderId:
        """The order of the head employee: it bears the execution's own ULID."""
        return root_order_id(self.execution_id)


def root_order_id(execution_id: ExecutionId) -> OrderId:
    """Return the id of an execution's root order, the same whoever asks and however often it was resumed."""
    return OrderId(f"order/{execution_id.ulid}")


def fold_execution(execution_id: ExecutionId, events: Sequence[Event]) -> ExecutionView:
    """Return the execution that its events tell of; raise NotFound when there are none, or they were erased."""
    if not events or events[0].data is None:
        raise NotFound(
            f"There is no {execution_id} here. `silicon runs` lists those that there are.", execution_id=execution_id
        )
    view = _begin(execution_id, events[0])
    for event in events[1:]:
        view = apply(view, event)
    return view


def apply(view: ExecutionView, event: Event) -> ExecutionView:
    """Return the execution after one more event."""
    data = event.data or {}
    report = StatusReport.read(_object(data.get("report"))) if event.type == states.FINISHED else None
    again = report is not None and report.state in (OrderState.FAILED, OrderState.PARTIAL)
    before = view.state
    view = replace(
        view,
        state=state_after(view.state, states.STOPPED if again else event.type),
        version=event.stream_version,
        updated_at=event.time,
    )
    match event.type:
        case states.STARTED:
            return replace(view, started_at=event.time, holder=str(data.get("holder")), last_begun=event.position)
        case states.RESUMED:
            reopened = view.reopened or view.report is not None
            view = replace(view, reopened=reopened, holder=str(data.get("holder")), last_begun=event.position)
            crashes = int(str(data.get("crashes", 0)))
            return replace(view, waiting_for=(), report=None, finished_at=None, crashes=crashes)
        case states.REOPENED:
            view = _with_budget(view, data.get("budget"))
            return replace(view, reopened=True, report=None, finished_at=None, crashes=0)
        case states.WAITING:
            return replace(view, reopened=False, waiting_for=_ids(data.get("for")), crashes=0)
        case states.CANCEL_REQUESTED:
            return replace(view, cancel_requested_by=str(data.get("by")), cancel_requested_at=event.position)
        case states.BRANCH_CANCEL_REQUESTED:
            branches = {str(data.get("branch")): event.position}
            return replace(view, cancelled_branches={**branches, **view.cancelled_branches})
        case states.FINISHED:
            return replace(view, reopened=False, report=report, finished_at=event.time, waiting_for=())
        case states.IMPORTED:
            return replace(view, imported_at=event.time, stood=view.stood or before)
    return view


def refuse_imported(view: ExecutionView) -> None:
    """Return when the execution may go on in this ledger; raise ExecutionImported for one that happened elsewhere."""
    if view.state is ExecutionState.IMPORTED:
        raise ExecutionImported(
            f"{view.execution_id} was imported from a file. It happened elsewhere: it can be looked at here with "
            "`silicon show`, and is never run, resumed or cancelled here. Run the goal anew instead.",
            execution_id=view.execution_id,
        )


def _begin(execution_id: ExecutionId, event: Event) -> ExecutionView:
    state_after(ExecutionState.NEW, event.type)
    data = event.data or {}
    return ExecutionView(
        execution_id=execution_id,
        request=ExecutionRequest.read(_object(data.get("request"))),
        organisation_sha256=str(data.get("organisation_sha256")),
        home=Path(str(data.get("home"))),
        trace_id=event.trace_id or execution_id.ulid,
        models={role: str(name) for role, name in _object(data.get("models")).items()},
        requested_at=event.time,
        updated_at=event.time,
        version=event.stream_version,
    )


def _with_budget(view: ExecutionView, given: object) -> ExecutionView:
    """Return the execution with the budget that it got when it was reopened, if it got one."""
    if given is None:
        return view
    terms = view.request.governance.model_copy(update={"budget": Budget.read(_object(given))})
    return replace(view, request=view.request.model_copy(update={"governance": terms}))


def _ids(value: object) -> tuple[CardId | QuestionId, ...]:
    texts = [str(item) for item in value] if isinstance(value, list) else []
    return tuple(asked_id(text) for text in texts)


def _object(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}
