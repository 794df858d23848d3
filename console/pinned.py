"""The organisations of one process: as their folder stands now, and as an execution pinned them.

A goal is recorded once its organisation is read. What then works on it (engine, cluster, workforce, connections) takes
0.1 s to import, so it is imported when an organisation is made ready for work.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from agents.organisation import Organisation, bundle, load, load_bundle, variables_in
from console.choosing import SkillChoices
from console.meaning import Meanings
from console.memory_wiring import memory_room
from console.specs import all_builtin_specs
from console.withdrawing import withdraw
from contracts import Name, OrderState, StatusReport
from runtime.canonical import sha256
from runtime.capabilities.connections import BridgeConnection
from runtime.clock import Clock
from runtime.engine.ports import SkillChoice
from runtime.errors import SiliconError
from runtime.executor import ExecutionRun
from runtime.model.naming import names_in
from runtime.model.opening import Models
from runtime.search import Embedder
from runtime.settings.load import Settings

if TYPE_CHECKING:
    from agents.workforce.ray import Hosts
    from cluster import Bridge, ControlPlane
    from cluster.foreign import Foreign
    from console.wiring import Wired
    from memory.room import MemoryRoom
    from runtime.ledger.store import SqlStore  # it imports SQLAlchemy, which takes 0.4 s

KEPT = 16
"""Versions of organisations that stay ready for work."""


class Organisations:
    """Loads and wires organisations; the same bundle is wired once."""

    def __init__(self, store: SqlStore, settings: Settings, clock: Clock, hosts: Hosts | None = None) -> None:
        """Take over what is open; `hosts` is where employees sit, None is this process."""
        self.given: dict[Name, Path] = {}
        """Organisation → folder, of those that this process was started with."""
        self.store = store
        self._settings = settings
        self.clock = clock
        self.hosts = hosts
        self._read: dict[tuple[str, Path], Organisation] = {}
        self._pinned: dict[tuple[str, Path], Wired] = {}
        self._in_use: Counter[tuple[str, Path]] = Counter()
        self._making = asyncio.Lock()
        self._current: list[Wired] = []

    @cached_property
    def plane(self) -> ControlPlane:
        """The control plane of the cluster, as this process sees it."""
        from console.wiring import control_plane_of

        return control_plane_of(self.store, self._settings, self.clock)

    @cached_property
    def bridge(self) -> Bridge:
        """What carries out orders in the slots of this machine, on behalf of this process."""
        from console.elsewhere import EnginesElsewhere
        from console.wiring import bridge_of

        return bridge_of(self.store, self.plane, EnginesElsewhere(self), self._settings, self.clock)

    @cached_property
    def foreign(self) -> Foreign:
        """What answers bridges that speak HTTP, and lays calls before them."""
        from cluster.foreign import open_foreign
        from console.elsewhere import EnginesElsewhere

        settings = self._settings
        return open_foreign(
            self.store, EnginesElsewhere(self), self.clock, slot=settings.slot, cluster=settings.cluster
        )

    @cached_property
    def models(self) -> Models:
        """The models of this process."""
        settings = self._settings
        return Models(settings.model, settings.model_key(), settings.bus, self.store.ledger)

    @cached_property
    def choices(self) -> SkillChoices:
        """What chooses the skills that models see."""
        return SkillChoices(Meanings(self.models.embedder, self._settings.home), self._settings.skills)

    def embedder(self, organisation: Organisation) -> Embedder | None:
        """Return what makes vectors of an organisation's texts; None where words alone decide."""
        return self.choices.embedder(organisation, names_in(self._settings.model, organisation.models))

    def memory(self, organisation: Organisation) -> MemoryRoom:
        """Return the memory of an organisation, by the models that its folder names now."""
        return memory_room(
            organisation, self.store, self._settings, clock=self.clock, models=self.models, choices=self.choices
        )

    def skill_choice(self, organisation: Organisation) -> SkillChoice:
        """Return what chooses among the skills of an organisation that no execution has pinned yet."""
        return self.choices.of(organisation, names_in(self._settings.model, organisation.models))

    def read(self, folder: Path) -> Organisation:
        """Return the organisation as its folder stands now; raise OrganisationFaulty with all its faults."""
        return load(
            folder,
            builtin=all_builtin_specs(),
            tree_depth=self._settings.engine.tree_depth,
            approvals=self._settings.approval,
        )

    def give(self, folder: Path) -> Organisation:
        """Take an organisation over by its folder; raise OrganisationFaulty with all its faults."""
        organisation = self.read(folder)
        self.given[organisation.name] = folder
        return organisation

    def now(self, folder: Path) -> Wired:
        """Return the organisation as its folder stands now, ready to work."""
        wired = self._wire(self.read(folder))
        self._current.append(wired)
        return wired

    async def current(self, folder: Path) -> tuple[Organisation, bytes]:
        """Return the organisation as its folder stands now, and the bytes that pin it; raises as `read`.

        Both are of one moment. A folder that did not change is not read anew, so that a server may be asked often.
        """
        try:
            pinned = await asyncio.to_thread(bundle, folder)
            async with self._making:
                organisation = await self._read_once((sha256(pinned), folder), pinned)
        except SiliconError:
            await asyncio.to_thread(self.read, folder)  # tells every fault of the folder, each where it is
            raise
        if self._settings.slot.driver != "auto":
            _ = self.plane  # a driver that a setting names may not work here: told before anything is recorded
        return organisation, pinned

    async def pinned(self, bundle_sha256: str, home: Path) -> Wired:
        """Return the organisation as it stood when its execution was asked for; `home` is where its data is."""
        return await self._wired((bundle_sha256, home))

    async def variables(self, bundle_sha256: str) -> frozenset[str]:
        """Return every word that may name a variable of the environment in a pinned organisation."""
        return variables_in(await self.store.blobs.get(bundle_sha256))

    @asynccontextmanager
    async def using(self, bundle_sha256: str, home: Path) -> AsyncIterator[Wired]:
        """Give a pinned organisation for work; what it opened stays open as long as somebody works with it."""
        key = bundle_sha256, home
        self._in_use[key] += 1
        try:
            yield await self._wired(key)
        finally:
            self._in_use[key] -= 1
            await self._forget_old()

    async def close(self) -> None:
        """Close what was opened; orders in progress that others submitted are given back."""
        if "foreign" in self.__dict__:
            await self.foreign.gateway.close()
        if "bridge" in self.__dict__:
            await self.bridge.close()
        for wired in (*self._pinned.values(), *self._current):
            await wired.close()
        if "models" in self.__dict__:
            await self.models.close()

    async def _wired(self, key: tuple[str, Path]) -> Wired:
        """Return the organisation ready for work, made so once, however many ask for it at the same time."""
        async with self._making:
            if key not in self._pinned:
                self._pinned[key] = self._wire(await self._read_once(key))
            self._pinned[key] = self._pinned.pop(key)  # the one used last stands last
            return self._pinned[key]

    async def _read_once(self, key: tuple[str, Path], pinned: bytes | None = None) -> Organisation:
        """Return what the bytes hold; whoever asks holds the lock, so that it is read once."""
        if key in self._pinned:
            return self._pinned[key].organisation
        if key not in self._read:
            data = await self.store.blobs.get(key[0]) if pinned is None else pinned
            self._read[key] = await asyncio.to_thread(self._load, data, key[1])
        self._read[key] = self._read.pop(key)
        while len(self._read) > KEPT:
            del self._read[next(iter(self._read))]
        return self._read[key]

    def _load(self, data: bytes, home: Path) -> Organisation:
        return load_bundle(
            data,
            home,
            builtin=all_builtin_specs(),
            tree_depth=self._settings.engine.tree_depth,
            approvals=self._settings.approval,
        )

    async def _forget_old(self) -> None:
        """Close what nobody works with and that was not asked for lately: a server sees many versions of a folder."""
        self._in_use += Counter()  # drops those that are zero
        while len(self._pinned) > KEPT:
            old = next((key for key in self._pinned if key not in self._in_use), None)
            if old is None:
                return
            await self._pinned.pop(old).close()

    def _wire(self, organisation: Organisation) -> Wired:
        from console.wiring import Wired

        bridged = any(isinstance(each, BridgeConnection) for each in organisation.connections.values())
        calls = self.foreign.calls if bridged else None
        return Wired(
            organisation, self.store, self._settings, self.clock, self.plane, self.bridge, self.models, self.choices,
            calls,
        )  # fmt: skip


