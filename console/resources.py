"""What a command opens: the store, the organisations and the executor, each when it is first needed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from agents.organisation import people_in_bundle, read_people
from console.pinned import Organisations, PinnedBody
from console.texts import say_in
from governance.access import People
from governance.approvals.following import FollowsCards
from governance.asked import PeopleAsked
from governance.disputed_memories import FollowsDisputes
from governance.questions import QuestionDesk
from runtime.bus import Bus, open_bus, require_address
from runtime.clock import Clock, SystemClock
from runtime.errors import NotFound, SiliconError
from runtime.executor import ExecutionView, Executor
from runtime.executor.holder import this_process
from runtime.garbage import pass_over_the_start
from runtime.ledger import embedded_file, open_store
from runtime.settings.load import Settings

if TYPE_CHECKING:
    from agents.workforce.ray import Hosts
    from cluster.ray_bridge import RayBridges
    from governance.approvals.index import CardIndex
    from runtime.corrections import Tally
    from runtime.ledger.store import SqlStore  # it imports SQLAlchemy, which takes 0.4 s


class Resources:
    """Everything that has to be closed at the end of a command."""

    office = "console.hosting:open_office"
    """Import path of what opens the office of a host of this process."""
    residence = "console.hosting:open_residence"
    """Import path of what opens a bridge on a node of Ray."""

    def __init__(self, settings: Settings, clock: Clock | None = None, *, onlooker: str | None = None) -> None:
        self.settings = settings
        self.onlooker = onlooker
        """The system user for whom it is looked; None where every request says who asks."""
        self.bridges: RayBridges | None = None
        self.clock: Clock = clock or SystemClock()
        self._store: SqlStore | None = None
        self._bus: Bus | None = None
        self._tally: Tally | None = None
        self._opening = asyncio.Lock()
        self._opening_store = asyncio.Lock()
        self._wiring = asyncio.Lock()
        self._organisations: Organisations | None = None
        self._asked: PeopleAsked | None = None
        self._card_index: CardIndex | None = None
        self._people: dict[Path, tuple[object, People]] = {}
        """Folder → its people, and what told its file apart when they were read."""

    async def store(self) -> SqlStore:
        """Return the store; opened and, where it is embedded, migrated with the first call."""
        async with self._opening_store:
            if self._store is None:
                self._store = await open_store(self.settings.ledger, home=self.settings.home, clock=self.clock)
                pass_over_the_start()  # SQLAlchemy has come with it
            return self._store

    async def tally(self) -> Tally:
        """Return the counts of how often models had to be corrected."""
        if self._tally is None:
            from runtime.corrections import Tally  # what only looks at them pays for the engine that they are read by

            self._tally = Tally((await self.store()).ledger)
        return self._tally

    async def bus(self) -> Bus:
        """Return the bus of this process, which tells what every process commits."""
        async with self._opening:
            if self._bus is None:
                self._bus = await open_bus(self.settings.bus, await self.store())
            return self._bus

    async def organisations(self) -> Organisations:
        """Return what loads and wires organisations."""
        async with self._wiring:
            if self._organisations is None:
                require_address(self.settings.bus)  # whoever works on executions tells others of it, now or later
                self._organisations = Organisations(
                    await self.store(), self.settings, self.clock, hosts=await self._hosts()
                )
            return self._organisations

    async def ready(self) -> None:
        """Start what work needs, so that what stands in the way is told before anything is accepted."""
        hosts = (await self.organisations()).hosts
        if hosts is not None:
            await hosts.ready()

    async def reach(self) -> None:
        """Connect to what runs already and work needs, so that what stands in the way is told before it is recorded."""
        hosts = (await self.organisations()).hosts
        if hosts is not None:
            await hosts.reach()

    @property
    def hosts(self) -> Hosts | None:
        """Where the employees of this process sit, where that is on Ray and was opened already."""
        return None if self._organisations is None else self._organisations.hosts

    async def executor(self) -> Executor:
        """Return the executor of this process."""
        body = PinnedBody(await self.organisations())
        return Executor(await self.store(), self.clock, self.settings.executor, body, this_process())

    async def asked(self) -> PeopleAsked:
        """Return what people were asked."""
        if self._asked is None:
            store = await self.store()
            follower = FollowsCards(
                store, self.clock, say_in=say_in, right_in_a_row=self.settings.approval.right_in_a_row
            )
            disputes = FollowsDisputes(store, self.clock, self.settings.memory)
            self._asked = PeopleAsked(store, self.clock, await self.card_index(), (follower, disputes))
        return self._asked

    async def card_index(self) -> CardIndex:
        """Return the table of how all cards stand."""
        store = await self.store()
        if self._card_index is None:
            from governance.approvals.index import CardIndex  # it imports SQLAlchemy, which has come with the store

            self._card_index = CardIndex(store)
        return self._card_index

    async def questions(self) -> QuestionDesk:
        """Return the questions of all organisations."""
        return QuestionDesk(await self.store(), self.clock)

    async def people_of(self, view: ExecutionView) -> People:
        """Return the people of the execution's organisation as they stand now.

        What counts is the folder as it is today, so that whoever was removed can decide nothing; only when the folder
        itself is gone, the people are those of the start.

        Raises:
            OrganisationFaulty: its org.yaml cannot be read now; mend it first.
        """
        try:
            return self.people_in(view.home)
        except NotFound:
            return await self.people_at_the_start(view)

    def people_in(self, folder: Path) -> People:
        """Return the people of a folder as they stand now; its org.yaml is read again whenever it was changed.

        Raises:
            NotFound: there is no such folder.
            OrganisationFaulty: its org.yaml cannot be read now.
        """
        now = _state_of(folder / "org.yaml")
        kept = self._people.get(folder)
        if kept is None or now is None or kept[0] != now:
            kept = self._people[folder] = (now, read_people(folder))
        return kept[1]

    async def people_at_the_start(self, view: ExecutionView) -> People:
        """Return the people that the organisation had when the execution was asked for."""
        store = await self.store()
        return people_in_bundle(await store.blobs.get(view.organisation_sha256), view.home)

    async def people_to_show(self, view: ExecutionView) -> People:
        """Return the people where they can be read, else nobody: looking must not fail on a folder that is faulty."""
        try:
            return await self.people_of(view)
        except SiliconError:
            return People(())

    async def _hosts(self) -> Hosts | None:
        """Return where employees sit when that is not here; nothing is started."""
        if self.settings.workforce.engine != "ray":
            return None
        from agents.workforce.ray import Blueprint, Hosts, require_ray  # the engine inline does without all of it
        from cluster.ray_bridge import Plan, RayBridges

        require_ray()
        store = await self.store()
        tries = self.settings.ray.start_tries
        blueprint = Blueprint(self.office, str(self.settings.home), dict(self.settings.given), start_tries=tries)
        embedded = embedded_file(self.settings.ledger, self.settings.home) is not None
        bridges = self.bridges = RayBridges(Plan(self.residence, blueprint.home, blueprint.given))
        return Hosts(
            blueprint, self.settings.ray, store.leases, look_s=self.settings.executor.renew_s, embedded=embedded,
            settle=lambda nodes: bridges.settle({node.node_id: node for node in nodes}),
        )  # fmt: skip

    async def close(self) -> None:
        """Close what was opened."""
        if self._organisations is not None:
            if self.bridges is not None:
                await self.bridges.close()
            if self._organisations.hosts is not None:
                await self._organisations.hosts.close()
            await self._organisations.close()
        if self._bus is not None:
            await self._bus.close()
        if self._store is not None:
            await self._store.close()


def _state_of(file: Path) -> object:
    """Return what differs once the file was written; None when it is not there."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino
