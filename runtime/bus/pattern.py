"""Topic patterns over types of events."""

from __future__ import annotations

import re
from collections.abc import Callable

_PATTERN = re.compile(r"[a-z0-9_.*]+")


def compile_pattern(pattern: str) -> Callable[[str], bool]:
    """Return what tells whether a type fits; `*` stands for any characters."""
    if not _PATTERN.fullmatch(pattern):
        raise ValueError(f"{pattern!r} fits no type of event; it looks like step.finished, step.* or *.")
    if pattern == "*":
        return lambda _type: True
    expression = re.compile(".*".join(re.escape(part) for part in pattern.split("*")))
    return lambda type_: expression.fullmatch(type_) is not None
