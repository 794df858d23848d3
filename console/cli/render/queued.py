"""What is waited for and no event tells, slots above all: said after a while, and again when it changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from rich.text import Text

from console.cli.render.marks import icon
from console.cli.words import one_line, seconds
from console.ports_executions import Executions
from console.progress import Progress
from console.views import ModelAsked
from console.views_cluster import HostsRow, QueuedOrder
from contracts import OrderState
from runtime.errors import LedgerUnavailable
from runtime.texts import Say

LOOK_S = 1.0
"""How often the queue is looked at while a command follows an execution."""
PATIENCE = timedelta(seconds=2)
"""Who waits for less is not worth a line."""
AGAIN = timedelta(seconds=30)
"""How often it is said at most that others went ahead meanwhile."""
WHY = 200
"""Letters of a reason in a line."""
SHOWN = 3
"""Orders, or steps, that are shown where there is little room."""
LOOKED_AT = 200
"""Orders at work whose models are looked at: more are shown to nobody."""


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


@dataclass(frozen=True, slots=True)
class Waits:
    """What an execution waits for that is no event."""

    at: datetime
    queued: Sequence[QueuedOrder] = ()
    """Orders that have waited for a slot for a while."""
    hosts: HostsRow | None = None
    """That hosts of employees do not start so far."""
    asked: Sequence[tuple[str, ModelAsked]] = ()
    """Steps whose model takes its time, by their place."""


def waits_lines(waits: Waits, say: Say) -> Iterator[Text]:
    """Yield the lines that say what is waited for."""
    if waits.hosts is not None:
        yield hosts_line(waits.hosts, say)
    yield from queued_lines(waits.queued, say)
    yield from (asked_line(place, asked, waits.at, say) for place, asked in waits.asked[:SHOWN])
    if len(waits.asked) > SHOWN:
        yield Text.assemble("  ", (say("asked-more", count=len(waits.asked) - SHOWN), "dim"))


def asked_line(place: str, asked: ModelAsked, now: datetime, say: Say) -> Text:
    """Return the line that says that a step asks its model, and for how long it has."""
    return Text.assemble(icon("running"), f" {place}  ", (asked_words(asked, now, say), "dim"))


def asked_words(asked: ModelAsked, now: datetime, say: Say) -> str:
    """Return that a model is being asked, which, and for how long."""
    long = seconds(max(0.0, (now - asked.since).total_seconds()))
    return say("asked-waits" if asked.waits else "asked-model", model=asked.model, role=asked.role, long=long)


def hosts_line(hosts: HostsRow, say: Say) -> Text:
    """Return the line that says that hosts do not start so far."""
    words = say("hosts-awaited", tried=hosts.tried, tries=hosts.tries, why=one_line(hosts.why, WHY))
    return Text.assemble(icon("pending"), " ", (words, "dim"))


class WaitsTold:
    """What was said already, where each line stays."""

    def __init__(self) -> None:
        self._queued: dict[str, tuple[QueuedOrder, datetime]] = {}
        self._hosts: HostsRow | None = None
        self._asked: dict[ModelAsked, datetime] = {}

    def news(self, waits: Waits) -> Waits:
        """Return what of it is to be said now."""
        told, orders, now = self._queued, waits.queued, waits.at
        self._queued = {order.order_id: told[order.order_id] for order in orders if order.order_id in told}
        queued = [order for order in orders[:SHOWN] if self._is_new(order, now)]
        self._queued.update({order.order_id: (order, now) for order in queued})
        before, self._hosts = self._hosts, waits.hosts
        return Waits(now, queued, None if waits.hosts == before else waits.hosts, self._asked_news(waits))

    def _asked_news(self, waits: Waits) -> Sequence[tuple[str, ModelAsked]]:
        now, told = waits.at, self._asked
        self._asked = {sign: told[sign] for _, sign in waits.asked if sign in told}
        news = [each for each in waits.asked[:SHOWN] if now - self._asked.get(each[1], now - AGAIN) >= AGAIN]
        self._asked.update({sign: now for _, sign in news})
        return news

    def _is_new(self, order: QueuedOrder, now: datetime) -> bool:
        if order.order_id not in self._queued:
            return True
        before, at = self._queued[order.order_id]
        if (before.waits_for, before.missing) != (order.waits_for, order.missing):
            return True
        return before.ahead != order.ahead and now - at >= AGAIN


async def look_at_waits(executions: Executions, progress: Progress, told: Callable[[Waits], None]) -> None:
    """Tell for ever what the execution waits for: hosts of employees, and slots once it has been for a while."""
    while True:
        await asyncio.sleep(LOOK_S)
        now = datetime.now(UTC)
        queued: Sequence[QueuedOrder] = ()
        asked: Sequence[ModelAsked] = ()
        if progress.execution_id is not None:
            try:
                queued = await executions.queued_orders(progress.execution_id)
                at_work = [order.order_id for order in progress.orders() if order.state is OrderState.RUNNING]
                asked = await executions.models_asked(*at_work[:LOOKED_AT])
            except LedgerUnavailable:  # whoever works on the execution tells that; the next look tells the rest
                continue
        patient = [order for order in queued if now - order.since >= PATIENCE]
        going_on = [(progress.take_in(sign), sign) for sign in asked if progress.holds(sign)]
        told(Waits(now, patient, executions.hosts_awaited(), going_on))
