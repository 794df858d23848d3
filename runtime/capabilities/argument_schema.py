"""Arguments that a JSON Schema tells whole: parameters for plans, and one schema for models and the router."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contracts import Json, Parameter
from runtime.capabilities.openapi.document import Document, DocumentFault
from runtime.capabilities.openapi.schemas import Schemas, or_null, parameter_of, plain_of
from runtime.schema import field_schema
from runtime.texts import in_language

_WORDS = ("description", "title", "examples")
_MAPS = ("properties",)
_LISTS = ("anyOf", "oneOf", "allOf")
_INNER = ("items", "additionalProperties")
_NESTING = frozenset({"properties", "items", "additionalProperties", "anyOf", "oneOf", "allOf", "enum", "const"})


def resolved(schema: Mapping[str, Json]) -> dict[str, Any]:
    """Return a schema of arguments without references: left open where it repeats itself or never ends.

    Raises:
        ValueError: it is no JSON Schema of an object, or refers to what is not in it.
    """
    try:
        made = Schemas(Document(schema), sent=True).of(schema, ())
    except DocumentFault as fault:
        place = ".".join(map(str, fault.place))
        raise ValueError(f"{place or 'it'}: {fault.what} {fault.hint}".rstrip()) from None
    if made.get("type", "object") != "object":
        raise ValueError(f"it must be the schema of an object, and its type is {made['type']}")
    fields, required = made.get("properties", {}), made.get("required", [])
    unknown = [name for name in required if name not in fields]
    if unknown:
        raise ValueError(f"`required` names `{unknown[0]}`, which is not under `properties`")
    return field_schema({"type": "object", "properties": fields, "required": required})


def parameters_in(schema: Mapping[str, Any]) -> dict[str, Parameter]:
    """Return the arguments of a resolved schema as parameters, as far as those can tell."""
    return {name: parameter_of(each, needed=name in schema["required"]) for name, each in schema["properties"].items()}


def schema_for(schema: Mapping[str, Any], parameters: Mapping[str, Parameter]) -> dict[str, Json]:
    """Return the schema that a call's arguments have to fit: null may stand for what need not be given."""
    properties: dict[str, Json] = {}
    for name, parameter in parameters.items():
        own = schema["properties"][name]
        told: dict[str, Json] = {}
        if parameter.description:
            told["description"] = in_language(parameter.description, "en")
        if parameter.example is not None:
            told["examples"] = [parameter.example]
        open_ = parameter.must_be_given or parameter.default is not None
        properties[name] = {**(own if open_ else or_null(own)), **told}
    required: list[Json] = [name for name, parameter in parameters.items() if parameter.must_be_given]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def tells_more_than_types(schema: Mapping[str, Any]) -> bool:
    """Whether an argument has something inside it, or is one of several, which no type of a plan says."""
    return any(not _NESTING.isdisjoint(plain_of(each)) for each in schema["properties"].values())


def without_words(schema: Any) -> Any:
    """Return a resolved schema without what it says to whoever reads it: names, types and limits are left."""
    if not isinstance(schema, dict):
        return schema
    bare: dict[str, Any] = {}
    for key, held in schema.items():
        if key in _MAPS:
            bare[key] = {name: without_words(each) for name, each in held.items()}
        elif key in _LISTS:
            bare[key] = [without_words(each) for each in held]
        elif key in _INNER:
            bare[key] = without_words(held)
        elif key not in _WORDS:
            bare[key] = held
    return bare
