"""What the step engine needs from others."""

from __future__ import annotations

from typing import Protocol

from contracts import Json, StatusReport, Step, TaskOrder


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
