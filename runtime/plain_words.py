"""What validation found, in words for people and without a word of Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contracts.base import CAPABILITY_PATTERN, LANGUAGE_PATTERN, NAME_PATTERN, SHA256_PATTERN, STEP_PATTERN
from contracts.ids import ULID_PATTERN

_KINDS: Mapping[str, str] = {
    "string": "text", "tuple": "a list", "list": "a list", "set": "a list", "dict": "an object", "model": "an object",
    "mapping": "an object", "dataclass": "an object", "int": "a whole number", "float": "a number",
    "decimal": "a number", "bool": "true or false", "finite": "a number that can be worked with",
    "datetime": "a time like 2013-02-08T17:00", "date": "a date like 2013-02-08", "none": "nothing",
}  # fmt: skip

_WRITTEN: Mapping[str, str] = {
    NAME_PATTERN: "lower case, words joined by hyphens, for example cancel-rate",
    STEP_PATTERN: "lower case, words joined by _, for example cancel_rate",
    CAPABILITY_PATTERN: "lower case, for example flights.query",
    SHA256_PATTERN: "a sha256: 64 digits and letters from a to f",
    LANGUAGE_PATTERN: "two lower-case letters, for example en",
    ULID_PATTERN: (
        "the part of an id after its slash, 26 digits and capital letters, for example 01JB0000000000000000000XEC"
    ),
}
"""Pattern of a contract → how such a text is written, in words for people."""


def written_as(pattern: str) -> str | None:
    """Return how a text of this pattern is written, in words, where they are known."""
    return _WRITTEN.get(pattern)


def in_plain_words(detail: Mapping[str, Any]) -> str:
    """Return one fault of pydantic as the end of a sentence about the value, with no full stop: `must be text`."""
    kind, context = str(detail["type"]), detail.get("ctx", {})
    match kind:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is not known here"
        case "string_too_long" | "too_long" | "string_too_short" | "too_short":
            return _length(kind, context)
        case "greater_than":
            return f"must be more than {_number(context['gt'])}"
        case "greater_than_equal":
            return f"must be {_number(context['ge'])} or more"
        case "less_than":
            return f"must be less than {_number(context['lt'])}"
        case "less_than_equal":
            return f"must be {_number(context['le'])} or less"
        case "literal_error" | "enum":
            return f"must be {context['expected']}"
        case "string_pattern_mismatch":
            written = written_as(str(context["pattern"]))
            return f"must be {written}" if written else f"is not written as it must be ({context['pattern']})"
        case "value_error" if "error" in context:
            return f"cannot be used: {str(context['error']).strip().rstrip('.')}"
    wanted = _KINDS.get(kind.partition("_")[0])
    return f"must be {wanted}" if wanted else f"cannot be used: {_untouched(str(detail['msg']))}"


def _length(kind: str, context: Mapping[str, Any]) -> str:
    thing = "letters" if kind.startswith("string") else "items"
    if not kind.endswith("long"):
        least = context["min_length"]
        return "must not be empty" if least == 1 else f"must have {least:,} {thing} at least"
    has = context.get("actual_length")
    most = f"{context['max_length']:,}"
    return f"has {has:,} {thing}; {most} is the most" if has else f"may have {most} {thing} at most"


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,g}" if isinstance(value, float) else str(value)


def _untouched(message: str) -> str:
    return f"{message[:1].lower()}{message[1:].rstrip('.')}"
