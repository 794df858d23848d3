"""How often a process looks for garbage that only a search finds."""

from __future__ import annotations

import gc

_AFTER = 100_000
"""New objects after which cycles among them are looked for. At Python's 700 a start looks a thousand times and finds
nothing, for what it makes are modules and classes; and ten thousand appends that wait at once cost twice as much. The
largest single part of a start, up to the open store, makes 80,000, and one look among them takes 15 ms."""


def look_rarely() -> None:
    """Let this process look for cycles less often than Python does by itself."""
    gc.set_threshold(_AFTER)


def pass_over_the_start() -> None:
    """Never look again through what was made so far, where this process looks rarely: modules and classes stay.

    The first look after a start takes 25 ms otherwise, in the middle of the first work. To be called after each part of
    the start that imports much.
    """
    if gc.get_threshold()[0] == _AFTER:
        gc.freeze()
