"""Gaps: what fails, or is handed to people, in the same way again and again, so that a skill seems to be missing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from contracts import ErrorCategory, Event, ExecutionId, Name, OrderId
from governance.approvals.access_cards import DONE
from runtime.canonical import sha256
from runtime.settings.evaluation import EvaluationSettings

TYPES = ("order.accepted", "order.finished", "question.asked", "card.raised", "card.decided")
"""Events that gaps are found in."""

_SKILL_TELLS = (ErrorCategory.BUSINESS, ErrorCategory.UNKNOWN, ErrorCategory.INVALID_ARGUMENTS)
"""Failures that another skill could spare. A connection that is down, or a missing right, is no missing skill."""
_PASSED_ON = ("ORDER_FAILED", "ORDER_CANCELLED", "EXECUTION_CANCELLED")
"""What an order says for one below it, or for whoever cancelled it: counted where it began, or not at all."""
_VARIES = re.compile(r"\d[\d\-:T.,/]*")
"""Dates and numbers: two goals that differ in them alone are of a kind."""


class GapKind(StrEnum):
    """How it shows."""

    FAILURE = "failure"
    """Orders of one skill failed with the same error."""
    HAND_OVER = "hand_over"
    """For goals of one kind a person had to say which skill reaches them."""
    BY_HAND = "by_hand"
    """A call that was refused to us was made by a person instead, and so were others of its capability."""


@dataclass(frozen=True, slots=True)
class GapCase:
    """One execution that shows it."""

    execution: ExecutionId
    order: OrderId
    step: str
    at: datetime
    goal: str
    what: str
    """The error's message, or the question."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that the organisation cannot do well."""

    kind: GapKind
    about: str
    """`SKILL CODE`, or the goal with its dates and numbers left out."""
    skill: Name | None
    employee: Name
    """Where it happened last."""
    cases: tuple[GapCase, ...]
    """Oldest first."""

    @property
    def key(self) -> str:
        """What it is known by: a gap is proposed once, however many cases follow."""
        return sha256([self.kind.value, self.about])[:26]


def find_gaps(events: Sequence[Event], settings: EvaluationSettings, now: datetime) -> list[Gap]:
    """Return what failed or was handed over in enough executions lately, the one with most cases first."""
    since = now - timedelta(days=settings.gap_days)
    orders: dict[str, Mapping[str, object]] = {}  # and cards of calls, under the names of their streams
    found: dict[tuple[GapKind, str], dict[ExecutionId, tuple[Mapping[str, object], GapCase]]] = defaultdict(dict)
    for event in events:
        if event.data is None:
            continue
        if event.type == "order.accepted":
            orders[event.subject] = _object(event.data.get("order"))
        if event.type == "card.raised" and _object(event.data.get("card")).get("kind") == "access":
            orders[event.subject] = _object(event.data.get("card"))
        read = _READ.get(event.type)
        case = read(event, orders) if read is not None and event.time >= since else None
        if case is not None:
            kind, about, order, one = case
            found[kind, about][one.execution] = (order, one)
    gaps = [
        _gap(kind, about, list(cases.values()))
        for (kind, about), cases in found.items()
        if len(cases) >= settings.gap_cases
    ]
    return sorted(gaps, key=lambda gap: (-len(gap.cases), gap.about))


_Case = tuple[GapKind, str, Mapping[str, object], GapCase]


def _failure(event: Event, orders: Mapping[str, Mapping[str, object]]) -> _Case | None:
    report = _object((event.data or {}).get("report"))
    error, order = _object(report.get("error")), orders.get(event.subject)
    code = str(error.get("code", ""))
    if report.get("state") != "failed" or order is None or code in _PASSED_ON:
        return None
    if str(error.get("category", ErrorCategory.UNKNOWN.value)) not in _SKILL_TELLS:
        return None
    skill = str(order["skill"]) if order.get("skill") else None
    step = str(_object(error.get("facts")).get("step") or "")
    about = " ".join(part for part in (skill or str(order.get("employee")), code) if part)
    return GapKind.FAILURE, about, order, _case(event, order, event.subject, step, str(error.get("message", "")))


def _hand_over(event: Event, orders: Mapping[str, Mapping[str, object]]) -> _Case | None:
    """Return the case of a question that asks which skill reaches a goal; another question hands nothing over."""
    question = _object((event.data or {}).get("question"))
    order = orders.get(str(question.get("order_id")))
    if order is None or order.get("skill") or "who" in question:
        return None
    goal = str(order.get("objective", ""))
    about = _VARIES.sub("…", goal).strip().casefold()
    text = question.get("text")
    what = str(text if isinstance(text, str) else _object(text).get("en", ""))
    case = _case(event, order, str(question["order_id"]), str(question.get("step", "")), what)
    return GapKind.HAND_OVER, about, order, case


def _by_hand(event: Event, orders: Mapping[str, Mapping[str, object]]) -> _Case | None:
    """Return the case of a card about a refused call that somebody made by hand."""
    card, decision = orders.get(event.subject), _object((event.data or {}).get("decision"))
    if card is None or decision.get("option") != DONE or decision.get("approve") is not True:
        return None
    order = orders.get(str(card["order_id"]))
    options = card.get("options")
    acts = [_object(each).get("actions") for each in options] if isinstance(options, list) else []
    uses = [str(_object(action).get("use")) for actions in acts if isinstance(actions, list) for action in actions]
    if order is None or not uses:
        return None
    question = card.get("question")
    what = str(question if isinstance(question, str) else _object(question).get("en", ""))
    case = _case(event, order, str(card["order_id"]), str(card.get("step", "")), what)
    return GapKind.BY_HAND, uses[0], order, case


_READ: Mapping[str, Callable[[Event, Mapping[str, Mapping[str, object]]], _Case | None]] = {
    "order.finished": _failure,
    "question.asked": _hand_over,
    "card.decided": _by_hand,
}


def _case(event: Event, order: Mapping[str, object], order_id: str, step: str, what: str) -> GapCase:
    execution = ExecutionId(str(order["execution_id"]))
    return GapCase(execution, OrderId(order_id), step, event.time, str(order.get("objective", "")), what)


def _gap(kind: GapKind, about: str, cases: Sequence[tuple[Mapping[str, object], GapCase]]) -> Gap:
    last, _ = cases[-1]
    skill = str(last["skill"]) if last.get("skill") else None
    return Gap(kind, about, skill, str(last["employee"]), tuple(sorted((c for _, c in cases), key=lambda c: c.at)))


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
