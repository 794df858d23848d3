"""What is recorded of work that was cancelled."""

from __future__ import annotations

from contracts import ErrorCategory, Json, Problem, Step
from runtime.engine.context import Run, clean_data
from runtime.ledger.port import NewEvent


def cancelled(message: str, **facts: Json) -> Problem:
    """Return the problem of what was cancelled."""
    return Problem(code="CANCELLED", category=ErrorCategory.PERMISSION, message=message, facts=facts)


def not_taken_back(run: Run, step: Step, index: int | None, key: str) -> NewEvent:
    """Return the event of an effect that happened and is not taken back, because its result is lost."""
    assert step.compensate is not None
    message = (
        f"What step {step.id} did stands. {step.compensate.use} cannot take it back, because that needs what the step "
        f"gave, and its answer was lost. Take it back by hand."
    )
    problem = Problem(code="RESULT_LOST", category=ErrorCategory.BUSINESS, message=message, facts={"key": key})
    data = {"step": step.id, "index": index, "order_id": run.journal.stream, "key": f"{key}:undo"}
    called = {"use": step.compensate.use, "ok": False, "problem": problem.to_json()}
    return NewEvent("compensation.finished", clean_data({**data, **called}))
