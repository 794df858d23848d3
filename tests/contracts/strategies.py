"""Hypothesis strategies for every contract, read from its fields."""

from __future__ import annotations

import types
import typing
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Annotated, Any, Union

from annotated_types import Ge, Gt, Le, MaxLen, MinLen
from hypothesis import strategies as st
from pydantic import AwareDatetime, JsonValue
from pydantic.fields import FieldInfo
from ulid import ULID

from contracts import (
    BridgeReceipt,
    Contract,
    Delegation,
    Id,
    MetricDefinition,
    PythonFunction,
    RatioOf,
    WindowOf,
    WorkingHours,
)
from contracts.cards import Decision, DecisionCard, Option
from contracts.expectations import Expectation
from contracts.plan import Alternative, PlanDefinition, Step
from contracts.request import ExecutionRequest

_SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4)
)
JSON = _SCALARS | st.lists(_SCALARS, max_size=2) | st.dictionaries(st.text(max_size=3), _SCALARS, max_size=2)
MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
NAMES = st.from_regex(r"[a-z][a-z0-9]{0,5}(-[a-z0-9]{1,4})?", fullmatch=True)
HASHES = st.integers(0, 2**256 - 1).map(lambda number: f"{number:064x}")
ULIDS = st.integers(0, 2**128 - 1).map(lambda number: str(ULID.from_int(number)))
STEP_IDS = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)


_BY_PATTERN: dict[str, st.SearchStrategy[str]] = {
    r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$": NAMES,
    r"^[a-z][a-z0-9_]*$": STEP_IDS,
    r"^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)*$": st.sampled_from(
        ["python", "sales.query", "desk.waive_fees", "a-b.c_d.e"]
    ),
    r"^[0-9a-f]{64}$": HASHES,
    r"^[0-9a-f]{32}$": HASHES.map(lambda digest: digest[:32]),
    r"^[A-Za-z0-9_][A-Za-z0-9_. -]{0,99}$": st.sampled_from(["receipt.png", "a b.txt", "_"]),
    r"^[a-z]+/[a-z0-9.+-]{1,100}$": st.sampled_from(["image/png", "text/plain"]),
    r"^[a-z]{2}$": st.sampled_from(["en", "zh", "de"]),
    r"^[A-Z]{3}$": st.sampled_from(["USD", "EUR", "CNY"]),
    r"^[A-Z][A-Z0-9_]*$": st.sampled_from(["NETWORK_FAULT", "X", "E2"]),
    r"^1\.0$": st.just("1.0"),
    r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$": st.sampled_from(["step.finished", "order.accepted", "a.b.c"]),
}
"""Every pattern that a contract uses, with texts that fit it; a new pattern needs its line here."""


@cache
def instances(contract: type[Contract]) -> st.SearchStrategy[Any]:
    """Return instances of `contract`; optional fields are now left out, now filled."""
    if contract is Step:
        return _steps()
    if contract is Alternative:
        return _ways()
    if contract is WorkingHours:
        return st.just(WorkingHours(time_zone="Europe/Berlin", days=(1, 2), starts="08:00", ends="16:30"))
    given = _fields(contract)
    if contract is Delegation:
        return given.map(lambda fields: Delegation(**{**fields, **_BETWEEN_TWO, "ended_at": None}))
    if contract is Decision:
        chosen = st.one_of(st.just({"approve": False}), STEP_IDS.map(lambda id_: {"approve": True, "option": id_}))
        return st.tuples(given, chosen).map(lambda parts: Decision(**{**parts[0], "option": None, **parts[1]}))
    if contract is DecisionCard:
        options = st.lists(instances(Option), min_size=2, max_size=3, unique_by=lambda option: option.id)
        return st.tuples(given, options).map(lambda parts: DecisionCard(**{**parts[0], "options": parts[1]}))
    if contract is Expectation:
        return st.tuples(given, st.tuples(*[st.floats(-1e6, 1e6)] * 3).map(sorted), MOMENTS).map(_expectation)
    if contract is PlanDefinition:
        steps = st.lists(_steps(), min_size=1, max_size=3, unique_by=lambda step: step.id)
        return st.tuples(given, steps).map(_plan)
    if contract is ExecutionRequest:
        return given.map(lambda fields: ExecutionRequest(**{**fields, "plan": None}))
    if contract is MetricDefinition:
        return _metrics()
    if contract is BridgeReceipt:
        return given.map(lambda fields: BridgeReceipt(**{"output": {}, "message": "It failed.", **_said(fields)}))
    return given.map(lambda fields: contract(**fields))


def _expectation(parts: tuple[dict[str, Any], list[float], datetime]) -> Expectation:
    fields, (low, change, high), starts = parts
    moments = {"starts_at": starts, "ends_at": starts + timedelta(days=1)}
    return Expectation(**{**fields, "low": low, "change": change, "high": high, **moments})


_BETWEEN_TWO = {
    "giver": "ann", "taker": "bob",
    "starts_at": datetime(2026, 1, 1, tzinfo=UTC), "ends_at": datetime(2026, 2, 1, tzinfo=UTC),
}  # fmt: skip


def _said(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in ("output", "message") or value}


