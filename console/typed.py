"""What was typed and fits no contract, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from contracts import Json
from runtime.errors import InvalidArguments
from runtime.plain_words import in_plain_words


def refused(error: ValidationError, typed: Mapping[str, str]) -> InvalidArguments:
    """Return the error that says each fault; `typed` maps fields to what a person calls them."""
    faults: list[Json] = []
    for detail in error.errors(include_url=False):
        field = ".".join(map(str, detail["loc"]))
        faults.append(f"{typed.get(field, field)} {_words(detail)}.")
    return InvalidArguments("\n".join(map(str, faults)), faults=faults)


def _words(detail: Any) -> str:
    value, context = detail["input"], detail.get("ctx", {})
    match detail["type"]:
        case "string_too_long":
            return f"has {len(value):,} letters; {context['max_length']:,} is the most"
        case "string_too_short":
            return "is empty; say something"
        case "string_unicode":
            return "holds bytes that are no text (UTF-8)"
    return in_plain_words(detail)