class PinnedBody:
    """What the executor runs: the workforce of the organisation that the execution pinned."""

    def __init__(self, organisations: Organisations) -> None:
        self._organisations = organisations

    async def run(self, run: ExecutionRun) -> StatusReport:
        """Carry the execution out, or go on where it stood.

        A cancelled one whose organisation cannot be used any more ends as cancelled, and says that nothing was taken
        back. What people were asked for work that was cancelled is withdrawn.
        """
        report = await self._work(run)
        clock, store = self._organisations.clock, self._organisations.store
        from governance.approvals.index import CardIndex  # it imports SQLAlchemy, which has come with the store

        index = CardIndex(store)
        if report.state is OrderState.CANCELLED or run.cancelled():
            await withdraw(store, index, clock, run.execution_id, run.request.organisation)
        for branch in tuple(run.cancelled_branches()):
            await withdraw(store, index, clock, run.execution_id, run.request.organisation, branch=branch)
        return report

    async def _work(self, run: ExecutionRun) -> StatusReport:
        async with AsyncExitStack() as used:
            try:
                pinned = self._organisations.using(run.organisation_sha256, run.home)
                wired = await used.enter_async_context(pinned)
            except SiliconError as error:
                if not run.cancelled():
                    raise
                return StatusReport(order_id=run.root_order_id, state=OrderState.CANCELLED, error=error.problem())
            hosts = self._organisations.hosts
            if hosts is None:
                return await wired.workforce.run(run)
            from agents.workforce.ray import RayWorkforce

            names = partial(self._organisations.variables, run.organisation_sha256)
            return await RayWorkforce(wired.workforce, hosts, names=names).run(run)
