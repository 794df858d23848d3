"""Fields of what an endpoint sends, whatever type they really have."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def text_of(value: Any) -> str:
    """Return a field that should be text; anything else that came in its place is nothing."""
    return value if isinstance(value, str) else ""


def mapping_of(value: Any) -> Mapping[str, Any]:
    """Return a field that should be an object."""
    return value if isinstance(value, Mapping) else {}


def list_of(value: Any) -> Sequence[Any]:
    """Return a field that should be a list; one object stands for a list of it."""
    if isinstance(value, Mapping) and value:
        return [value]
    return value if isinstance(value, list | tuple) else ()


def index_of(value: Any) -> int | None:
    """Return a place in a list, which some endpoints send as text; None where it is none."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def json_text_of(value: Any) -> str:
    """Return arguments as text: they are sent as text, and by some endpoints as the object itself."""
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return json.dumps(value, default=str)
    except RecursionError:
        return "(nested too deep)"


def words_of(content: Any) -> tuple[str, str]:
    """Return words and thoughts of a content, which is text or a list of typed parts."""
    if isinstance(content, str):
        return content, ""
    words, thoughts = "", ""
    for each in list_of(content):
        part = mapping_of(each)
        if part.get("type") in ("thinking", "reasoning"):
            thoughts += _thought_of(part)
        else:
            words += text_of(each) or text_of(part.get("text"))
    return words, thoughts


def thoughts_of(message: Mapping[str, Any]) -> str:
    """Return what a message tells of its reasoning; an endpoint that tells it under two names tells it once."""
    return text_of(message.get("reasoning_content")) or text_of(message.get("reasoning"))


def _thought_of(part: Mapping[str, Any]) -> str:
    told = part.get("thinking", part.get("text"))
    return text_of(told) or "".join(text_of(mapping_of(each).get("text")) for each in list_of(told))
