"""The end of a process that works on executions: what is in progress ends, and everything is given back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from contracts import ExecutionId
from runtime.draining import Draining, Steps

GIVE_BACK_S = 5.0
"""How long leases may take to be given back."""

SETTLE_S = 1.0
"""How long an execution that has no step in progress gets to record that it has ended, or waits for people."""

_log = logging.getLogger(__name__)
Stretches = Mapping[ExecutionId, asyncio.Task[None]]
InHand = Mapping[ExecutionId, Steps]


async def park(
    stretches: Stretches,
    in_hand: InHand,
    *,
    draining: Draining,
    at_once: asyncio.Event,
    within_s: float,
) -> None:
    """Return when no step is in progress any more, after `within_s`, or when `at_once` is set.

    An execution that comes to its end, or to people, with its last step is recorded as such; one that waits for
    something else, such as a slot, is not waited for.
    """
    hurry = asyncio.create_task(at_once.wait())

    async def until_none(left: Callable[[Stretches, InHand], Sequence[asyncio.Task[None]]]) -> None:
        while not at_once.is_set():
            draining.changed.clear()
            waited_for = left(stretches, in_hand)
            if not waited_for:
                return
            change = asyncio.create_task(draining.changed.wait())
            await asyncio.wait({change, hurry, *waited_for}, return_when=asyncio.FIRST_COMPLETED)
            change.cancel()

    try:
        async with asyncio.timeout(within_s):
            await until_none(_busy)
            with suppress(TimeoutError):
                async with asyncio.timeout(SETTLE_S):
                    await until_none(_unparked)
    except TimeoutError:
        left = len(_busy(stretches, in_hand))
        _log.warning("%s executions have steps that did not end within %g s; they go on elsewhere", left, within_s)
    finally:
        hurry.cancel()


async def give_back(stretches: Stretches) -> None:
    """Stop whatever goes on, and give its lease back; where the ledger is away that is left to the leases' end."""
    for stretch in stretches.values():
        stretch.cancel()
    if stretches:
        await asyncio.wait(list(stretches.values()), timeout=GIVE_BACK_S)


def _busy(stretches: Stretches, in_hand: InHand) -> list[asyncio.Task[None]]:
    return [task for execution, task in stretches.items() if execution in in_hand and in_hand[execution].busy]


def _unparked(stretches: Stretches, in_hand: InHand) -> list[asyncio.Task[None]]:
    return [task for execution, task in stretches.items() if execution not in in_hand or not in_hand[execution].parked]
