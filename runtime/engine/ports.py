"""What the step engine needs from others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from contracts import Json, Problem, StatusReport, Step, TaskOrder
from runtime.errors import VersionConflict
from runtime.ledger.port import Append


class Delegate(Protocol):
    """Where steps go that another employee does."""

    def order_for(
        self, parent: TaskOrder, step: Step, arguments: dict[str, Json], *, index: int | None, learnt: str | None
    ) -> TaskOrder:
        """Return the order for one step (or one repetition of it), with a fresh id.

        `learnt` is what an earlier attempt failed for. Raises CapabilityFailed when nobody of that name may get it.
        """
        ...

    async def carry_out(self, order: TaskOrder) -> StatusReport:
        """Have the order done and return its report; the same order again goes on where it stood."""
        ...


@dataclass(frozen=True, slots=True)
class FilesLeft:
    """What a step left in the slot's folder, for the commit that tells how it ended."""

    appends: Sequence[Append]
    blobs: Sequence[bytes]
    stored: Callable[[], None]
    """Called once the commit is on disk."""


class SlotFiles(Protocol):
    """The files of an order's slot. What a step left there is kept in the commit that tells how the step ended."""

    async def left_by(self, step: str) -> FilesLeft | None:
        """Return what changed since the last commit, told as what this step left; None when nothing did."""
        ...

    async def catch_up(self, conflict: VersionConflict) -> None:
        """Take in what another wrote meanwhile, so that `left_by` can be asked again; raise what is not ours to mend.

        Raises:
            VersionConflict: the conflict is about another stream.
            StaleWriter: somebody else has the order now.
        """
        ...

    def problem(self, *, done: bool) -> Problem | None:
        """Return why the order must not go on, or, `done`, must not count as done; None when nothing is wrong."""
        ...
