"""What the stream of an execution says about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from contracts import (
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
from runtime.errors import NotFound
from runtime.executor import states
from runtime.executor.states import ExecutionState, state_after


@dataclass(frozen=True, slots=True)
class ExecutionView:
    """One execution as its stream tells it."""

    execution_id: ExecutionId
    request: ExecutionRequest
    organisation_sha256: str
    """Address of the organisation as it was pinned at the start."""
    home: Path
    """The organisation's folder on the machine that asked."""
    trace_id: str
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
    report: StatusReport | None = None
    """How it ended; absent until then."""

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
    view = replace(
        view,
        state=state_after(view.state, states.STOPPED if again else event.type),
        version=event.stream_version,
        updated_at=event.time,
    )
    match event.type:
        case states.STARTED:
            return replace(view, started_at=event.time, holder=str(data.get("holder")))
        case states.RESUMED:
            return replace(view, holder=str(data.get("holder")), waiting_for=(), report=None, finished_at=None)
        case states.WAITING:
            return replace(view, waiting_for=_ids(data.get("for")))
        case states.CANCEL_REQUESTED:
            return replace(view, cancel_requested_by=str(data.get("by")))
        case states.FINISHED:
            return replace(view, report=report, finished_at=event.time, waiting_for=())
    return view


def _begin(execution_id: ExecutionId, event: Event) -> ExecutionView:
    state_after(ExecutionState.NEW, event.type)
    data = event.data or {}
    return ExecutionView(
        execution_id=execution_id,
        request=ExecutionRequest.read(_object(data.get("request"))),
        organisation_sha256=str(data.get("organisation_sha256")),
        home=Path(str(data.get("home"))),
        trace_id=event.trace_id or execution_id.ulid,
        requested_at=event.time,
        updated_at=event.time,
        version=event.stream_version,
    )


def _ids(value: object) -> tuple[CardId | QuestionId, ...]:
    texts = [str(item) for item in value] if isinstance(value, list) else []
    return tuple(asked_id(text) for text in texts)


def _object(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}
