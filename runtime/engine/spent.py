"""What one event of an order says was spent by the order itself, without what orders below it spent.

Events of an order count what those below it spent as well, when they report. Their own events tell it too, so that what
is summed up over orders takes each order's own: the sum over an execution is then what its root order reports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from contracts import Usage
from runtime.engine.result import spent_in
from runtime.engine.view import NOTHING

_Data = Mapping[str, Any]

UNPRICED = "unpriced"
"""Field of an event: somebody was paid, or may have been, and nobody knows how much."""
FREE = "free"
"""Field of an event about a model's answer: its tokens are known to cost nothing."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What one event says was spent."""

    step: str
    usage: Usage
    use: str = ""
    """The capability that was called."""
    role: str = ""
    """Which model it was, by its role in the settings."""
    unpriced: bool = False
    """Whether nobody knows how much money it cost."""


def own_spent(kind: str, data: _Data | None) -> Spent | None:
    """Return what an event of this type says the order itself spent; None where it says nothing."""
    read = _READ.get(kind)
    if read is None or data is None:
        return None
    found = read(data)
    return found if found is not None and (found.unpriced or found.usage != NOTHING) else None


def _answered(data: _Data) -> Spent:
    usage = Usage.read(data.get("usage", {}))
    tokens = usage.tokens_in + usage.tokens_out > 0
    unpriced = tokens and not usage.money and not data.get(FREE)
    return Spent(data["step"], usage, role=data.get("role", "reason"), unpriced=unpriced)


def _condensed(data: _Data) -> Spent:
    found = _answered(data)
    return Spent(found.step, found.usage, role=data.get("role", "summarise"), unpriced=found.unpriced)


def _step_finished(data: _Data) -> Spent | None:
    if "order_id" in data:
        return None
    return Spent(data["step"], spent_in(data), data.get("use", ""), unpriced=bool(data.get(UNPRICED)))


def _step_failed(data: _Data) -> Spent | None:
    usage, result = NOTHING, data.get("result")
    if result is not None and "order_id" not in result:
        usage = spent_in(result)
    if "usage" in data and not _is_of_order_below(data):
        usage = usage + Usage.read(data["usage"])
    use = (result or {}).get("use") or ""
    return Spent(data["step"], usage, use, unpriced=bool((result or {}).get(UNPRICED)))


def _call(data: _Data) -> Spent | None:
    if "usage" not in data or "order_id" in data or _is_of_order_below(data):
        return None
    usage = Usage.read(data["usage"])
    asked = usage.tokens_in + usage.tokens_out > 0  # by a tool of the engine, which lets a model condense
    unpriced = bool(data.get(UNPRICED)) or (asked and not usage.money and not data.get(FREE))
    return Spent(data["step"], usage, data.get("use") or "", "summarise" if asked else "", unpriced=unpriced)


def _withdrawn(data: _Data) -> Spent | None:
    return Spent("", Usage.read(data["lost"])) if "lost" in data else None


def _is_of_order_below(data: _Data) -> bool:
    return "order_id" in (data["problem"].get("facts") or {}) if "problem" in data else False


_READ: Mapping[str, Callable[[_Data], Spent | None]] = {
    "model.answered": _answered,
    "model.unreachable": _answered,
    "model.stopped": _answered,
    "context.condensed": _condensed,
    "context.compacted": _condensed,
    "step.finished": _step_finished,
    "step.failed": _step_failed,
    "call.finished": _call,
    "call.failed": _call,
    "order.withdrawn": _withdrawn,
}
SPENDING = frozenset(_READ)
"""Types of the events that tell it."""
