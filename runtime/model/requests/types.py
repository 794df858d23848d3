"""Names of types as people and generators write them, read as JSON Schema.

Seen in tools of the wild: the types of Python, Java, TypeScript and SQL in place of those of JSON Schema, in any case,
with `?`, `|` and brackets: `dict`, `float`, `Tuple`, `Optional[str]`, `list[int]`, `string[]`, `HashMap`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any

JSON_TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")

_WORDS: Mapping[str, str] = {
    "string": "str text char character varchar enum path password binary bytes bytearray base64 file blob uri url "
    "regex symbol charsequence",
    "integer": "int long short byte bigint biginteger int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 smallint",
    "number": "float double decimal real numeric bigdecimal float32 float64 complex",
    "boolean": "bool bit",
    "object": "dict map hashmap mapping record struct dictionary ordereddict defaultdict typeddict basemodel "
    "jsonobject",
    "array": "list tuple set sequence arraylist vector iterable collection frozenset queue stack deque namedtuple",
    "null": "none nonetype nil void undefined",
}
_ANYTHING = ("any", "mixed", "unknown", "variant", "json", "jsonvalue", "value", "")
_SAME: Mapping[str, Mapping[str, Any]] = {
    **{word: {"type": kind} for kind, words in _WORDS.items() for word in (kind, *words.split())},
    **{word: {} for word in _ANYTHING},
    "date": {"type": "string", "format": "date"},
    "time": {"type": "string", "format": "time"},
    "datetime": {"type": "string", "format": "date-time"},
    "timestamp": {"type": "string", "format": "date-time"},
    "email": {"type": "string", "format": "email"},
    "uuid": {"type": "string", "format": "uuid"},
}
_OF = re.compile(r"([\w. -]+?)\s*[\[<(](.*)[\]>)]", re.DOTALL)
_OPENING, _CLOSING = "[<(", "]>)"
_DEEPEST, _LONGEST = 8, 200


def schema_of_type(told: object, *, deep: int = 0) -> dict[str, Any] | None:
    """Return what the value of `type` means as a schema, `{}` for anything; None where nobody can tell."""
    if isinstance(told, list):
        return _either([schema_of_type(each, deep=deep + 1) for each in told]) if told else None
    if told is None:
        return {"type": "null"}
    if not isinstance(told, str) or deep > _DEEPEST or len(told) > _LONGEST:
        return None
    text = told.strip()
    if text in JSON_TYPES:
        return {"type": text}
    known = _SAME.get(re.sub(r"[\s_.-]", "", text.rpartition("typing.")[2]).lower())
    return dict(known) if known is not None else _composed(text, deep + 1)


def _composed(text: str, deep: int) -> dict[str, Any] | None:
    """Read `x?`, `x | y`, `x[]` and `x[y]`."""
    if text.endswith("?"):
        return _either([schema_of_type(text[:-1], deep=deep), {"type": "null"}])
    for mark in ("|", "/", ",", " or "):
        parts = _split(text, mark)
        if len(parts) > 1:
            return _either([schema_of_type(part, deep=deep) for part in parts])
    if text.endswith("[]"):
        return _array(schema_of_type(text[:-2], deep=deep))
    whole = _OF.fullmatch(text)
    if whole is None:
        return None
    outer, inner = whole[1].rpartition(".")[2].strip().lower(), whole[2]
    if outer == "literal":
        return _literal(inner)
    if outer in ("optional", "union", "annotated"):
        parts = _split(inner, ",") if outer != "annotated" else _split(inner, ",")[:1]
        read = [schema_of_type(part, deep=deep) for part in parts]
        return _either([*read, {"type": "null"}] if outer == "optional" else read)
    base = schema_of_type(outer, deep=deep)
    if base == {"type": "array"} and len(_split(inner, ",")) == 1:
        return _array(schema_of_type(inner, deep=deep))
    return base  # of a map or of lists of several things the outer type is what we say


def _array(of: dict[str, Any] | None) -> dict[str, Any]:
    return {"type": "array", "items": of} if of else {"type": "array"}


def _literal(inner: str) -> dict[str, Any] | None:
    try:
        values = ast.literal_eval(f"[{inner}]")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    plain = all(isinstance(value, str | int | None) for value in values)
    return {"enum": values} if values and plain else None


def _either(parts: Sequence[dict[str, Any] | None]) -> dict[str, Any] | None:
    """Return the schema of what fits one of these, of which anything unknown makes anything."""
    if any(part is None for part in parts):
        return None
    known = [part for part in parts if part is not None]
    if {} in known:
        return {}
    if all(part.keys() == {"type"} and isinstance(part["type"], str) for part in known):
        kinds = list(dict.fromkeys(part["type"] for part in known))
        return {"type": kinds if len(kinds) > 1 else kinds[0]}
    unlike = [part for place, part in enumerate(known) if part not in known[:place]]
    return {"anyOf": unlike} if len(unlike) > 1 else unlike[0]


def _split(text: str, mark: str) -> list[str]:
    """Return the parts between marks that stand in no brackets."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character in _OPENING) - (character in _CLOSING)
        if depth == 0 and text.startswith(mark, place):
            parts.append(text[start:place])
            start = place + len(mark)
    return [part.strip() for part in (*parts, text[start:])]
