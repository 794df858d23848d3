"""Small words: durations, moments, hashes and texts in one language."""

from __future__ import annotations

import shlex
import shutil
import sys
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from contracts import Text

NAME = "silicon"
NO_BREAK = "\N{NO-BREAK SPACE}"


def seconds(value: float) -> str:
    """Return a duration with its unit: `0.2 s`, `12 s`, `3 min 05 s`."""
    if value < 9.95:
        return f"{value:.1f}{NO_BREAK}s"
    whole = round(value)
    if whole < 120:
        return f"{whole}{NO_BREAK}s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes}{NO_BREAK}min{NO_BREAK}{rest:02d}{NO_BREAK}s"


def measured(value: float, unit: str) -> str:
    """Return a value of a metric: a share as per cent, anything else with its thousands separated."""
    if unit == "share":
        return f"{value * 100:.1f}{NO_BREAK}%"
    if float(value).is_integer() or abs(value) >= 1_000_000:
        return f"{value:,.0f}"
    return f"{value:,.6g}"


def moment(value: datetime) -> str:
    """Return a moment in UTC, to the minute: `2013-02-08 22:00 UTC`."""
    return f"{value.astimezone(UTC):%Y-%m-%d %H:%M}{NO_BREAK}UTC"


def in_language(text: Text, language: str) -> str:
    """Return the words in `language`, else in English, else in whatever language there is."""
    if isinstance(text, str):
        return text
    return text.get(language) or text.get("en") or next(iter(text.values()), "")


def brief_hash(sha256: str | None) -> str:
    """Return the first letters of a hash."""
    return (sha256 or "")[:12]


def one_line(text: str, length: int) -> str:
    """Return `text` without line breaks, cut at `length` letters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= length else flat[: length - 1].rstrip() + "…"


def command_line(*words: str) -> str:
    """Return a command of this program as it can be pasted into the shell it was started from."""
    return shlex.join((program(), *words))


@cache
def program() -> str:
    """Return what starts this program: its name where the shell finds it by that, else its path."""
    started = Path(sys.argv[0])
    found = shutil.which(NAME)
    if started.name != NAME or (found is not None and Path(found).resolve() == started.resolve()):
        return NAME
    here = Path.cwd()
    return str(started.resolve().relative_to(here)) if started.resolve().is_relative_to(here) else str(started)
