"""The profiles of one organisation: one stream of the ledger for each person, read on from where it was read last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from contracts import Event, Name
from memory.conversations import Turn
from memory.personal.noticing import Notice
from memory.personal.profile import Observation, Profile, folded, own_name
from memory.personal.traits import checked
from runtime.canonical import clean_text, sha256
from runtime.clock import Clock
from runtime.errors import NotFound, VersionConflict
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import MemorySettings

KIND = "profile"
NOTICED, SET, FORGOTTEN = "profile.noticed", "profile.set", "profile.forgotten"
_TRIES = 5
_KEPT = 1_000


@dataclass(slots=True)
class _Known:
    """What a process has read of a person."""

    version: int = 0
    seen: list[Observation] = field(default_factory=list)
    own: dict[str, str] = field(default_factory=dict)
    turns: set[tuple[str, int]] = field(default_factory=set)


class ProfileBook:
    """Profiles. Their words can be erased one by one or all together."""

    def __init__(self, store: SqlStore, organisation: Name, *, clock: Clock, settings: MemorySettings) -> None:
        self._store = store
        self._organisation = organisation
        self._clock = clock
        self._settings = settings
        self._known: dict[str, _Known] = {}

    async def get(self, person: str) -> Profile:
        """Return what is known of a person by now."""
        known = await self._read(person)
        return folded(person, known.seen, known.own, self._clock.now(), self._settings, events=known.version)

    async def notice(self, person: str, turn: Turn, notices: Sequence[Notice]) -> bool:
        """Keep what a turn tells; the same turn once, however often it is read."""
        for _ in range(_TRIES):
            known = await self._read(person)
            if not notices or (turn.conversation, turn.number) in known.turns:
                return False
            told = [{"trait": each.trait, "value": clean_text(each.value), "weight": each.weight, "why": each.why}
                    for each in notices]  # fmt: skip
            data = {
                "person": person, "conversation": turn.conversation, "turn": turn.number,
                "at": turn.at.isoformat(), "notices": told,
            }  # fmt: skip
            if await self._append(person, NOTICED, data, known.version):
                return True
        raise _too_many(person)

    async def set(self, person: str, trait: str, value: str) -> Profile:
        """Let a person say themselves how it is: that beats what was noticed, and does not fade.

        Raises:
            InvalidArguments: there is no such trait or value, or it names a role.
        """
        term, sign, kind = value.partition("=")
        plain = checked(trait, term if trait == "term" else value)
        value = f"{plain}={kind or 'known'}" if trait == "term" else plain
        if trait == "term" and sign and kind not in ("known", "to explain"):
            checked("depth", kind)  # tells that there is no such value
        await self._change(person, SET, {"trait": trait, "value": value})
        return await self.get(person)

    async def forget(self, person: str, trait: str, value: str) -> Profile:
        """Erase what was noticed or set of one trait and value; it may be noticed again.

        Raises:
            NotFound: nothing is known of it.
        """
        found = 0
        for event in await self._store.ledger.read(self._stream(person)):
            data = event.data
            if data is None or not _tells(event, trait, value):
                continue
            found += 1
            rest = [each for each in data.get("notices", ()) if (each["trait"], each["value"]) != (trait, value)]  # type: ignore
            if rest:
                await self._change(person, NOTICED, {**data, "notices": rest})
            await self._store.ledger.erase(event.subject, event.stream_version)
        if not found:
            raise NotFound(f"Nothing is known of {trait} {value!r}.", trait=trait, value=value)
        await self._change(person, FORGOTTEN, {"trait": trait})
        self._known.pop(person, None)
        await self._store.reader.flush_erased()
        return await self.get(person)

    async def erase(self, person: str) -> int:
        """Erase everything that is known of a person; return how many events lost their words."""
        gone = 0
        for event in await self._store.ledger.read(self._stream(person)):
            if event.data is not None:
                await self._store.ledger.erase(event.subject, event.stream_version)
                gone += 1
        self._known.pop(person, None)
        if gone:
            await self._store.reader.flush_erased()
        return gone

    async def _read(self, person: str) -> _Known:
        known, stream = self._known.get(person, _Known()), self._stream(person)
        events = await self._store.ledger.read(stream, after_version=known.version)
        if known.version and await self._forgotten(stream, events):
            known = _Known()
            events = await self._store.ledger.read(stream)
        for event in events:
            if event.stream_version > known.version:  # another reader of this process may have been quicker
                known.version = event.stream_version
                if event.data is not None:
                    _take_in(known, event)
        self._known[person] = known
        while len(self._known) > _KEPT:
            self._known.pop(next(iter(self._known)))
        return known

    async def _forgotten(self, stream: str, events: Sequence[Event]) -> bool:
        """Whether something that was read before may have been erased since."""
        if events:
            return any(event.type == FORGOTTEN or event.data is None for event in events)
        newest = await self._store.ledger.read_newest(stream)
        return not newest or newest[0].data is None

    async def _change(self, person: str, kind: str, data: dict[str, Any]) -> None:
        for _ in range(_TRIES):
            known = await self._read(person)
            if await self._append(person, kind, {"person": person, **data}, known.version):
                return
        raise _too_many(person)

    async def _append(self, person: str, kind: str, data: dict[str, Any], expected: int) -> bool:
        source = f"/organisation/{self._organisation}/memory"
        event = NewEvent(kind, data)
        try:
            await self._store.ledger.append(Append(self._stream(person), [event], expected, self._organisation, source))
        except VersionConflict:
            return False
        return True

    def _stream(self, person: str) -> str:
        return f"{KIND}/{self._organisation}/{sha256(person)[:32]}"


def _take_in(known: _Known, event: Event) -> None:
    data: Any = event.data
    if event.type == NOTICED:
        at = datetime.fromisoformat(data["at"])
        place = str(data["conversation"]), int(data["turn"])
        if place in known.turns:  # told again without what was forgotten: a process may have died before the erasure
            known.seen = [each for each in known.seen if (each.conversation, each.turn) != place]
        known.turns.add(place)
        known.seen += [
            Observation(each["trait"], each["value"], float(each["weight"]), each["why"], at, *place)
            for each in data["notices"]
        ]
    elif event.type == SET:
        known.own[own_name(data["trait"], data["value"])] = data["value"]


def _tells(event: Event, trait: str, value: str) -> bool:
    data: Any = event.data
    if event.type == NOTICED:
        return any((each["trait"], each["value"]) == (trait, value) for each in data["notices"])
    return event.type == SET and (data["trait"], data["value"]) == (trait, value)


def _too_many(person: str) -> VersionConflict:
    return VersionConflict(f"What is known of {person} is changed by too many at once; try again.")
