"""What values look like: the type names of plans, and the JSON Schema they stand for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from contracts import Json, Parameter, ValueType
from runtime.canonical import to_bytes

_MOST_FAULTS = 5
_MONEY = r"^\d+(\.\d+)? [A-Z]{3}$"

_SCHEMAS: Mapping[ValueType, dict[str, Any]] = {
    ValueType.STRING: {"type": "string"},
    ValueType.INTEGER: {"type": "integer"},
    ValueType.NUMBER: {"type": "number"},
    ValueType.BOOLEAN: {"type": "boolean"},
    ValueType.ARRAY: {"type": "array"},
    ValueType.OBJECT: {"type": "object"},
    ValueType.DATE: {"type": "string", "format": "date"},
    ValueType.DATE_TIME: {"type": "string", "format": "date-time"},
    ValueType.MONEY: {
        "anyOf": [
            {"type": "string", "pattern": _MONEY},
            {"type": "object", "required": ["amount", "currency"]},
        ]
    },
    ValueType.ANY: {},
}

_BY_NAME = {kind.value: kind for kind in ValueType}

_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "nothing",
    "date": "a date like 2013-02-08",
    "date-time": "a time like 2013-02-08T17:00",
}


class SchemaFault(ValueError):
    """A declared type is none."""


def json_schema_of(gives: Mapping[str, Json]) -> dict[str, Any]:
    """Return the JSON Schema of an output object with these fields (field → type name or JSON Schema).

    Every declared field must be there; others may be. Raises SchemaFault for a type that does not exist.
    """
    return {
        "type": "object",
        "properties": {name: field_schema(declared) for name, declared in gives.items()},
        "required": list(gives),
    }


def json_schema_of_parameters(parameters: Mapping[str, Parameter], *, open_arguments: bool = False) -> dict[str, Any]:
    """Return the JSON Schema of the arguments that fit `parameters`; null never stands for a default that there is."""
    return {
        "type": "object",
        "properties": {name: _parameter_schema(parameter) for name, parameter in parameters.items()},
        "required": [name for name, parameter in parameters.items() if parameter.must_be_given],
        "additionalProperties": open_arguments,
    }


def field_schema(declared: Json) -> dict[str, Any]:
    """Return the JSON Schema for a type name, or `declared` itself when it is a schema that can be used."""
    if isinstance(declared, str):
        try:
            return dict(_SCHEMAS[ValueType(declared)])
        except ValueError:
            names = [kind.value for kind in ValueType]
            near = get_close_matches(declared, names, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"There is: {', '.join(names)}."
            raise SchemaFault(f"`{declared}` is not a type. {hint}") from None
    if not isinstance(declared, dict):
        raise SchemaFault("A type is a name such as `array`, or a JSON Schema.")
    fault = _fault_of_schema(to_bytes(declared))
    if fault is not None:
        raise SchemaFault(fault)
    return dict(declared)


def type_of(declared: Json) -> ValueType:
    """Return the type a declaration stands for, ANY when it leaves that open."""
    kind = declared.get("type") if isinstance(declared, dict) else declared
    return _BY_NAME.get(kind, ValueType.ANY) if isinstance(kind, str) else ValueType.ANY


def fits(source: ValueType, target: ValueType) -> bool:
    """Whether a value of one declared type may be handed to a parameter of another, as far as types can tell."""
    if source == target or ValueType.ANY in (source, target):
        return True
    text_like = {ValueType.DATE, ValueType.DATE_TIME, ValueType.MONEY}
    if source in text_like:
        return target is ValueType.STRING
    if source is ValueType.STRING:
        return target in text_like
    if source is ValueType.OBJECT:
        return target is ValueType.MONEY
    return source is ValueType.INTEGER and target is ValueType.NUMBER


def fault_of(value: Any, schema: Mapping[str, Any]) -> str | None:
    """Return in plain words what does not fit, the first few faults at once, or None when all does."""
    return Shape(schema).fault_of(value)


class Shape:
    """A JSON Schema that many values are held against: it is made ready once."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = dict(schema)
        self._validator: Any = None

    def fault_of(self, value: Any) -> str | None:
        """Return in plain words what does not fit, the first few faults at once, or None when all does."""
        if _surely_fits(value, self._schema):
            return None
        if self._validator is None:
            from jsonschema import Draft202012Validator

            self._validator = Draft202012Validator(self._schema, format_checker=_formats())
        faults = list(self._validator.iter_errors(value))
        if not faults:
            return None
        faults.sort(key=lambda error: [str(part) for part in error.absolute_path])
        told = list(dict.fromkeys(_in_plain_words(fault) for fault in faults))
        more = f" {len(told) - _MOST_FAULTS} more." if len(told) > _MOST_FAULTS else ""
        return " ".join(told[:_MOST_FAULTS]) + more


