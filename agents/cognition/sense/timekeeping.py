"""Cron sensors at work: what is due becomes an execution, each instant once, whoever works on it and whoever dies."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from heapq import heappop, heappush
from typing import Protocol

from agents.cognition.sense.cron import CronDefinition
from agents.cognition.sense.timetable import (
    DUE,
    PASSED_OVER,
    SCHEDULED,
    Ahead,
    Due,
    Stand,
    due,
    key_of,
    roots_of,
    stands,
    stream_of,
    text_of,
)
from contracts import ExecutionRequest, Json, Name, Problem
from runtime.bindings import resolve
from runtime.canonical import clean
from runtime.errors import LedgerError, SiliconError, VersionConflict
from runtime.executor import KeyInUse, Submitted
from runtime.ledger.port import Append, Lease, Ledger, NewEvent
from runtime.settings.groups import SensorSettings

_TRIES = 5
_AT_ONCE = 64
"""Sensors that are due at the same moment share commits; more of them wait."""
_SET_BACK = timedelta(hours=1)
"""A clock that shows so much less than before was wrong before: what it settled ahead of time is watched again. No
instant is asked for twice by that, for its key is known; less than this is servers whose clocks differ."""


class Submit(Protocol):
    """Records the goal of a sensor; wiring hands it in."""

    async def __call__(self, request: ExecutionRequest, beside: Sequence[Append]) -> Submitted:
        """Record the request with what stands beside it, in one commit; where its key was used, nothing is stored.

        Raises:
            SiliconError: the goal cannot be asked for as it is; a LedgerError: try again later.
        """
        ...


@dataclass(frozen=True, slots=True)
class Settled:
    """One instant of one sensor that is over and done."""

    sensor: Name
    instant: datetime
    submitted: Submitted | None = None
    """The execution; None where there is none."""
    problem: Problem | None = None
    """Why not."""


class Timekeeper:
    """The cron sensors of one organisation.

    It remembers how far each has come, and what it remembers is proven by each append: where another server was
    quicker, that is read anew.
    """

    def __init__(
        self,
        ledger: Ledger,
        organisation: Name,
        definitions: Mapping[Name, CronDefinition],
        submit: Submit,
        *,
        settings: SensorSettings,
        language: str = "en",
    ) -> None:
        self._ledger = ledger
        self._organisation = organisation
        self._definitions = definitions
        self._submit = submit
        self._settings = settings
        self._language = language
        self._stands: dict[Name, Stand] | None = None
        self._next: list[tuple[float, Name]] = []
        """When each is due next, as a heap."""
        self._ahead: dict[Name, Ahead] = {}
        self._turned: datetime | None = None
        """When the last turn was."""

    @property
    def next_at(self) -> float:
        """When the next sensor is due, seconds since 1970; at once where that is not known yet."""
        if self._stands is None:
            return 0.0
        return self._next[0][0] if self._next else float("inf")

    async def turn(self, now: datetime, lease: Lease | None = None) -> list[Settled]:
        """Settle everything that is due; return it in no particular order.

        Where another server was quicker, it goes on where that one came to.

        Raises:
            VersionConflict: others were quicker again and again; the next turn does what is left.
            StaleWriter: the lease was lost.
            LedgerUnavailable: the next turn does what is left.
        """
        leases = () if lease is None else (lease,)
        for left in reversed(range(_TRIES)):
            try:
                return await self._turn(now, leases)
            except VersionConflict:
                self._stands = None  # what is stored counts
                if not left:
                    raise
            except BaseException:
                self._stands = None
                raise
        raise AssertionError("the last try returns or raises")

    async def _turn(self, now: datetime, leases: tuple[Lease, ...]) -> list[Settled]:
        if self._stands is None or (self._turned is not None and self._turned - now > _SET_BACK):
            await self._begin(now, leases)
        self._turned = now
        waiting, ready = self._next, []
        while waiting and waiting[0][0] <= now.timestamp():
            ready.append(heappop(waiting)[1])
        room = asyncio.Semaphore(_AT_ONCE)

        async def one(name: Name) -> list[Settled]:
            async with room:
                return await self._settle_all(self._definitions[name], now, leases)

        found = await asyncio.gather(*(one(name) for name in ready), return_exceptions=True)
        for each in found:  # all of them have come to their end: nothing is still being written
            if isinstance(each, BaseException):
                raise each
        return [settled for each in found if not isinstance(each, BaseException) for settled in each]

    async def _begin(self, now: datetime, leases: tuple[Lease, ...]) -> None:
        """Read how far each has come; what is new, has another schedule, or came further than now, begins now."""
        found = dict(await stands(self._ledger, self._organisation, self._definitions))
        self._stands = found
        self._next = []
        for name, definition in self._definitions.items():
            until = found[name].until
            ahead = until is not None and until - now > _SET_BACK
            if ahead or found[name].schedule != definition.schedule_sha256:
                await self._write(definition, NewEvent(SCHEDULED, self._facts(definition, now, now)), leases)
            self._push(definition)

    def _push(self, definition: CronDefinition) -> None:
        name, until = definition.name, self._until(definition.name)
        ahead = self._ahead.get(name)
        if ahead is None or not ahead.is_behind(until):
            ahead = self._ahead[name] = Ahead(definition, until)
        if ahead.first is not None:
            heappush(self._next, (ahead.first.timestamp(), name))

    def _stand(self, name: Name) -> Stand:
        assert self._stands is not None, "it is read before anything is settled"
        return self._stands[name]

    def _until(self, name: Name) -> datetime:
        until = self._stand(name).until
        assert until is not None, "a sensor that is watched has a beginning"
        return until

    async def _settle_all(
        self, definition: CronDefinition, now: datetime, leases: tuple[Lease, ...]
    ) -> list[Settled]:  # fmt: skip
        settings, only = self._settings, self._ahead[definition.name].only(now)
        if only is not None and (now - only).total_seconds() <= settings.late_s:
            what = Due((only,))
        else:
            until = self._until(definition.name)
            what = due(definition, until, now, grace_s=settings.late_s, most=settings.catch_up_most)
        if what.passed_over:
            facts = self._facts(definition, what.passed_over[0], now) | {
                "count": len(what.passed_over),
                "more": what.more_passed_over,
                "rule": definition.catch_up.value,
            }
            await self._write(definition, NewEvent(PASSED_OVER, facts), leases)
        found = [await self._settle(definition, instant, now, leases) for instant in what.instants]
        self._push(definition)
        return found

    async def _settle(
        self, definition: CronDefinition, instant: datetime, now: datetime, leases: tuple[Lease, ...]
    ) -> Settled:
        """Record the execution of one instant with the event that says so, or why there is none."""
        name, key = definition.name, key_of(definition.name, instant)
        stand = replace(self._stand(name), asked=instant)
        facts = self._facts(definition, instant, now, stand) | {"key": key}
        try:
            request = self._request(definition, instant)
            event = self._append(definition, NewEvent(DUE, facts), leases)
            submitted = await self._submit(request, (event,))
        except KeyInUse as error:
            await self._write(definition, NewEvent(DUE, facts | {"used": clean(error.facts)}), leases)
            return Settled(name, instant)
        except LedgerError:
            raise
        except SiliconError as error:
            problem = error.problem()
            failed = {"until": text_of(instant), "problem": problem.to_json()}
            await self._write(
                definition, NewEvent(DUE, facts | {"problem": problem.to_json(), "failed": failed}), leases
            )
            return Settled(name, instant, problem=problem)
        if submitted.repeated:
            await self._write(definition, NewEvent(DUE, facts), leases)
        else:
            self._moved(definition, facts)
        return Settled(name, instant, submitted)

    def _request(self, definition: CronDefinition, instant: datetime) -> ExecutionRequest:
        """Return the goal: it sees what was known at the instant, however late it is asked for."""
        raises = definition.raises
        assert raises is not None, "a cron sensor without a goal is a fault of the folder"
        roots = roots_of(definition, instant)
        parameters = resolve(clean(raises.parameters), roots)
        return ExecutionRequest(
            organisation=self._organisation,
            goal=str(resolve(raises.goal, roots)),
            skill=raises.skill,
            parameters=parameters if isinstance(parameters, dict) else {},
            idempotency_key=key_of(definition.name, instant),
            requested_by=f"sensor/{definition.name}",
            caused_by=(f"sensor/{definition.name}",),
            advances=raises.advances,
            known_at=instant,
            language=self._language,
        )

    def _facts(
        self, definition: CronDefinition, until: datetime, now: datetime, stand: Stand | None = None
    ) -> dict[str, Json]:  # fmt: skip
        kept = (stand or self._stand(definition.name)).to_data()
        return {**kept, "until": text_of(until), "at": clean(now), "schedule": definition.schedule_sha256}

    def _append(self, definition: CronDefinition, event: NewEvent, leases: tuple[Lease, ...]) -> Append:
        organisation, name = self._organisation, definition.name
        return Append(
            stream_of(organisation, name), (event,), self._stand(name).version, organisation,
            f"/organisation/{organisation}/sensor/{name}", leases=leases,
        )  # fmt: skip

    async def _write(self, definition: CronDefinition, event: NewEvent, leases: tuple[Lease, ...]) -> None:
        await self._ledger.append(self._append(definition, event, leases))
        self._moved(definition, event.data)

    def _moved(self, definition: CronDefinition, facts: Mapping[str, Json]) -> None:
        """Remember what was just stored."""
        assert self._stands is not None, "it is read before anything is settled"
        version = self._stand(definition.name).version + 1
        self._stands[definition.name] = Stand.told(version, facts)
