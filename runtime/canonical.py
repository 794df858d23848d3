"""One text form for each JSON value, cleaned once at the boundary, so that hashes and stores agree everywhere."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from json import encoder
from pathlib import PurePath
from typing import Any, cast
from uuid import UUID

from pydantic import BaseModel

from contracts import Json

MAX_DEPTH = 100
"""Nesting that is kept; deeper values become their text, so that no store or parser runs out of stack."""


_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _parts_of() -> Callable[[Any, int], Iterable[str]]:
    """Return what `_ENCODER` makes anew for each value, made once: most of the time that a small value takes."""
    make: Any = getattr(encoder, "c_make_encoder", None)
    if make is None:
        return lambda value, _: _ENCODER.iterencode(value)
    return cast(
        "Callable[[Any, int], Iterable[str]]",
        make(None, _ENCODER.default, encoder.encode_basestring, None, ":", ",", True, False, False),
    )


_parts = _parts_of()


def clean(value: Any, *, depth: int = MAX_DEPTH) -> Json:
    """Return `value` as JSON that every store and screen can hold.

    NUL becomes U+2400 and a lone surrogate U+FFFD (databases and UTF-8 refuse them); NaN and infinities become null,
    which means missing; integers keep all digits; decimals and dates become their ISO text; bytes become text where
    they are UTF-8 and hexadecimal where not; anything else becomes its `str`.
    """
    if depth == 0:
        return clean_text(_shown(value))
    kind = type(value)  # nearly everything is one of these, and looking at the type itself is the quickest
    if kind is str:
        return clean_text(value)
    if kind is int or kind is bool or value is None:
        return cast(Json, value)
    if kind is dict:
        deeper = depth - 1
        return {
            clean_text(key if type(key) is str else str(key)): clean(item, depth=deeper) for key, item in value.items()
        }
    return _clean_unusual(value, depth)


def _shown(value: Any) -> str:
    """Return the text of a value that is nested too deeply; one that no text can be made of says what it is."""
    try:
        return str(value)
    except RecursionError:
        return f"[a {type(value).__name__}, nested too deeply]"


def _clean_unusual(value: Any, depth: int) -> Json:
    match value:
        case str():
            return clean_text(str(value))  # an id or a member of an enumeration becomes plain text
        case int():
            return int(value)
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {clean_text(str(key)): clean(item, depth=depth - 1) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [clean(item, depth=depth - 1) for item in value]
        case BaseModel():
            return clean(value.model_dump(mode="json", by_alias=True, exclude_none=True), depth=depth)
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Decimal() | UUID() | PurePath():
            return str(value)
        case bytes() | bytearray() | memoryview():
            return _clean_bytes(bytes(value))
    return _clean_other(value, depth)


def clean_text(text: str) -> str:
    """Return `text` without NUL and without lone surrogates."""
    if "\0" in text:
        text = text.replace("\0", "␀")
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def copy_of(value: Json) -> Json:
    """Return a value that shares nothing with this one that could be changed."""
    if isinstance(value, dict):
        return {key: copy_of(item) for key, item in value.items()}
    return [copy_of(item) for item in value] if isinstance(value, list) else value


class Told(dict[str, Any]):
    """A JSON object with its canonical text, which is made once where it stands in several places. Never changed."""

    __slots__ = ("found_plain", "text")

    def __init__(self, value: Mapping[str, Any]) -> None:
        super().__init__(value)
        self.text = to_text(value)
        self.found_plain: object = None
        """Kept for `runtime.telemetry.redaction`: what was known of secrets when it was found to hold none."""


def to_text(value: Json | Mapping[str, Any]) -> str:
    """Return the canonical text: keys sorted, no spaces, no escapes that are not needed."""
    if type(value) is dict and Told in map(type, value.values()):
        return f"{{{','.join(_members(value))}}}"
    try:
        return "".join(_parts(value, 0))
    except RecursionError:
        return _ENCODER.encode(value)  # which tells a ring from what is deep


def _members(value: dict[str, Any]) -> Iterator[str]:
    """Yield the text of an object in pieces: what was told already as it is, and what stands between that together."""
    others: dict[str, Any] = {}
    for key in sorted(value):
        item = value[key]
        if type(item) is not Told:
            others[key] = item
            continue
        if others:
            yield to_text(others)[1:-1]
            others = {}
        yield f"{encoder.encode_basestring(key)}:{item.text}"
    if others:
        yield to_text(others)[1:-1]


def to_bytes(value: Json | Mapping[str, Any]) -> bytes:
    """Return the canonical bytes: the canonical text in UTF-8."""
    return to_text(value).encode()


def sha256(value: bytes | Json | Mapping[str, Any]) -> str:
    """Return the sha256 in hexadecimal, of the bytes themselves or of the canonical bytes of a value."""
    data = value if isinstance(value, bytes) else to_bytes(value)
    return hashlib.sha256(data).hexdigest()


def _clean_bytes(data: bytes) -> str:
    try:
        return clean_text(data.decode())
    except UnicodeDecodeError:
        return data.hex()


def _clean_other(value: Any, depth: int) -> Json:
    item = getattr(value, "item", None)  # numpy and pandas scalars
    if callable(item) and getattr(value, "shape", None) == ():
        return clean(item(), depth=depth - 1)
    tolist = getattr(value, "tolist", None)
    if callable(tolist):
        return clean(tolist(), depth=depth - 1)
    return clean_text(str(value))
