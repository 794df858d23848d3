"""Positions as runs of neighbours, which is how a tombstone keeps where the events of its stream stood."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence

Run = tuple[int, int]
"""The first and the last of positions that follow each other without a gap."""


def runs_of(positions: Iterable[int]) -> list[Run]:
    """Return ascending positions as runs."""
    runs: list[Run] = []
    for position in positions:
        if runs and runs[-1][1] == position - 1:
            runs[-1] = (runs[-1][0], position)
        else:
            runs.append((position, position))
    return runs


def merged(runs: Iterable[Run]) -> tuple[list[Run], list[Run]]:
    """Return runs in order with neighbours joined, and the runs that overlap with others."""
    whole: list[Run] = []
    twice: list[Run] = []
    for first, last in sorted(runs):
        if whole and first <= whole[-1][1]:
            twice.append((first, last))
        if whole and first <= whole[-1][1] + 1:
            whole[-1] = (whole[-1][0], max(whole[-1][1], last))
        else:
            whole.append((first, last))
    return whole, twice


def count(runs: Sequence[Run]) -> int:
    """Return how many positions there are."""
    return sum(last - first + 1 for first, last in runs)


def to_text(runs: Sequence[Run]) -> str:
    """Return the runs as one JSON list of numbers: how far on each begins, how many it holds."""
    numbers: list[int] = []
    end = 0
    for first, last in runs:
        numbers += (first - end, last - first + 1)
        end = last
    return json.dumps(numbers, separators=(",", ":"))


def pack(runs: Sequence[Run]) -> bytes:
    """Return the runs as they are stored."""
    return zlib.compress(to_text(runs).encode(), 9)


def unpack(stored: bytes) -> list[Run]:
    """Return the runs that `pack` made.

    Raises:
        TypeError, ValueError, zlib.error: a hand changed what was stored.
    """
    numbers = json.loads(zlib.decompress(stored))
    runs: list[Run] = []
    end = 0
    for ahead, held in zip(numbers[::2], numbers[1::2], strict=True):
        if not (isinstance(ahead, int) and isinstance(held, int) and ahead > 0 and held > 0):
            raise ValueError("not runs of positions")
        runs.append((end + ahead, end + ahead + held - 1))
        end += ahead + held - 1
    return runs
