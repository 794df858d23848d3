"""What an execution went on without stands in its answer over HTTP."""

from __future__ import annotations

from console.api.shown import Execution
from console.notes import BranchFailure, NotOffered
from console.views import ExecutionRow
from contracts import OrderState
from tests.fakes.console_values import EXECUTION, NOW, outcome


def test_failed_branches_and_options_that_were_not_offered_are_shown() -> None:
    row = ExecutionRow(EXECUTION, "desk", "Why?", None, OrderState.DONE, "planner", NOW, 1.0)
    ended = outcome(
        state=OrderState.DONE,
        failed_branches=(BranchFailure("look/total", "SQL_ERROR", "No table."),),
        not_offered=(NotOffered("half", "forbidden", "till.discount", "limit", "At most 30."),),
    )

    shown = Execution.with_outcome(row, ended).model_dump(mode="json")

    assert shown["failed_branches"] == [{"branch": "look/total", "code": "SQL_ERROR", "message": "No table."}]
    assert shown["not_offered"] == [
        {"option": "half", "reason": "forbidden", "use": "till.discount", "rule": "limit", "why": "At most 30."}
    ]
