"""How the run of one order stands as a whole."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from runtime.engine.pace import Pace


@dataclass(slots=True)
class Flow:
    """What all parts of one run move together, whatever branch they are in."""

    closing: bool = False
    """Whether nothing new begins."""
    broken: bool = False
    """Whether it closed before anything began, because what it rests on is not as it was left."""
    beside: int = 0
    """Tasks of this run that go on side by side; what they write may share a commit. None of them: 0."""
    pace: Pace = field(default_factory=Pace)
    """How many steps of the plan may be in progress at once."""

    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while people are asked about a call to which we were not let in, so that many such calls make one card."""

    @contextmanager
    def side_by_side(self, tasks: int) -> Iterator[None]:
        """Count these tasks in as long as they go on."""
        self.beside += tasks
        try:
            yield
        finally:
            self.beside -= tasks
