"""What the executor runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from contracts import ExecutionId, ExecutionRequest, OrderId, StatusReport
from runtime.executor.view import root_order_id
from runtime.ledger.port import Lease


@dataclass(frozen=True, slots=True)
class ExecutionRun:
    """One stretch of work on an execution: from its start, or from where it was left."""

    execution_id: ExecutionId
    request: ExecutionRequest
    organisation_sha256: str
    """Blob of the organisation as it was pinned at the start."""
    home: Path
    """The organisation's folder."""
    trace_id: str
    resumed: bool
    """Whether there was a stretch before this one: fold the orders' streams before acting."""
    reopened: bool
    """Whether it had ended with a failure or at a limit: orders that ended so go on where they stopped."""
    leases: tuple[Lease, ...]
    """What every append of this stretch has to carry."""
    cancelled: Callable[[], bool]
    """Whether somebody asked for the execution to stop; ask before each step."""

    @property
    def root_order_id(self) -> OrderId:
        """The id that the head employee's order bears, so that a resumed stretch finds it."""
        return root_order_id(self.execution_id)


class Body(Protocol):
    """The work itself; wiring hands in the workforce."""

    async def run(self, run: ExecutionRun) -> StatusReport:
        """Work until nothing more can be done now, and report: final, or waiting for people.

        May be called again for the same execution after a crash, a cancelled wait or an answer: what the ledger holds
        as finished is not done again.
        """
        ...
