"""How a key of the blackboard takes in what several write: one rule for each key."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from contracts import Json, ValueType
from runtime.canonical import to_bytes
from runtime.errors import CapabilityFailed, InvalidArguments
from runtime.expressions import ExpressionFault, compile_expression
from runtime.schema import Shape, json_schema_of

REPLACE = "replace"
KEY = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_NAME = re.compile(r"[a-z][a-z0-9-]*")

Merge = Callable[[Json, Json], Json]
"""Takes what stands there, None for nothing, and what was written; returns what stands there then. It must be pure."""


@dataclass(frozen=True, slots=True)
class KeyRule:
    """What an organisation declares about one key."""

    merge: str = REPLACE
    """`replace`, `append`, `max`, `union`, a registered name, or an expression over `old` and `new`."""
    type: ValueType = ValueType.ANY
    """What may be written."""

    def require(self, key: str, value: Json) -> None:
        """Raise InvalidArguments for a value that the key does not take."""
        if self.type is ValueType.ANY:
            return
        fault = _shape(self.type).fault_of({"value": value})
        if fault is not None:
            raise InvalidArguments(
                f"`{key}` on the blackboard takes values of the type {self.type.value}: {fault}", key=key
            )


class UnknownRule(ValueError):
    """There is no such rule."""


def register_rule(name: str, merge: Merge) -> None:
    """Let organisations name a rule of your own; call it before any organisation is read, in every process."""
    if not _NAME.fullmatch(name) or name in _BUILTIN:
        raise ValueError(f"{name!r} cannot be the name of a rule: a-z, digits and `-`, and none that there is already.")
    _registered[name] = merge


def rule_named(rule: str) -> Merge:
    """Return what merges by a rule.

    Raises:
        UnknownRule: there is none of that name, or the expression cannot be read.
    """
    found = _BUILTIN.get(rule) or _registered.get(rule)
    if found is not None:
        return found
    if _NAME.fullmatch(rule):
        names = sorted([*_BUILTIN, *_registered])
        near = get_close_matches(rule, names, n=1)
        hint = f"Did you mean `{near[0]}`?" if near else f"There is: {', '.join(names)}."
        raise UnknownRule(f"There is no merge rule `{rule}`. {hint}")
    return _expression(rule)


def merged(key: str, rule: str, old: Json, new: Json) -> Json:
    """Return what stands there after `new` was written on `old`; None as `old` stands for nothing.

    Raises:
        InvalidArguments: the rule cannot take the value.
    """
    try:
        return rule_named(rule)(old, new)
    except UnknownRule as error:
        raise InvalidArguments(f"`{key}` on the blackboard cannot be read here: {error}", key=key) from error
    except (CapabilityFailed, TypeError, ValueError) as error:
        raise InvalidArguments(
            f"The value cannot be merged into `{key}` on the blackboard by the rule `{rule}`: {error}",
            key=key,
            rule=rule,
        ) from error


def _append(old: Json, new: Json) -> Json:
    return [*_list(old), new]


def _union(old: Json, new: Json) -> Json:
    given = new if isinstance(new, list) else [new]
    return list({to_bytes(item): item for item in [*_list(old), *given]}.values())


def _max(old: Json, new: Json) -> Json:
    for value in (old, new):
        if isinstance(value, bool) or not isinstance(value, int | float | str | None):
            raise TypeError(f"{type(value).__name__} has no greatest; write numbers, or texts such as dates.")
    if new is None:
        raise TypeError("null has no greatest; write numbers, or texts such as dates.")
    if old is None:
        return new
    if isinstance(old, str) != isinstance(new, str):
        raise TypeError("a number and a text cannot be compared.")
    values: list[Any] = [old, new]
    greatest: Json = max(values)
    return greatest


def _list(value: Json) -> list[Json]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


@lru_cache(32)
def _shape(kind: ValueType) -> Shape:
    return Shape(json_schema_of({"value": kind.value}))


@lru_cache(1_024)
def _expression(source: str) -> Merge:
    try:
        expression = compile_expression(source, {"old": ValueType.ANY, "new": ValueType.ANY})
    except ExpressionFault as fault:
        raise UnknownRule(
            f"`{source}` is neither a merge rule nor an expression over `old` and `new`: {fault.message}"
        ) from None
    return lambda old, new: new if old is None else expression.evaluate({"old": old, "new": new})


_BUILTIN: Mapping[str, Merge] = {REPLACE: lambda _old, new: new, "append": _append, "max": _max, "union": _union}
_registered: dict[str, Merge] = {}