def _plan(parts: tuple[dict[str, Any], list[Step]]) -> PlanDefinition:
    fields, steps = parts
    taken = {step.id for step in steps}
    parameters = {name: each for name, each in fields.get("parameters", {}).items() if name not in taken}
    return PlanDefinition(**{**fields, "steps": steps, "parameters": parameters})


def _ways() -> st.SearchStrategy[Any]:
    """Return other ways of a step, some with one behind them."""
    given = _fields(Alternative, without=("skip", "otherwise"))
    last = st.one_of(st.none(), st.just(Alternative(skip=True)), given.map(lambda fields: Alternative(**fields)))
    return st.tuples(given, last).map(lambda parts: Alternative(**parts[0], otherwise=parts[1]))


def _metrics() -> st.SearchStrategy[Any]:
    """Return metrics of every formula."""
    formula = ("source", "over", "time", "value", "python", "takes", "ratio", "window")
    read = {"source": "sales", "over": "sales", "time": "day"}
    said = st.one_of(
        st.just({**read, "value": "sum(amount)"}),
        st.tuples(instances(PythonFunction)).map(lambda of: {**read, "python": of[0], "takes": {"amounts": "amount"}}),
        instances(RatioOf).map(lambda of: {"ratio": of}),
        instances(WindowOf).map(lambda of: {"window": of}),
    )
    given = _fields(MetricDefinition, without=formula)
    return st.tuples(given, said).map(lambda parts: MetricDefinition(**parts[0], **parts[1]))


def _steps() -> st.SearchStrategy[Any]:
    what = ("use", "skill", "order", "plan", "ask", "react", "parallel", "for_each", "until")
    given = _fields(Step, without=what)
    said = st.sampled_from(
        [
            {"use": "sales.query"},
            {"skill": "explain"},
            {"order": "{{ item }}"},
            {"plan": "{{ item }}"},
            {"react": "Think."},
        ]
    )
    return st.tuples(given, said).map(lambda parts: Step(**parts[0], **parts[1]))


def _fields(contract: type[Contract], *, without: tuple[str, ...] = ()) -> st.SearchStrategy[dict[str, Any]]:
    skipped = {
        *without,
        "schema_version",
        "options" if contract is DecisionCard else "",
        "plan" if contract is ExecutionRequest else "",
    }
    if contract is PlanDefinition:
        skipped.add("steps")
    required: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    for name, info in contract.model_fields.items():
        if name not in skipped:
            (required if info.is_required() else optional)[name] = _of_field(info)
    few = st.lists(st.sampled_from(sorted(optional)), max_size=4, unique=True) if optional else st.just([])
    return few.flatmap(lambda names: st.fixed_dictionaries(required | {name: optional[name] for name in names}))


def _of_field(info: FieldInfo) -> st.SearchStrategy[Any]:
    return _of(info.annotation, list(info.metadata))


def _of(annotation: Any, limits: list[Any]) -> st.SearchStrategy[Any]:
    if annotation is JsonValue or annotation is Any:
        return JSON
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if isinstance(annotation, typing.TypeAliasType if hasattr(typing, "TypeAliasType") else ()):
        return JSON
    if origin is Annotated:
        return _of(arguments[0], [*arguments[1:], *limits])
    if origin in (Union, types.UnionType):
        return st.one_of([_of(each, limits) for each in arguments])
    if origin is typing.Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        few = _limit(limits, MinLen, 0)
        return st.lists(_of(arguments[0], []), min_size=few, max_size=few + 2).map(tuple)
    if origin is dict:
        return st.dictionaries(_of(arguments[0], []), _of(arguments[1], []), max_size=2)
    if annotation is type(None):
        return st.none()
    if annotation is AwareDatetime or annotation is datetime:
        return MOMENTS
    if isinstance(annotation, type):
        return _of_class(annotation, limits)
    return JSON


def _of_class(kind: type, limits: list[Any]) -> st.SearchStrategy[Any]:
    if issubclass(kind, Contract):
        return instances(kind)
    if issubclass(kind, Id):
        return ULIDS.map(lambda ulid: kind(f"{kind.KIND}/{ulid}"))
    if issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    if kind is bool:
        return st.booleans()
    if kind is int:
        return st.integers(_limit(limits, Ge, 0), _limit(limits, Le, 10_000))
    if kind is float:
        low = _limit(limits, Ge, None)
        low = _limit(limits, Gt, 0.0) if low is None else low
        return st.floats(low, _limit(limits, Le, 1e6), exclude_min=any(isinstance(each, Gt) for each in limits))
    if kind is Decimal:
        return st.decimals(0, 10**6, places=2)
    if kind is str:
        return _texts(limits)
    return JSON


def _texts(limits: list[Any]) -> st.SearchStrategy[str]:
    pattern = next((p for each in limits if (p := getattr(each, "pattern", None))), None)
    if pattern is not None:
        return _BY_PATTERN[pattern]
    few = _limit(limits, MinLen, 0)
    return st.text(min_size=few, max_size=min(few + 8, _limit(limits, MaxLen, 10**6)))


def _limit(limits: list[Any], kind: type, otherwise: Any) -> Any:
    names = {Ge: "ge", Gt: "gt", Le: "le", MinLen: "min_length", MaxLen: "max_length"}
    for each in limits:
        value = getattr(each, names[kind], None)
        if value is not None:
            return value
    return otherwise
