"""How much of the work advances a goal, and how much looks after the organisation itself: counted, and bounded.

Work of people counts for a goal: they say what they want. What sensors ask for counts by what the sensor says that it
advances (`raises.advances`), which only a person writes: no agent can declare its own work to be useful. Rounds of the
heartbeat are counted apart; they are bounded by being recorded only when there is something to say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from agents.cognition.sense.causes import HEARTBEAT, SENSOR
from contracts import Event, ExecutionRequest, Name
from runtime.errors import BusinessRefusal
from runtime.ledger.kept import kept_cursor
from runtime.ledger.port import Cursor, Ledger
from runtime.settings.heartbeat import HeartbeatSettings

REFUSED = "goal.refused"
"""A goal of a signal was not begun, because there was meta work enough."""
_TYPES = frozenset({"execution.requested", "order.accepted", "sensor.due", REFUSED})
_PAGE = 1_000
_KEPT_DAYS = 400
_KEPT_OTHERS = 5_000


class MetaRefused(BusinessRefusal):
    """There was as much meta work as is allowed; nothing was begun."""

    code = "META_BOUND"


@dataclass(frozen=True, slots=True)
class Counts:
    """Work that was begun."""

    goal: int = 0
    """Executions that advance a goal."""
    meta: int = 0
    """Executions that look after the organisation itself."""
    rounds: int = 0
    """Rounds of the heartbeat that had something to say."""
    goal_orders: int = 0
    """Orders of those that advance a goal."""
    meta_orders: int = 0
    refused: int = 0
    """Meta work that was not begun."""

    def plus(self, other: Counts) -> Counts:
        """Return both together."""
        return Counts(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    def to_data(self) -> dict[str, int]:
        """Return it as it is stored; what is zero is left out."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name))}


@dataclass(slots=True)
class _Book:
    position: int = 0
    saved: int = 0
    days: dict[str, Counts] = field(default_factory=dict)
    others: dict[str, str] = field(default_factory=dict)
    """Execution → `meta` or `rounds`, of those that do not advance a goal, the newest ones."""


class WorkBook:
    """The counts of one organisation, folded from its events day by day (UTC).

    What is stored of it is derived: without it everything is counted anew.
    """

    def __init__(self, ledger: Ledger, organisation: Name, settings: HeartbeatSettings) -> None:
        self._ledger = ledger
        self._organisation = organisation
        self._settings = settings
        self._book: _Book | None = None
        self._turn = asyncio.Lock()
        """Sensors that are due together ask at once: two that read on from one position would count all twice."""

    async def counts(self, now: datetime) -> Counts:
        """Return what was begun in the days that count (`heartbeat.window_days`), today the last of them."""
        first = (now - timedelta(days=self._settings.window_days - 1)).date().isoformat()
        return _sum({day: counts for day, counts in (await self.days()).items() if day >= first})

    async def days(self) -> Mapping[str, Counts]:
        """Return what was begun, by day, oldest first."""
        async with self._turn:
            book = await self._read_on()
        return dict(sorted(book.days.items()))

    def most(self, counts: Counts) -> int:
        """Return how much meta work may be begun where so much else was."""
        return max(self._settings.meta_least, int(self._settings.meta_share * counts.goal))

    async def require_room(self, request: ExecutionRequest, now: datetime) -> None:
        """Return when what a sensor asks for may be begun.

        Raises:
            MetaRefused: it is meta work, and there was as much of that as is allowed.
        """
        if request.advances is not None:
            return
        counts = await self.counts(now)
        most, days = self.most(counts), self._settings.window_days
        if counts.meta < most:
            return
        raise MetaRefused(
            f"“{request.goal[:200]}” advances no goal, and {counts.meta} such works were begun in {days} days beside "
            f"{counts.goal} that do; {most} are allowed (`heartbeat.meta_share`, `heartbeat.meta_least`). Nothing was "
            "begun. Let the sensor name the goal that it advances, have it ask less often, or allow more.",
            sensor=request.requested_by, meta=counts.meta, goal=counts.goal, most=most, days=days,
        )  # fmt: skip

    async def _read_on(self) -> _Book:
        book = self._book or await self._stored()
        self._book = book
        head = await self._ledger.head()
        while book.position < head:
            page = await self._ledger.read_all(after=book.position, until=head, limit=_PAGE, types=_TYPES)
            for event in page:
                if event.organisation == self._organisation:
                    _count(book, event)
            book.position = page[-1].position if len(page) == _PAGE else head
        if book.position - book.saved >= _PAGE:
            await self._save(book)
        return book

    async def _stored(self) -> _Book:
        name = f"work/{self._organisation}"
        stored = await kept_cursor(self._ledger, name)
        if stored is None or stored.data is None:
            return _Book()
        days = {day: Counts(**counts) for day, counts in stored.data["days"].items()}
        return _Book(stored.position, stored.position, days, dict(stored.data["others"]))

    async def _save(self, book: _Book) -> None:
        days = dict(sorted(book.days.items())[-_KEPT_DAYS:])
        book.days, book.others = days, dict(list(book.others.items())[-_KEPT_OTHERS:])
        data: dict[str, Any] = {"days": {day: each.to_data() for day, each in days.items()}, "others": book.others}
        await self._ledger.append(cursors=[Cursor(f"work/{self._organisation}", book.position, None, data)])
        book.saved = book.position


def _count(book: _Book, event: Event) -> None:
    """Take one event into the book."""
    one = _one(book, event)
    if one is not None:
        day = event.time.date().isoformat()
        book.days[day] = book.days.get(day, Counts()).plus(one)


def _one(book: _Book, event: Event) -> Counts | None:
    data = event.data or {}
    match event.type:
        case "execution.requested":
            request = data.get("request")
            kind = _kind(request if isinstance(request, dict) else {})
            if kind != "goal":
                book.others[event.subject] = kind
            return Counts(**{kind: 1})
        case "order.accepted":
            kind = book.others.get(str(event.execution_id), "goal")
            return None if kind == "rounds" else Counts(**{f"{kind}_orders": 1})
        case "goal.refused":
            return Counts(refused=1)
    problem = data.get("problem")
    refused = isinstance(problem, dict) and problem.get("code") == MetaRefused.code
    return Counts(refused=1) if refused else None


def _kind(request: Mapping[str, Any]) -> str:
    """Return whose work a request is: `goal`, `meta` or `rounds`."""
    asked_by = str(request.get("requested_by", ""))
    if asked_by.startswith(HEARTBEAT):
        return "rounds"
    return "meta" if asked_by.startswith(SENSOR) and request.get("advances") is None else "goal"


def _sum(days: Mapping[str, Counts]) -> Counts:
    total = Counts()
    for counts in days.values():
        total = total.plus(counts)
    return total
