"""Event sensors: the ledger read from a stored position on, each event once, and a signal for each that matters.

The signal and the position behind its event are one commit. A server that dies before it hears the event again, one
that dies after it goes on behind it, and of two servers one is refused by the position that the other has moved.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agents.cognition.sense.causes import Causes
from agents.cognition.sense.definition import Raise
from agents.cognition.sense.event import EventDefinition, facts_of
from agents.cognition.sense.timetable import stream_of
from contracts import Event, Json, Name, Signal, SignalId, SignalKind
from runtime.bindings import resolve
from runtime.canonical import clean
from runtime.errors import SiliconError
from runtime.ledger.kept import kept_cursor
from runtime.ledger.port import Append, Cursor, Lease, Ledger, NewEvent

_PAGE = 500
_LONGEST_KEY = 500
_SAVED_EVERY = 1_000
"""Events passed over after which the position is stored although nothing mattered."""

WokenBy = Callable[[Raise], Collection[Name]]
"""Gives the employees that would get what is raised."""


@dataclass(slots=True)
class _State:
    """What is stored with the position."""

    position: int = 0
    saved: int = 0
    since: dict[Name, int] = field(default_factory=dict)
    """Sensor → position from which it listens: where the ledger ended when it was first read."""
    told: dict[Name, dict[str, Json]] = field(default_factory=dict)
    """Sensor → when it spoke last, what failed last, and how often it was held back, last for which reason."""

    def data(self) -> dict[str, Any]:
        return {"since": dict(self.since), "told": {name: dict(told) for name, told in self.told.items()}}


def cursor_of(organisation: Name) -> str:
    """Return the name under which the position is stored."""
    return f"sensors/{organisation}"


class Listening:
    """The event sensors of one organisation."""

    def __init__(
        self, ledger: Ledger, organisation: Name, definitions: Mapping[Name, EventDefinition], woken_by: WokenBy,
        *, chain_length: int,
    ) -> None:  # fmt: skip
        self._ledger = ledger
        self._organisation = organisation
        self._definitions = definitions
        self._woken_by = woken_by
        self._causes = Causes(ledger, chain_length)
        self._state: _State | None = None

    async def turn(self, now: datetime, lease: Lease | None = None) -> list[Signal]:
        """Hear everything that happened since the last turn; return the signals, which are stored by then.

        Raises:
            VersionConflict: another server was quicker; the next turn goes on where it came to.
            StaleWriter: the lease was lost.
        """
        if not self._definitions:
            return []
        try:
            return await self._hear(now, () if lease is None else (lease,))
        except BaseException:
            self._state = None  # what is stored counts
            raise

    async def _hear(self, now: datetime, leases: tuple[Lease, ...]) -> list[Signal]:
        state = self._state or await self._begin(leases)
        self._state = state
        signals: list[Signal] = []
        while page := await self._ledger.read_all(after=state.position, limit=_PAGE):
            for event in page:
                if event.organisation == self._organisation:
                    signals += await self._hear_one(state, event, now, leases)
                state.position = event.position
        if state.position - state.saved >= _SAVED_EVERY:
            await self._save(state, ())
        return signals

    async def _begin(self, leases: tuple[Lease, ...]) -> _State:
        """Return where the sensors stand; one that is new listens from the end of the ledger on."""
        name = cursor_of(self._organisation)
        stored = await kept_cursor(self._ledger, name)
        head = await self._ledger.head()
        state = _State(head, 0)
        if stored is not None:
            data = stored.data or {}
            state = _State(stored.position, stored.position, dict(data.get("since", {})), dict(data.get("told", {})))
        new = {each: head for each in self._definitions if each not in state.since}
        gone = [each for each in state.since if each not in self._definitions]
        if new or gone or stored is None:
            state.since = {each: at for each, at in {**state.since, **new}.items() if each not in gone}
            await self._save(state, ())
        return state

    async def _hear_one(
        self, state: _State, event: Event, now: datetime, leases: tuple[Lease, ...]
    ) -> list[Signal]:  # fmt: skip
        """Let every sensor hear one event; what they say about it is one commit."""
        found: list[tuple[EventDefinition, Signal, dict[str, Json]]] = []
        for definition in self._definitions.values():
            if event.position <= state.since.get(definition.name, 0) or not definition.hears(event):
                continue
            said = await self._said(state, definition, event, now)
            if said is not None:
                found.append((definition, *said))
        if not found:
            return []
        appends = [await self._append(definition, data, leases) for definition, _, data in found]
        state.position = event.position
        await self._save(state, appends)
        return [signal for _, signal, _ in found]

    async def _said(
        self, state: _State, definition: EventDefinition, event: Event, now: datetime
    ) -> tuple[Signal, dict[str, Json]] | None:
        """Return what a sensor says about an event that it hears, or None."""
        told = state.told.setdefault(definition.name, {})
        try:
            if not definition.matters(event):
                return None
            woken = () if definition.raises is None else self._woken_by(definition.raises)
            why_not = await self._causes.why_not(event, definition.name, woken)
            if why_not is not None:
                told |= {"held_back": int(str(told.get("held_back", 0))) + 1, "held_back_for": why_not}
                return None
            data = await self._data(definition, event, now)
        except SiliconError as error:
            told |= {"failed_at": clean(now), "problem": error.problem().to_json()}
            return None
        told["at"] = clean(now)
        return Signal.read(data["signal"]), data  # type: ignore[arg-type]

    async def _data(self, definition: EventDefinition, event: Event, now: datetime) -> dict[str, Json]:
        roots = {**facts_of(event), "sensor": definition.name}
        key = str(resolve(definition.key, roots))[:_LONGEST_KEY]
        signal = Signal(
            signal_id=SignalId.new(),
            organisation=self._organisation,
            sensor=definition.name,
            kind=SignalKind.EVENT,
            threshold=definition.when,
            severity=definition.severity,
            key=f"{definition.name}:{key}",
            dimensions={"key": key},
            at=event.time,
        )
        data: dict[str, Json] = {
            "signal": signal.to_json(),
            "slice": "all",
            "at": clean(now),
            "event": {"position": event.position, "type": event.type, "subject": event.subject},
            "caused_by": list(await self._causes.chain(event) or ()),
        }
        if definition.raises is not None:
            data["goal"] = {
                "goal": str(resolve(definition.raises.goal, roots)),
                "with": resolve(clean(definition.raises.parameters), roots),
            }
        return data

    async def _append(self, definition: EventDefinition, data: dict[str, Json], leases: tuple[Lease, ...]) -> Append:
        stream = stream_of(self._organisation, definition.name)
        newest = await self._ledger.read_newest(stream)
        source = f"/organisation/{self._organisation}/sensor/{definition.name}"
        version = newest[0].stream_version if newest else 0
        return Append(
            stream, (NewEvent("signal.raised", data),), version, self._organisation, source, leases=leases
        )  # fmt: skip

    async def _save(self, state: _State, appends: Collection[Append]) -> None:
        cursor = Cursor(cursor_of(self._organisation), state.position, state.saved, state.data())
        await self._ledger.append(*appends, cursors=[cursor])
        state.saved = state.position
