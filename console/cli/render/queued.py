"""Orders that wait for a slot: said once they have waited for a while, and again when it changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from rich.text import Text

from console.cli.render.marks import icon
from console.ports_executions import Executions
from console.progress import Progress
from console.views_cluster import QueuedOrder
from runtime.errors import LedgerUnavailable
from runtime.texts import Say

LOOK_S = 1.0
"""How often the queue is looked at while a command follows an execution."""
PATIENCE = timedelta(seconds=2)
"""Who waits for less is not worth a line."""
AGAIN = timedelta(seconds=30)
"""How often it is said at most that others went ahead meanwhile."""
SHOWN = 3
"""Orders that are shown where there is little room."""


def queued_words(order: QueuedOrder, say: Say) -> str:
    """Return what an order waits for."""
    names = ", ".join(order.missing)
    return say(f"queued-{order.waits_for.value}", ahead=order.ahead, names=names, count=len(order.missing))


def queued_line(order: QueuedOrder, say: Say) -> Text:
    """Return the line that says who waits for what."""
    return Text.assemble(icon("pending"), f" {order.place}  ", (queued_words(order, say), "dim"))


def queued_lines(orders: Sequence[QueuedOrder], say: Say) -> Iterator[Text]:
    """Yield a line for each of the first that wait, and how many more do."""
    yield from (queued_line(order, say) for order in orders[:SHOWN])
    if len(orders) > SHOWN:
        yield Text.assemble("  ", (say("queued-more", count=len(orders) - SHOWN), "dim"))


class QueuedTold:
    """What was said already of those that wait, where each line stays."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[QueuedOrder, datetime]] = {}

    def news(self, orders: Sequence[QueuedOrder], now: datetime) -> list[QueuedOrder]:
        """Return those of which something is to be said now."""
        self._told = {order.order_id: self._told[order.order_id] for order in orders if order.order_id in self._told}
        new = [order for order in orders[:SHOWN] if self._is_new(order, now)]
        self._told.update({order.order_id: (order, now) for order in new})
        return new

    def _is_new(self, order: QueuedOrder, now: datetime) -> bool:
        if order.order_id not in self._told:
            return True
        before, at = self._told[order.order_id]
        if (before.waits_for, before.missing) != (order.waits_for, order.missing):
            return True
        return before.ahead != order.ahead and now - at >= AGAIN


async def look_at_queue(
    executions: Executions, progress: Progress, told: Callable[[Sequence[QueuedOrder], datetime], None]
) -> None:  # fmt: skip
    """Tell for ever which orders of the execution wait for a slot, those that have for a while."""
    while True:
        await asyncio.sleep(LOOK_S)
        if progress.execution_id is None:
            continue
        now = datetime.now(UTC)
        try:
            queued = await executions.queued_orders(progress.execution_id)
        except LedgerUnavailable:  # whoever works on the execution tells that; the next look tells the rest
            continue
        told([order for order in queued if now - order.since >= PATIENCE], now)
