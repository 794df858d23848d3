"""How one request to a model goes: what it may have taken so far, and whether it still waits for its turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from contracts import Usage

ASKED = "model.asked"
"""Streamed of a request that takes its time: the model has not answered."""
QUEUED = "model.queued"
"""Streamed of a request that waits for its turn at the model; nothing was sent."""
NOTHING = Usage()
Watch: TypeAlias = Callable[[bool], None]
"""Told each time it begins to wait (True) and each time it goes on (False)."""


class Course:
    """Kept up to date by the model while it is asked, so that however asking ends, what it took is known.

    What goes out is counted at its worst from the moment it may arrive, and settled when the endpoint told what it
    took. A request that ends in between (cut, stalled, stopped) stays counted at its worst: it may have been charged.
    """

    def __init__(self) -> None:
        self._settled = NOTHING
        self._open: Callable[[], Usage] | None = None
        self._unknown = False
        self._waiting = False
        self._since = 0.0
        self._waited_s = 0.0
        self.watch: Watch | None = None
        """Whoever has to know about the waiting, if anybody."""

    @property
    def took(self) -> Usage:
        """What was taken so far, at the most."""
        return self._settled if self._open is None else self._settled + self._open()

    @property
    def is_worst_case(self) -> bool:
        """Whether that holds a request of which nobody knows what it took."""
        return self._unknown or self._open is not None

    @property
    def waited_s(self) -> float:
        """How long it waited for its turn so far; nobody worked on it meanwhile."""
        return self._waited_s + (time.perf_counter() - self._since if self._waiting else 0.0)

    def sends(self, most: Callable[[], Usage]) -> None:
        """Count a request that goes out now at the most that it can take, beside those before.

        `most` is asked only where nobody tells what it took: to reckon it means to look through the whole request.
        """
        self._unknown = self.is_worst_case
        self._settled, self._open = self.took, most

    def settles(self, usage: Usage = NOTHING) -> None:
        """Count what the request took after all, instead."""
        self._settled, self._open = self._settled + usage, None

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Tell that in the block nothing goes on for this request; such blocks do not stand in each other."""
        self._since, self._waiting = time.perf_counter(), True
        self._tell()
        try:
            yield
        finally:
            self._waited_s, self._waiting = self.waited_s, False
            self._tell()

    def _tell(self) -> None:
        if self.watch is not None:
            self.watch(self._waiting)
