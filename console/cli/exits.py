"""Exit codes, the same for every command."""

from __future__ import annotations

from enum import IntEnum

from contracts import OrderState


class Exit(IntEnum):
    """How a command ended."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    WAITING = 3


def exit_of(state: OrderState) -> Exit:
    """Return the exit code of a command that ran an execution which now is in `state`."""
    match state:
        case OrderState.DONE:
            return Exit.DONE
        case OrderState.WAITING:
            return Exit.WAITING
        case _:
            return Exit.FAILED
