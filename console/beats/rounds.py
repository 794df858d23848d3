"""When a round of the heartbeat begins: whenever there is something to say, and no sooner than the last one acted.

A round without anything to say is not recorded: of those only a count is kept. A round is an execution like any other;
its request and the position with which it begins are one commit, so that no signal is in two rounds or in none.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from agents.cognition.heartbeat.noticed import RAISED
from agents.cognition.heartbeat.phases import Desk
from agents.cognition.heartbeat.specs import round_plan
from agents.cognition.sense.causes import HEARTBEAT
from console.beats.asking import Asking
from contracts import Event, ExecutionRequest, Name
from runtime.canonical import clean
from runtime.errors import SiliconError
from runtime.executor import Submitted
from runtime.executor.register import Register
from runtime.ledger.kept import kept_cursor
from runtime.ledger.port import Append, Cursor, Lease, Ledger, NewEvent
from runtime.settings.heartbeat import HeartbeatSettings

BEGUN = "round.begun"
"""A round begins: it takes in what lies behind `after`, up to `until`."""
STANDING = "round.standing"
"""Rounds begin here: nothing before `until` is taken in."""
JUDGED = "promise.judged"
_PAGE = 200
_AGAIN_AFTER = 10
"""A round that failed is begun again after so many times the interval: what makes it fail is mended by people."""


@dataclass(frozen=True, slots=True)
class Stood:
    """How far rounds have come, told by the newest event of their stream."""

    version: int = 0
    until: int | None = None
    """Position up to which everything was acted on; None before the first look."""
    waiting: tuple[int, ...] = ()
    key: str | None = None
    """Of the round that was begun and has not acted yet."""

    @classmethod
    def of(cls, event: Event | None) -> Stood:
        """Return what the newest event tells."""
        if event is None or event.data is None:
            return cls(0 if event is None else event.stream_version)
        data: dict[str, Any] = dict(event.data)
        waiting = tuple(int(each) for each in data.get("waiting") or ())
        if event.type == BEGUN:
            return cls(event.stream_version, int(data["after"]), waiting, str(data["key"]))
        return cls(event.stream_version, int(data["until"]), waiting)


class Rounds:
    """The rounds of one organisation."""

    def __init__(
        self, ledger: Ledger, organisation: Name, register: Register, *, settings: HeartbeatSettings,
        language: str = "en",
    ) -> None:  # fmt: skip
        self._ledger = ledger
        self._organisation = organisation
        self._register = register
        self._settings = settings
        self._language = language
        self._looked_at: datetime | None = None
        self._evaluated_at: datetime | None = None
        self._stands = False
        self._quiet_until = 0
        """Position up to which nothing was found that a round would be about."""

    def due(self, on: datetime, every_s: float) -> bool:
        """Whether it is time to look again."""
        return self._looked_at is None or not 0 <= (on - self._looked_at).total_seconds() < every_s

    async def stand(self, lease: Lease) -> None:
        """Let rounds begin here where there never was one: call it before sensors speak for the first time."""
        if self._stands:
            return
        stood = await self._stood()
        if stood.until is None:
            head = await self._ledger.head()
            await self._ledger.append(self._append(STANDING, {"until": head}, stood.version, lease))
        self._stands = True

    async def look(
        self, at: datetime, on: datetime, desk: Desk, *, asking: Asking, lease: Lease, every_s: float
    ) -> Submitted | None:
        """Begin a round where there is something to say; return its execution, or None.

        Raises:
            VersionConflict: another process began one meanwhile.
            StaleWriter: the lease was lost.
        """
        self._looked_at = on
        stood = await self._stood()
        assert stood.until is not None, "rounds stand somewhere before the first look"
        if stood.key is not None and await self._goes_on(stood.key, on, every_s):
            return None
        await desk.alerts().tick(at)
        await self._evaluate(at, on, desk)
        until = await self._until(stood)
        if until is None and not stood.waiting:
            await self._quiet(on)
            return None
        return await self._begin(stood, until or stood.until, at, asking, lease)

    async def _stood(self) -> Stood:
        newest = await self._ledger.read_newest(f"heartbeat/{self._organisation}")
        return Stood.of(newest[0] if newest else None)

    async def _goes_on(self, key: str, on: datetime, every_s: float) -> bool:
        """Whether the round is still at work. One that failed acted on nothing: its signals come again."""
        execution_id = await self._register.find(self._organisation, key)
        if execution_id is None:
            return False
        try:
            view = await self._register.view(execution_id)
        except SiliconError:  # it was pruned
            return False
        ended = view.finished_at
        return ended is None or 0 <= (on - ended).total_seconds() < _AGAIN_AFTER * every_s

    async def _evaluate(self, at: datetime, on: datetime, desk: Desk) -> None:
        """Let promises be judged every so often; what is judged is an event, and so something to say."""
        every = timedelta(seconds=self._settings.evaluate_s)
        if self._evaluated_at is not None and timedelta(0) <= on - self._evaluated_at < every:
            return
        self._evaluated_at = on
        found = desk.evaluator()
        if found is not None:
            await found.due(at)

    async def _until(self, stood: Stood) -> int | None:
        """Return the position of the last thing that the next round takes in; None where there is nothing new."""
        assert stood.until is not None, "it is asked for once rounds have begun"
        after, left, until = max(stood.until, self._quiet_until), self._settings.signals, None
        head = await self._ledger.head()
        while left > 0 and after < head:
            page = await self._ledger.read_all(after=after, until=head, limit=_PAGE, types=(RAISED, JUDGED))
            for event in page:
                if event.organisation == self._organisation and left > 0:
                    left, until = left - 1, event.position
            after = page[-1].position if len(page) == _PAGE else head
        if until is None:
            self._quiet_until = head
        return until

    async def _begin(self, stood: Stood, until: int, at: datetime, asking: Asking, lease: Lease) -> Submitted:
        assert stood.until is not None, "it is asked for once rounds have begun"
        key = f"heartbeat:{until}:{stood.version}"
        request = ExecutionRequest(
            organisation=self._organisation,
            goal="Heartbeat: observe, orient, decide, act, evaluate",
            plan=round_plan(),
            parameters={"after": stood.until, "until": until, "waiting": list(stood.waiting)},
            idempotency_key=key,
            requested_by=f"{HEARTBEAT}{self._organisation}",
            known_at=at,
            language=self._language,
        )
        data = {"after": stood.until, "until": until, "waiting": list(stood.waiting), "key": key, "at": clean(at)}
        return await asking.submit_round(request, (self._append(BEGUN, data, stood.version, lease),))

    def _append(self, type_: str, data: dict[str, Any], version: int, lease: Lease) -> Append:
        stream, source = f"heartbeat/{self._organisation}", f"/organisation/{self._organisation}/heartbeat"
        return Append(stream, (NewEvent(type_, data),), version, self._organisation, source, leases=(lease,))

    async def _quiet(self, on: datetime) -> None:
        """Count a look that found nothing to say."""
        name = quiet_cursor(self._organisation)
        stored = await kept_cursor(self._ledger, name)
        before = dict(stored.data or {}) if stored is not None else {}
        data = {"quiet": int(before.get("quiet", 0)) + 1, "since": before.get("since", clean(on)), "at": clean(on)}
        await self._ledger.append(cursors=[Cursor(name, 0, None, data)])


def quiet_cursor(organisation: Name) -> str:
    """Return the name under which looks that found nothing are counted."""
    return f"heartbeat/{organisation}"
