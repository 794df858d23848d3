"""Schemas of tools as endpoints take them, whatever stands in their place, and the way back for the arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from contracts import Json
from runtime.canonical import clean, to_text
from runtime.model.requests.errors import UnusableSchema
from runtime.model.requests.joining import Apart, Impossible, joined
from runtime.model.requests.mending import Mender
from runtime.model.requests.parts import ANNOTATIONS, NOTHING, Schema, mapped, types_of
from runtime.model.requests.references import in_place, named_by, reached
from runtime.model.requests.restoring import Way, of_plain
from runtime.model.requests.strict import NotStrict, strict_form
from runtime.model.requests.tidying import is_nothing, tidy

MOST_CHARACTERS = 100_000
"""Of one schema; a longer one alone would fill what a model can read."""
WRAPPED = "arguments"
"""The property that holds the arguments of a tool whose schema is a choice: endpoints take none at the root."""
_NOT_AT_ROOT = ("anyOf", "oneOf", "allOf", "enum", "const", "not")
_TURNING = ('"not":', '"if":', '"oneOf":', '"contains":')
_UNEVALUATED = '"unevaluated'
"""Looks at how the rest is written, so that all of it has to stay as it is."""
_NO_PARAMETERS: Schema = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class Normalised:
    """A schema as endpoints take it. It is shared: nobody may change it."""

    schema: Mapping[str, Any]
    """Valid JSON Schema (2020-12) of an object, without a choice at its root."""
    strict: bool
    """Whether it may be declared strict."""
    notes: tuple[str, ...]
    """What had to be read otherwise than it stands, and why it is not strict where that was asked for."""
    _way: Way | None = None
    _wrapped: bool = False

    def restore(self, arguments: Mapping[str, Json]) -> dict[str, Json]:
        """Return the arguments as the tool's own schema has them; what does not fit stays as it is."""
        value: Any = dict(arguments)
        if self._wrapped and value.keys() != {WRAPPED}:
            return dict(value)  # a model that was not held to the schema, and may have meant the right thing
        if self._way is not None:
            value = self._way(value)
        return dict(value[WRAPPED]) if self._wrapped and isinstance(value[WRAPPED], dict) else dict(value)


def normalise(schema: object, *, strict: bool) -> Normalised:
    """Return a schema as endpoints take it: strict where that is asked for and it can be, else as open as it was.

    Each object that fits the result fits the schema once it is restored; a schema that is no valid JSON Schema counts
    as what its words most likely mean. None stands for a tool without parameters.

    Raises:
        UnusableSchema: no object fits it, or it cannot be read to its end.
    """
    if schema is None:
        return Normalised(_NO_PARAMETERS | ({"required": []} if strict else {}), strict, ())
    try:
        return _normalised(schema, strict=strict)
    except RecursionError:
        raise UnusableSchema("Its definitions refer to each other too deeply. Make it flatter.") from None


def _normalised(schema: object, *, strict: bool) -> Normalised:
    root, defs, notes = _read(schema)
    root, wrapped = _as_object(root, defs, notes)
    if wrapped:
        notes.append(f"It is a choice, and is asked for as `{WRAPPED}`.")
    if strict:
        try:
            form, forms, way = strict_form(root, defs)
            return Normalised(_with_defs(form, forms), True, tuple(notes), way, wrapped)
        except NotStrict as why:
            notes.append(f"It is not strict: {why}.")
    plain = {name: _finished(defs[name]) for name in sorted(reached(defs, root))}
    return Normalised(_with_defs(_finished(root), plain), False, tuple(notes), of_plain(root, defs, {}), wrapped)


def _read(schema: object) -> tuple[Schema, dict[str, Schema], list[str]]:
    whole = clean(schema)
    text = to_text(whole)
    if len(text) > MOST_CHARACTERS:
        raise UnusableSchema(
            f"It has {len(text):,} characters, and {MOST_CHARACTERS:,} are the most. Describe fewer arguments."
        )
    mender = Mender(whole)
    root, defs = in_place(mender.mend(), mender.defs)
    if _UNEVALUATED not in text:
        exact = any(keyword in text for keyword in _TURNING)
        root, defs = tidy(_of_objects(root)), {name: tidy(each, exact=exact) for name, each in defs.items()}
    return root, defs, mender.notes


def _as_object(root: Schema, defs: Mapping[str, Schema], notes: list[str]) -> tuple[Schema, bool]:
    """Return the schema of those of its values that are objects, and whether it had to be wrapped."""
    while (name := named_by(root)) is not None:
        told = {keyword: held for keyword, held in root.items() if keyword in ANNOTATIONS}
        root = {**defs[name], **told}
    if is_nothing(root):
        raise UnusableSchema(" ".join(("No arguments fit it: look at what it requires.", *notes)))
    kinds, before = types_of(root), root
    root = {**root, "type": "object"} if kinds is None or "object" in kinds else dict(NOTHING)
    for keyword in ("anyOf", "oneOf"):
        if keyword in root:
            root[keyword] = [each for each in map(_if_object, root[keyword]) if each is not None]
            if not root[keyword]:
                root = dict(NOTHING)
    if root != before and _UNEVALUATED not in to_text(root):
        root = tidy(root)
    if is_nothing(root):
        raise UnusableSchema("Arguments come as an object with names, and no object fits it. Declare `type: object`.")
    if not any(keyword in root for keyword in _NOT_AT_ROOT):
        return {"type": "object", "properties": {}, **root}, False
    alternatives = root.get("anyOf", root.get("oneOf"))
    if alternatives and all(types_of(each) == ["object"] for each in alternatives):
        root = {keyword: held for keyword, held in root.items() if keyword != "type"}
    told = {"description": root.pop("description")} if "description" in root else {}
    closed = {"required": [WRAPPED], "additionalProperties": dict(NOTHING)}
    return {"type": "object", **told, "properties": {WRAPPED: root}, **closed}, True


def _of_objects(schema: Schema) -> Schema:
    """Say of what is meant for objects anyway that it is, so that no other type is guessed from its keywords."""
    if schema.keys() <= {"$ref", *ANNOTATIONS} or is_nothing(schema):
        return schema
    choices: Schema = {
        key: [_of_objects(each) for each in schema[key]] for key in ("allOf", "anyOf", "oneOf") if key in schema
    }
    return {"type": "object", **schema, **choices}


def _if_object(schema: Schema) -> Schema | None:
    try:
        return joined(schema, {"type": "object"})
    except Impossible:
        return None
    except Apart:
        return schema


def _finished(schema: Schema) -> Schema:
    """Return the schema as it is sent: true and false as such, and a list that says what is in it."""
    out = mapped(schema, _child)
    if "array" in (types_of(out) or ()) and "items" not in out and "unevaluatedItems" not in out:
        out = {**out, "items": {}}  # endpoints refuse a list without it
    return out


def _child(keyword: str, schema: Schema) -> Any:
    if keyword in ("additionalProperties", "unevaluatedProperties", "unevaluatedItems") or (
        keyword == "items" and is_nothing(schema)
    ):
        return True if not schema else False if schema == NOTHING else _finished(schema)
    return _finished(schema)


def _with_defs(root: Schema, defs: Mapping[str, Schema]) -> Schema:
    return {**root, "$defs": dict(defs)} if defs else root
