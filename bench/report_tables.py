"""Tables of docs/performance.md, and numbers beside what is asked of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

HELD = ("what", "is", "asked", "met")


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def asked(is_: float, most: float) -> tuple[float, str, str]:
    """Return a number, what was asked of it, and whether it is met."""
    return is_, f"≤ {most:g}", "yes" if is_ <= most else "**no**"


def at_least(is_: float, least: float) -> tuple[float, str, str]:
    """Return a number, what was asked of it, and whether it is met."""
    return is_, f"≥ {least:g}", "yes" if is_ >= least else "**no**"
