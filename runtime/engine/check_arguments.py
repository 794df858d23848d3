"""Arguments of a call, held against the declared parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from contracts import Json, Parameter, ValueType
from runtime.bindings import is_file, texts_of
from runtime.capabilities.port import CapabilitySpec
from runtime.engine.check_names import Names, near
from runtime.engine.check_nested import nested_faults
from runtime.engine.check_values import binding_faults, schema_of_value
from runtime.engine.fault import Path, PlanFault
from runtime.schema import fault_of, field_schema, fits, type_of


def call_faults(spec: CapabilitySpec, arguments: Mapping[str, Json], path: Path, names: Names) -> Iterator[PlanFault]:
    """Yield what is wrong with the arguments of a capability; `path` is where its step stands."""
    texts = {name for name in spec.resources if _is_resource(arguments.get(name))}
    for name in sorted(texts):
        yield from _resource_faults(name, arguments[name], (*path, "with", name))
    values = {name: value for name, value in arguments.items() if name not in texts}
    found = [
        *argument_faults(
            spec.name, spec.parameters, values, path, names, open_arguments=spec.open_arguments, given=set(arguments)
        )
    ]
    yield from found
    if spec.schema is not None and not found:
        inside: Mapping[str, Any] = spec.schema.get("properties", {})  # type: ignore[assignment]
        for name in (each for each in values if each in inside):
            yield from nested_faults(name, values[name], inside[name], (*path, "with", name), names)


def argument_faults(
    callee: str,
    parameters: Mapping[str, Parameter],
    arguments: Mapping[str, Json],
    path: Path,
    names: Names,
    *,
    open_arguments: bool = False,
    given: set[str] | None = None,
) -> Iterator[PlanFault]:
    """Yield arguments that are unknown, missing, of the wrong type or bound to nothing."""
    given = set(arguments) if given is None else given
    for name, parameter in parameters.items():
        if parameter.must_be_given and name not in given:
            yield PlanFault(
                (*path, "with"), f"`{callee}` needs `{name}` ({parameter.type.value}).", _meaning(parameter)
            )
    for name, value in arguments.items():
        place = (*path, "with", name)
        yield from binding_faults(value, place, names)
        if name in parameters:
            yield from type_faults(callee, name, value, parameters[name], place=place, names=names)
        elif not open_arguments:
            yield PlanFault(place, f"`{callee}` has no parameter `{name}`.", near(name, parameters))


def type_of_value(value: Json, names: Names) -> ValueType:
    """Return the type of a value or of what it is bound to; ANY when that is not known."""
    schema = schema_of_value(value, names)
    if schema is not None:
        return type_of(dict(schema))
    match value:
        case list():
            return ValueType.ARRAY
        case dict():
            return ValueType.OBJECT
        case str():
            return ValueType.STRING
    return ValueType.ANY


def type_faults(
    callee: str, name: str, value: Json, parameter: Parameter, *, place: Path, names: Names
) -> Iterator[PlanFault]:
    """Yield why a value, or what it is bound to, does not fit one parameter."""
    if value is None and not parameter.required and parameter.default is None:
        return
    if any(texts_of(value)):
        source = type_of_value(value, names)
        if not fits(source, parameter.type):
            yield PlanFault(
                place, f"`{name}` of `{callee}` must be {parameter.type.value}, but {_shown(value)} is {source.value}."
            )
        return
    schema: dict[str, Any] = field_schema(parameter.type.value)
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    fault = fault_of(value, schema)
    if fault:
        yield PlanFault(place, f"`{name}` of `{callee}` {fault.removeprefix('It ')}")


def _is_resource(value: Json) -> bool:
    return isinstance(value, str) or (isinstance(value, dict) and is_file(value))


def _resource_faults(name: str, value: Json, place: Path) -> Iterator[PlanFault]:
    if isinstance(value, str) and "{{" in value:
        yield PlanFault(
            place,
            f"`{name}` is used as it stands; a binding in it could change what it does.",
            "Hand the value over as an argument of its own; a template belongs into a file of the skill's folder.",
        )


def _meaning(parameter: Parameter) -> str:
    return parameter.description if isinstance(parameter.description, str) else ""


def _shown(value: Json) -> str:
    return f"`{value.strip()}`" if isinstance(value, str) else "what is passed"
