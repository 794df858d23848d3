"""What stands inside an argument, held against the JSON Schema of its parameter: constants whole, bindings by type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from contracts import Json, ValueType
from runtime.bindings import texts_of
from runtime.engine.check_names import Names, Schema, near
from runtime.engine.check_values import schema_of_value
from runtime.engine.fault import Path, PlanFault
from runtime.schema import fault_of, fits, type_of


def nested_faults(name: str, value: Json, schema: Schema, place: Path, names: Names) -> Iterator[PlanFault]:
    """Yield what does not fit: `name` is how the value is called in what is told, `place` where it stands."""
    if not any(texts_of(value)):
        fault = fault_of(value, schema)
        if fault is not None:
            inside = not fault.startswith("It")
            yield PlanFault(place, f"Inside `{name}`: {fault}" if inside else f"`{name}`{fault.removeprefix('It')}")
        return
    match value:
        case str():
            source = schema_of_value(value, names)
            yield from _misfits(name, source or {}, schema, place)
        case list():
            yield from _type_fault(name, ValueType.ARRAY, schema, place)
            for number, item in enumerate(value):
                inner = schema.get("items", {})
                yield from nested_faults(f"{name}[{number}]", item, inner, (*place, number), names)
        case dict():
            yield from _type_fault(name, ValueType.OBJECT, schema, place)
            yield from _fields_faults(name, value, schema, place, names)


def _fields_faults(
    name: str, value: Mapping[str, Json], schema: Schema, place: Path, names: Names
) -> Iterator[PlanFault]:
    fields: Mapping[str, Any] = schema.get("properties", {})
    for missing in (each for each in schema.get("required", ()) if each not in value):
        yield PlanFault(place, f"`{name}` needs `{missing}`.")
    others = schema.get("additionalProperties", True)
    for key, item in value.items():
        if key not in fields and others is False:
            yield PlanFault((*place, key), f"There is no `{key}` in `{name}`.", near(key, fields))
            continue
        inner = fields.get(key, others)
        if isinstance(inner, Mapping):
            yield from nested_faults(f"{name}.{key}", item, inner, (*place, key), names)


def _misfits(name: str, source: Schema, target: Schema, place: Path) -> Iterator[PlanFault]:
    """Yield how what a binding gives differs from what is taken, as far as both declare it."""
    wrong = [*_type_fault(name, type_of(dict(source)), target, place)]
    yield from wrong
    if wrong:
        return
    given: Mapping[str, Any] = source.get("properties", {})
    wanted: Mapping[str, Any] = target.get("properties", {})
    if given and not source.get("additionalProperties"):
        for missing in (each for each in target.get("required", ()) if each not in given):
            yield PlanFault(place, f"`{name}` needs `{missing}`, and what is bound to it does not give that.")
    for key in given:
        if key in wanted and isinstance(given[key], Mapping):
            yield from _misfits(f"{name}.{key}", given[key], wanted[key], place)
    if isinstance(source.get("items"), Mapping) and isinstance(target.get("items"), Mapping):
        yield from _misfits(f"an item of {name}", source["items"], target["items"], place)


def _type_fault(name: str, source: ValueType, target: Schema, place: Path) -> Iterator[PlanFault]:
    wanted = type_of(dict(target))
    if not fits(source, wanted):
        yield PlanFault(place, f"`{name}` must be {wanted.value}, but it is {source.value}.")