def _surely_fits(value: Any, schema: Any) -> bool:
    """Whether the value fits as far as plain types tell, without a library; False means that the library decides."""
    if not isinstance(schema, dict):
        return False
    for keyword, asked in schema.items():
        match keyword:
            case "type":
                kinds = asked if isinstance(asked, list) else [asked]
                fits = _all_text(kinds) and any(kind in _IS and _IS[kind](value) for kind in kinds)
            case "format":
                fits = asked in _PARSE and isinstance(value, str) and _parses(_PARSE[asked], value)
            case "enum":
                fits = isinstance(value, str) and value in asked  # of texts alone equal is the same
            case "anyOf":
                fits = any(_surely_fits(value, each) for each in asked)
            case "required":
                fits = isinstance(value, dict) and all(name in value for name in asked)
            case "properties":
                fits = isinstance(value, dict) and all(
                    _surely_fits(value[name], inner) for name, inner in asked.items() if name in value
                )
            case "additionalProperties":
                known = schema.get("properties", {})
                fits = asked is True or (isinstance(value, dict) and all(name in known for name in value))
            case _:
                fits = False
        if not fits:
            return False
    return True


def _surely_usable(schema: Any) -> bool:
    """Whether this is a JSON Schema, told without a library; False means that the library decides."""
    if not isinstance(schema, dict):
        return isinstance(schema, bool)
    for keyword, asked in schema.items():
        match keyword:
            case "type":
                kinds = asked if isinstance(asked, list) else [asked]
                usable = _all_text(kinds) and set(kinds) <= _IS.keys() and 0 < len(kinds) == len(set(kinds))
            case "format" | "description":
                usable = isinstance(asked, str)
            case "enum":
                usable = isinstance(asked, list) and bool(asked) and _all_text(asked) and len(asked) == len(set(asked))
            case "required":
                usable = isinstance(asked, list) and _all_text(asked) and len(asked) == len(set(asked))
            case "anyOf":
                usable = isinstance(asked, list) and bool(asked) and all(map(_surely_usable, asked))
            case "properties":
                usable = isinstance(asked, dict) and all(map(_surely_usable, asked.values()))
            case "additionalProperties" | "items":
                usable = _surely_usable(asked)
            case _:
                usable = False
        if not usable:
            return False
    return True


def _all_text(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _parses(parse: Callable[[str], object], text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True


@lru_cache(1_024)
def _fault_of_schema(declared: bytes) -> str | None:
    schema = json.loads(declared)
    if _surely_usable(schema):
        return None
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"This is not a JSON Schema: {error.message}."
    return None


def _parameter_schema(parameter: Parameter) -> dict[str, Any]:
    schema = dict(_SCHEMAS[parameter.type])
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    if parameter.must_be_given or parameter.default is not None or not schema:
        return schema
    return {"anyOf": [schema, {"type": "null"}]}


def _in_plain_words(error: Any) -> str:
    where = _place(error.absolute_path)
    match error.validator:
        case "required":
            missing = [name for name in error.validator_value if name not in error.instance]
            inside = f" in {where}" if where else ""
            return f"{_listed(missing)} {'is' if len(missing) == 1 else 'are'} missing{inside}."
        case "type" | "format":
            wanted = error.validator_value
            wanted = [wanted] if isinstance(wanted, str) else wanted
            words = " or ".join(_WORDS.get(kind, kind) for kind in wanted)
            return f"{where or 'It'} must be {words}, not {_shown(error)}."
        case "enum":
            return f"{where or 'It'} must be one of {', '.join(map(str, error.validator_value))}, not {_shown(error)}."
        case "pattern" if error.validator_value == _MONEY:
            return f"{where or 'It'} must be money like 5 USD, not {_shown(error)}."
        case "maxItems" | "minItems":
            most = "most" if error.validator == "maxItems" else "least"
            return f"{where or 'It'} has {len(error.instance):,} items, and {error.validator_value:,} is the {most}."
        case "anyOf":
            return _in_plain_words(min(error.context, key=lambda inner: (inner.validator == "type", len(inner.path))))
        case "additionalProperties":
            known = error.schema.get("properties", {})
            return " ".join(_unknown(name, known) for name in error.instance if name not in known)
    return f"{where or 'It'}: {error.message[:200]}."


def _unknown(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), n=1)
    return f"There is no `{name}` here." + (f" Did you mean `{near[0]}`?" if near else "")


def _place(path: Iterable[str | int]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return f"`{text}`" if text else ""


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _shown(error: Any) -> str:
    value = error.instance
    if isinstance(value, dict | list):
        return _WORDS["object" if isinstance(value, dict) else "array"]
    return "nothing" if value is None else f"{str(value)[:60]!r}" if isinstance(value, str) else str(value).lower()


@lru_cache(1)
def _formats() -> Any:
    from jsonschema import FormatChecker

    checker = FormatChecker(formats=())
    for name, parse in _PARSE.items():
        checker.checks(name, raises=ValueError)(_only_text(parse))
    return checker


def _only_text(parse: Callable[[str], object]) -> Callable[[object], bool]:
    """Formats speak about text; whether it is text is told by `type`."""
    return lambda value: bool(parse(value)) if isinstance(value, str) else True


def _date_time(text: str) -> datetime:
    """Return the time; one without an offset is local time of the organisation."""
    if not re.match(r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d", text):
        raise ValueError(text)
    return datetime.fromisoformat(text)


_PARSE: Mapping[str, Callable[[str], object]] = {"date": date.fromisoformat, "date-time": _date_time}

_IS: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}
