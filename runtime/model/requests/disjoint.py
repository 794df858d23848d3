"""Whether two schemas surely have no value in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runtime.model.requests.joining import text_of
from runtime.model.requests.parts import NOTHING, Schema, types_of
from runtime.model.requests.references import named_by

_DEEPEST = 6


def disjoint(one: Schema, other: Schema, defs: Mapping[str, Schema], *, deep: int = 0) -> bool:
    """Whether no value fits both; False where that cannot be seen."""
    if deep > _DEEPEST:
        return False
    one, other = _meant(one, defs), _meant(other, defs)
    kinds, others = types_of(one), types_of(other)
    if kinds is not None and others is not None and not _overlap(kinds, others):
        return True
    values, other_values = _values(one), _values(other)
    if values is not None and other_values is not None:
        return values.isdisjoint(other_values)
    if kinds != ["object"] or others != ["object"]:
        return False
    required, also = set(one.get("required", ())), set(other.get("required", ()))
    described, too = one.get("properties", {}), other.get("properties", {})
    return (
        any(
            disjoint(described[name], too[name], defs, deep=deep + 1)
            for name in required & also
            if name in described and name in too
        )
        or (_closed(other) and bool(required - too.keys()))
        or (_closed(one) and bool(also - described.keys()))
    )


def _meant(schema: Schema, defs: Mapping[str, Schema]) -> Schema:
    name = named_by(schema)
    return defs.get(name, schema) if name is not None else schema


def _overlap(kinds: list[str], others: list[str]) -> bool:
    wide, wider = ({"number" if kind == "integer" else kind for kind in each} for each in (kinds, others))
    return bool(wide & wider)


def _values(schema: Schema) -> set[str] | None:
    values: list[Any] | None = [schema["const"]] if "const" in schema else schema.get("enum")
    return {text_of(value) for value in values} if values is not None else None


def _closed(schema: Schema) -> bool:
    return schema.get("additionalProperties") == NOTHING and "patternProperties" not in schema
