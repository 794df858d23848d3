"""What one event of the ledger adds to the counts. Nothing is written down for it that events do not tell anyway."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from contracts import ErrorCategory, Event
from runtime.corrections.kinds import Guard, Occasion, Series
from runtime.engine.plausible import Implausible
from runtime.engine.react.asking import IterationLimit
from runtime.engine.react.control import CONTROL
from runtime.engine.react.repeated import CallRepeated
from runtime.engine.react.tools import UnknownTool
from runtime.model.answers.recovery import AS_TEXT

_What = tuple[str, str]
"""A guard or an occasion, and the tool."""


def counted(event: Event, model: str) -> Iterator[Series]:
    """Yield what an event counts, once for each time; nothing of one that was erased or that concerns no model."""
    count = _COUNTS.get(event.type)
    if count is not None and event.data is not None:
        for what, tool in count(event.data):
            yield Series(str(what), event.organisation, model, tool)


def _answered(data: Mapping[str, Any]) -> Iterator[_What]:
    yield Occasion.ANSWERS, ""
    yield Occasion.REQUESTS, ""
    if data.get("answer") == 1:
        yield Occasion.STEPS, ""
    yield from ((Occasion.CALLS, CONTROL) for call in data.get("calls", ()) if call["name"] == CONTROL)
    facts = data.get("facts") or {}
    if AS_TEXT in (facts.get("faults") or ()):
        yield Guard.CALLS_AS_TEXT, ""
    if facts.get("usage_estimated"):
        yield Guard.USAGE_ESTIMATED, ""
    dropped = dict.fromkeys(str(each).partition(":")[0] for each in facts.get("dropped") or ())
    yield from ((Guard.TOOL_DROPPED, tool) for tool in dropped)
    if dropped:
        yield Occasion.ANSWERS_LACKING, ""


def _unreachable(data: Mapping[str, Any]) -> Iterator[_What]:
    yield Guard.UNANSWERED, ""
    yield Occasion.REQUESTS, ""


def _refused(data: Mapping[str, Any]) -> Iterator[_What]:
    odd = data["problem"]["code"] == Implausible.code
    yield Guard.OUTPUT_SUSPICIOUS if odd else Guard.ANSWER_REFUSED, ""


def _step_failed(data: Mapping[str, Any]) -> Iterator[_What]:
    """Yield the last refusal, which ends the step instead of going back, and the limit of answers."""
    problem = data["problem"]
    if _of_order_below(problem):
        return
    if "refused_answer" in (problem.get("facts") or {}):
        yield Guard.ANSWER_REFUSED, ""
    if problem["code"] == IterationLimit.code:
        yield Guard.ITERATION_LIMIT, ""


def _call_finished(data: Mapping[str, Any]) -> Iterator[_What]:
    tool = data.get("use")
    if not tool:  # of step_control, which its answer counts
        return
    yield Occasion.CALLS, tool
    odd = bool(data.get("suspicious"))
    if odd or data.get("judged"):
        yield Occasion.JUDGED, tool
    if odd:
        yield Guard.RESULT_SUSPICIOUS, tool


def _call_shared(data: Mapping[str, Any]) -> Iterator[_What]:
    if data.get("use"):
        yield Occasion.CALLS, data["use"]


def _call_failed(data: Mapping[str, Any]) -> Iterator[_What]:
    problem = data["problem"]
    tool = _failed_tool(data)
    if not data.get("final", True):
        yield Guard.CALL_RETRIED, tool
        return
    if tool != CONTROL:
        yield Occasion.CALLS, tool
    if _of_order_below(problem):
        return
    if problem["code"] == CallRepeated.code:
        yield Guard.CALL_REPEATED, tool
    elif problem["code"] == UnknownTool.code:
        yield Guard.UNKNOWN_TOOL, tool
    elif problem["category"] == ErrorCategory.INVALID_ARGUMENTS:
        yield Guard.ARGUMENTS_INVALID, tool


def _failed_tool(data: Mapping[str, Any]) -> str:
    """Return the tool of a call that failed: that of one whose arguments could not be read stands in the problem."""
    if data.get("use"):
        return str(data["use"])
    if data["problem"]["code"] == UnknownTool.code:
        return ""  # under no name: models make them up
    return str((data["problem"].get("facts") or {}).get("use") or CONTROL)


def _of_order_below(problem: Mapping[str, Any]) -> bool:
    """Whether it is why an order below was not done: what was corrected there, its own events count."""
    return "order_id" in (problem.get("facts") or {})


_COUNTS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[_What]]] = {
    "model.answered": _answered,
    "model.unreachable": _unreachable,
    "answer.refused": _refused,
    "step.failed": _step_failed,
    "call.finished": _call_finished,
    "call.shared": _call_shared,
    "call.failed": _call_failed,
}
TYPES = frozenset(_COUNTS)
"""The events that count something."""
