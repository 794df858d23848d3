"""Logs: lines that begin with a time or name a level."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from runtime.context.bounds import counted, one_line
from runtime.context.reading.anchors import line_text

_SAMPLE = 200
_MOST = 400
"""Characters of a line in which its time and level are looked for."""
_TIMED = 0.6
"""Share of the first lines that begin with a time, in a log; the others go on from the one before."""
_TIME = re.compile(
    r"[\[(\"]?(\d{4}[-/]\d{2}[-/]\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d{1,2} \d{2}:\d{2}:\d{2}"
    r"|\d{2}:\d{2}:\d{2}(?:[.,]\d+)?)(?![\w:])"
)
_ADDRESSED = re.compile(r"\S{1,60} \S{1,60} \S{1,60} \[(\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4})\]")
"""How web servers begin a line: who asked, and when."""
_LEVEL = re.compile(r"\b(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|SEVERE)\b")
_ANY_CASE = re.compile(_LEVEL.pattern, re.IGNORECASE)
_ALIKE = re.compile(r"\d+|\b[0-9a-f]{8,}\b")
_GRAVE = ("FATAL", "CRITICAL", "SEVERE", "ERROR")


def is_log(lines: Sequence[str]) -> bool:
    """Whether a text is a log: by its first lines."""
    first = [line for line in lines[:_SAMPLE] if line.strip()]
    timed = sum(time_of(line) is not None for line in first)
    leveled = sum(_LEVEL.match(line[:_MOST].lstrip("[(<")) is not None for line in first)
    return len(first) > 1 and max(timed, leveled) >= _TIMED * len(first) and not _is_table(first)


def _is_table(lines: Sequence[str]) -> bool:
    """Whether a time is just the first column of a table: its names stand above, or each line has the same commas."""
    commas = {line.count(",") for line in lines}
    return len(commas) == 1 and commas != {0} and not any(map(_LEVEL.search, lines))


def time_of(line: str) -> str | None:
    """Return the time that a line begins with, as it stands there."""
    found = _TIME.match(line[:_MOST].lstrip()) or _ADDRESSED.match(line[:_MOST])
    return found[1] if found else None


def level_of(line: str) -> str | None:
    """Return the level that a line names, in capitals; where it names several, the first."""
    found = _LEVEL.search(line, 0, _MOST) or _ANY_CASE.search(line, 0, 60)
    return found[1].upper() if found else None


def log_lines(lines: Sequence[str], *, samples: bool, most: int) -> Iterator[str]:
    """Yield what there is to say about a log: lines, times, levels, and where the first grave and usual lines are."""
    times = [each for each in map(time_of, lines) if each is not None]
    levels: Counter[str] = Counter()
    grave: list[int] = []
    alike: dict[str, list[int]] = {}
    for number, line in enumerate(lines, 1):
        level = level_of(line)
        if level is not None:
            levels[level] += 1
            if level in _GRAVE:
                grave.append(number)
        if line.strip():
            seen = alike.setdefault(_ALIKE.sub("#", line[:_MOST]), [number, 0])
            seen[1] += 1
    yield counted(len(lines), "line")
    if times:
        yield f"from {times[0]} to {times[-1]} (first and last line with a time)"
    if levels:
        yield "levels: " + ", ".join(f"{level} {count:,}" for level, count in levels.most_common())
    if samples:
        for number in islice(grave, most):
            yield f"{line_text(None, number)} {one_line(lines[number - 1], 200)}"
        usual = sorted(alike.values(), key=lambda seen: (-seen[1], seen[0]))[:most]
        for number, count in usual:
            if count > 1:
                yield f"{count:,} lines like {line_text(None, number)} {one_line(lines[number - 1], 160)}"
        yield f"{line_text(None, len(lines))} (last) {one_line(lines[-1], 200)}"
