"""Which event of an order settles what was drawn from shared budgets for which of its calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from runtime.engine.view import OrderView, Unit
from runtime.errors import surely_not

ANSWER = "answer"
"""Under this name a unit holds what the answer takes that it waits for."""
CONDENSED = ":condensed:"
"""Stands in the name of what is held for a request beside the conversation."""

_Data = Mapping[str, Any]
_Settles = Callable[[_Data, str], bool]


def settled_by(view: OrderView, kind: str, data: _Data | None) -> Iterator[tuple[Unit, str]]:
    """Yield each unit and the name of what it has drawn that the event settles."""
    if not view.draws or data is None:
        return
    if kind == "order.finished":
        yield from ((unit, what) for unit in view.units.values() for what in unit.drawn or ())
        return
    settles = _SETTLES.get(kind)
    unit = view.units.get((data["step"], data.get("index"))) if settles is not None else None
    if settles is None or unit is None:
        return
    yield from ((unit, what) for what in unit.drawn or () if settles(data, what))


def forget_settled(view: OrderView, kind: str, data: _Data) -> None:
    """Let the view know nothing more of what the event settles."""
    for unit, what in list(settled_by(view, kind, data)):
        assert unit.drawn is not None
        del unit.drawn[what]


def _of_call(data: _Data, what: str) -> bool:
    over = "problem" not in data or data.get("final") or surely_not(data["problem"].get("facts") or {})
    return bool(over) and what in _names(data["call"], what)


def _names(call: str, what: str) -> Iterable[str]:
    return (call, what if what.startswith(f"{call}{CONDENSED}") else "")


def _of_step(data: _Data, what: str) -> bool:
    if "problem" not in data or data.get("final"):
        return True
    known = "result" in data or "usage" in data or surely_not(data["problem"].get("facts") or {})
    return not what and known


_SETTLES: Mapping[str, _Settles] = {
    "model.answered": lambda data, what: what == ANSWER,
    "model.unreachable": lambda data, what: what == ANSWER,
    "model.stopped": lambda data, what: what == ANSWER,
    "context.condensed": lambda data, what: what.startswith("input ") and CONDENSED in what,
    "context.compacted": lambda data, what: what.startswith("answer:") and CONDENSED in what,
    "call.finished": _of_call,
    "call.failed": _of_call,
    "step.finished": _of_step,
    "step.failed": _of_step,
    "step.skipped": lambda data, what: True,
}
