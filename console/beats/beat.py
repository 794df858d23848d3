"""One organisation under a server: what its sensors say, again and again, for as long as it is this server's turn."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agents.cognition.attend import Sampling
from agents.cognition.heartbeat.work import WorkBook
from agents.cognition.sense import Raise
from agents.cognition.sense.listening import Listening
from agents.cognition.sense.noticed import going_on
from agents.cognition.sense.timekeeping import Settled, Timekeeper
from agents.organisation import Organisation, route
from console.asking import known_at
from console.beats.asking import Asking
from console.beats.judging import Judging
from console.beats.remembering import Remembering
from console.beats.rounds import Rounds
from console.beats.turn import Turn
from console.noting import MetricNoting
from console.resources import Resources
from contracts import Name
from runtime.canonical import sha256
from runtime.errors import StaleWriter, VersionConflict
from runtime.executor.holder import this_process
from runtime.executor.register import Register
from runtime.ledger.port import Lease

READ_S = 5.0
"""How often the folder is read: what a person changed in it counts from then on."""
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Watch:
    """What watches an organisation as its folder stood at one moment."""

    organisation: Organisation
    sha256: str
    timekeeper: Timekeeper
    listening: Listening
    judging: Judging
    asking: Asking
    rounds: Rounds


class Beat:
    """Lets the sensors of one organisation speak whenever it is their time.

    It keeps nothing that could not be read again, so that it may die at any moment.
    """

    def __init__(self, resources: Resources, folder: Path, *, holder: str | None = None) -> None:
        self._resources = resources
        self._folder = folder
        self._holder = holder or this_process()
        self._turn: Turn | None = None
        self._watch: _Watch | None = None
        self._book: WorkBook | None = None
        self._read_at = float("-inf")
        self._remembering: Remembering | None = None
        self._noting = MetricNoting(resources.settings, resources.clock)

    async def go(self) -> bool:
        """Do everything that is due now; return whether it was this process's turn.

        Raises:
            OrganisationFaulty: the folder cannot be read as it is; what is due waits until it is mended.
            LedgerUnavailable: what is left is done the next time.
        """
        watch = await self._read()
        clock, store = self._resources.clock, await self._resources.store()
        if self._turn is None:
            self._turn = Turn(
                store.leases, watch.organisation.name, self._holder, clock, self._resources.settings.executor
            )
        lease = await self._turn.take()
        if lease is None:
            return False
        try:
            on = clock.now()
            at = moment_of(watch.organisation, on)
            if self._beats(watch):
                await watch.rounds.stand(lease)
            self._tell(await watch.timekeeper.turn(at, lease))
            await watch.listening.turn(at, lease)
            await self._judge(watch, at, on)
            await self._round(watch, at, on, lease)
            await self._remember(watch.organisation, on)
        except StaleWriter:
            self._turn.lost()
            return False
        except VersionConflict as error:  # somebody else was quicker, by hand or as another server: next time
            _log.info("a turn of %s is taken up again: %s", watch.organisation.name, error)
        return True

    async def close(self) -> None:
        """Give the turn back."""
        if self._remembering is not None:
            await self._remembering.close()
        if self._turn is not None:
            await self._turn.give_back()

    async def _judge(self, watch: _Watch, at: datetime, on: datetime) -> None:
        """Let the threshold sensors look that are due."""
        due = await watch.judging.due(at, on)
        if not due:
            return
        organisations = await self._resources.organisations()
        async with organisations.using(watch.sha256, self._folder) as wired:
            for sensor in due:
                run = await watch.judging.look(sensor, wired.sensors, at, on)
                if further := going_on(run):  # new signals come in by a round, for they may raise goals
                    await wired.alerts.note(further, at)
        await watch.judging.save()

    async def _round(self, watch: _Watch, at: datetime, on: datetime, lease: Lease) -> None:
        """Begin a round of the heartbeat where it is time and there is something to say."""
        every_s = watch.organisation.heartbeat.every_s or self._resources.settings.heartbeat.every_s
        if not self._beats(watch) or not watch.rounds.due(on, every_s):
            return
        organisations = await self._resources.organisations()
        async with organisations.using(watch.sha256, self._folder) as wired:
            await watch.rounds.look(at, on, wired.rounds, asking=watch.asking, lease=lease, every_s=every_s)

    async def _remember(self, organisation: Organisation, now: datetime) -> None:
        if self._remembering is None:
            self._remembering = Remembering((await self._resources.organisations()).memory(organisation))
        await self._remembering.go(now)

    def _beats(self, watch: _Watch) -> bool:
        """Whether the organisation has a heartbeat."""
        on = watch.organisation.heartbeat.on
        return self._resources.settings.heartbeat.on if on is None else on

    async def _read(self) -> _Watch:
        """Return what watches the organisation as its folder stands now; it is read every few seconds."""
        now = asyncio.get_running_loop().time()
        if self._watch is not None and now - self._read_at < READ_S:
            return self._watch
        organisations = await self._resources.organisations()
        organisation, pinned = await organisations.current(self._folder)
        self._read_at = now
        if self._watch is None or self._watch.sha256 != sha256(pinned):
            self._watch = await self._watch_over(organisation, pinned)
        return self._watch

    async def _watch_over(self, organisation: Organisation, pinned: bytes) -> _Watch:
        store, settings, clock = await self._resources.store(), self._resources.settings, self._resources.clock
        await store.blobs.put(pinned)
        await self._noting.note(store, organisation, f"server {self._holder}")
        ledger, name = store.ledger, organisation.name
        self._book = self._book or WorkBook(ledger, name, settings.heartbeat)
        asking = Asking(
            Register(store), self._book, organisation, pinned, home=self._folder, settings=settings, clock=clock
        )
        return _Watch(
            organisation,
            sha256(pinned),
            Timekeeper(
                ledger,
                name,
                organisation.schedules,
                asking.submit,
                settings=settings.sensor,
                language=organisation.language,
            ),
            Listening(
                ledger,
                name,
                organisation.listeners,
                lambda raises: woken_by(organisation, raises),
                chain_length=settings.sensor.chain_length,
            ),
            Judging(ledger, name, organisation.thresholds, Sampling(store, name, settings.attention)),
            asking,
            Rounds(ledger, name, Register(store), settings=settings.heartbeat, language=organisation.language),
        )

    def _tell(self, settled: Collection[Settled]) -> None:
        for each in settled:
            if each.problem is not None:
                _log.info("sensor %s at %s: %s", each.sensor, each.instant.isoformat(), each.problem.message)


def moment_of(organisation: Organisation, now: datetime) -> datetime:
    """Return the organisation's own time: where its clock stands, else now."""
    return known_at(organisation, None) or now


def woken_by(organisation: Organisation, raises: Raise) -> Collection[Name]:
    """Return the employees that would carry out what a sensor raises."""
    skill = raises.skill or route(raises.goal, organisation.skills.values()).skill
    return () if skill is None else tuple(node.id for node in organisation.owners(skill))
