"""JSON as it comes in from outside: each number in it can be worked with, or the text is refused in plain words."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from contracts import Json

MOST_DIGITS = 4_000
"""Digits of a whole number; Python itself reads 4,300 at most."""
_SHOWN = 40


def read_json(text: str | bytes, *, once: bool = False) -> Json:
    """Return what a text means.

    Args:
        once: refuse an object in which a name stands twice; else the last one counts.

    Raises:
        ValueError: it is no JSON, or holds a number that nothing here can hold: NaN, infinite, too large, too long.
        RecursionError: it has too many brackets inside each other.
    """
    value: Json = json.loads(
        text, parse_constant=_constant, parse_float=_float, parse_int=_int, object_pairs_hook=_once if once else None
    )
    return value


def _constant(name: str) -> None:
    raise ValueError(f"{name} is no value of JSON")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:_SHOWN]} is too large")
    return value


def _int(text: str) -> int:
    digits = len(text.lstrip("-"))
    if digits > MOST_DIGITS:
        raise ValueError(f"a whole number has {digits:,} digits, and {MOST_DIGITS:,} is the most")
    return int(text)


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice[:100]!r} stands twice in one object")
    return value
