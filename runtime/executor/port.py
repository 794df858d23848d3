"""What the executor runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from contracts import CardId, ExecutionId, ExecutionRequest, OrderId, QuestionId, StatusReport
from runtime.draining import Steps
from runtime.executor.view import ExecutionView, root_order_id
from runtime.known import Known
from runtime.ledger.grip import StillHeld, always
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
    cancelled_branches: Callable[[], Collection[str]] = tuple
    """Branches of parallel groups that somebody asked to stop, by name."""
    still_held: StillHeld = always
    """Ask before each effect: returns when the execution is surely still this process's, raises StaleWriter else."""
    steps: Steps = field(default_factory=Steps)
    """Around each step: one that would begin while the process drains is held back."""
    models: Mapping[str, str] = field(default_factory=dict)
    """Role → the model that was pinned for it."""
    known: Known = field(default_factory=Known)
    """What this process knows of the stretch's orders without reading them."""

    @classmethod
    def of(
        cls, view: ExecutionView, *, leases: tuple[Lease, ...], cancelled: Callable[[], bool], resumed: bool = True,
        reopened: bool = False, cancelled_branches: Callable[[], Collection[str]] = tuple,
        still_held: StillHeld = always, steps: Steps | None = None,
    ) -> ExecutionRun:  # fmt: skip
        """Return a stretch of the execution that the view shows, with what was pinned for it."""
        return cls(
            execution_id=view.execution_id,
            request=view.request,
            organisation_sha256=view.organisation_sha256,
            home=view.home,
            trace_id=view.trace_id,
            models=view.models,
            resumed=resumed,
            reopened=reopened,
            leases=leases,
            cancelled=cancelled,
            cancelled_branches=cancelled_branches,
            still_held=still_held,
            steps=steps or Steps(),
        )

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


class Asked(Protocol):
    """What people were asked, in all organisations: cards and questions."""

    async def judge_deadlines(self) -> None:
        """Let every deadline that has passed have its effect. One that cannot be judged does not hinder the others."""
        ...

    async def settled(self, asked: Sequence[CardId | QuestionId], *, after: int) -> bool:
        """Whether one of them was decided, answered, withdrawn or expired after the position `after`."""
        ...
