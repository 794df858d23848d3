"""What went wrong: the ledger was away, an execution raised. Told once, tried again with growing waits, for ever."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection

from contracts import ExecutionId
from runtime.errors import LedgerUnavailable

FIRST_WAIT_S = 0.25
"""Wait after the ledger was first found away."""
_DOUBLED = 6
"""How often the wait before an execution that raised is doubled at most."""

_log = logging.getLogger(__name__)


class Setbacks:
    """Of one service. `most_s` is the longest wait for the ledger, and the first one for an execution."""

    def __init__(self, most_s: float) -> None:
        self._most_s = most_s
        self._wait_s = 0.0
        self._raised: dict[ExecutionId, tuple[int, float]] = {}
        """Execution → how often it raised one after the other, and from when on it is tried again."""

    @property
    def ledger_is_away(self) -> bool:
        """Whether the ledger did not answer when it was last asked."""
        return self._wait_s > 0

    def note_away(self, error: LedgerUnavailable) -> float:
        """Return how long to wait before the ledger is asked again."""
        if not self.ledger_is_away:
            _log.warning("the ledger is away; executions go on when it is back: %s", error.message)
        self._wait_s = min(2 * self._wait_s or FIRST_WAIT_S, self._most_s)
        return self._wait_s

    def note_there(self) -> None:
        """The ledger answered."""
        if self.ledger_is_away:
            _log.warning("the ledger is back")
        self._wait_s = 0.0

    def note_raised(self, execution_id: ExecutionId) -> None:
        """Leave the execution alone for a while, longer each time."""
        times, _ = self._raised.get(execution_id, (0, 0.0))
        wait_s = self._most_s / 2 * 2 ** min(times, _DOUBLED)
        self._raised[execution_id] = times + 1, asyncio.get_running_loop().time() + wait_s

    def note_ended(self, execution_id: ExecutionId) -> None:
        """The execution was worked on without raising."""
        self._raised.pop(execution_id, None)

    def forget_others(self, unfinished: Collection[ExecutionId]) -> None:
        """Keep what is known of these executions only."""
        self._raised = {each: raised for each, raised in self._raised.items() if each in unfinished}

    def puts_off(self, execution_id: ExecutionId) -> bool:
        """Whether the execution is left alone for now."""
        _, until = self._raised.get(execution_id, (0, 0.0))
        return asyncio.get_running_loop().time() < until
