"""The ledger and the machine: audited, upgraded, looked over."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from agents.organisation import Organisation, look
from cluster import driver_for
from console.browser import opens_pages, slot_browser
from console.doctor import examine
from console.doctor_connections import connections_of
from console.doctor_corrections import corrections_of
from console.doctor_mcp import mcp_servers_of
from console.doctor_model import models_of
from console.doctor_search import search_of
from console.folders import CONNECTIONS, folder_of, told_faults
from console.resources import Resources
from console.specs import all_builtin_specs
from console.views import Fault
from console.views_system import AuditFinding, AuditResult, DatabaseStatus, Examined, Health
from runtime.bus import look_at_redis
from runtime.errors import LedgerError, NotFound, SiliconError
from runtime.executor.presence import servers
from runtime.keeping import pruned_events
from runtime.ledger import address, embedded_file, status, upgrade
from runtime.model.naming import names_in
from runtime.model.profiles import Profiles


class Keeping:
    """What an operator asks."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    async def verify(self) -> AuditResult:
        """Check every chain and payload."""
        if (await self.database()).revision is None:
            raise NotFound(
                "There is no ledger to verify: the database is empty or missing. Look at ledger.url and home."
            )
        store = await self._resources.store()
        ledger = store.ledger
        faults = await ledger.verify()
        found = (AuditFinding(fault.stream, fault.version, fault.position, fault.what) for fault in faults)
        try:
            events, pruned = await ledger.head(), await pruned_events(store)
        except LedgerError:
            if not faults:
                raise
            events, pruned = 0, 0  # what was found has taken the head with it
        return AuditResult(events, tuple(found), pruned)

    async def database(self) -> DatabaseStatus:
        """Tell which database this is and how its schema stands; changes nothing."""
        found = await asyncio.to_thread(status, self._url())
        return DatabaseStatus(found.address, found.current, found.newest)

    async def upgrade(self) -> DatabaseStatus:
        """Bring the schema to this program's version."""
        found = await asyncio.to_thread(upgrade, self._url())
        return DatabaseStatus(found.address, found.current, found.newest)

    async def doctor(self, folder: Path | None) -> Sequence[Examined]:
        """Look at everything that may stand in the way; never raises."""
        found = list(examine(self._resources.settings))
        found.append(await self._database())
        if found[-1].health is Health.GOOD:
            found.append(await self._servers())
        if self._resources.settings.bus.url:
            found.append(await self._bus())
        found.append(self._sandbox())
        usable = found[-1].health is not Health.BROKEN
        organisation, told = (None, []) if folder is None else await self._folder(folder_of(folder))
        if usable:
            browser = await asyncio.to_thread(slot_browser, self._resources.settings)
            found.append(await browser.examine(start=organisation is not None and opens_pages(organisation)))
        found += await self._models(organisation)
        found.append(await self._search(organisation))
        return [*found, *await self._corrections(organisation), *told]

    async def _corrections(self, organisation: Organisation | None) -> Sequence[Examined]:
        """Look how often models are corrected, where there is a ledger to look into."""
        if (await self._database()).health is not Health.GOOD or not await self._has_ledger():
            return []
        try:
            counts = await (await self._resources.tally()).read(self._resources.clock.now())
        except SiliconError as error:
            return [Examined("corrections", Health.BROKEN, error.message)]
        name = None if organisation is None else organisation.name
        return list(corrections_of(counts, self._resources.settings.doctor, organisation=name))

    async def _models(self, organisation: Organisation | None) -> Sequence[Examined]:
        """Ask the models; what is found out for an organisation is kept for its work."""
        settings, named, profiles = self._resources.settings, {}, None
        if organisation is not None:
            named = dict(organisation.models)
            if names_in(settings.model, named) and (await self._database()).health is Health.GOOD:
                store = await self._resources.store()
                profiles = Profiles(store.ledger, organisation.name, settings.model.base_url)
        return await models_of(settings, named, profiles)

    async def _search(self, organisation: Organisation | None) -> Examined:
        """Look by what skills are found."""
        name, named = ("", {}) if organisation is None else (organisation.name, organisation.models)
        return await search_of(self._resources.settings, name, named)

    def _url(self) -> str:
        return address(self._resources.settings.ledger, self._resources.settings.home)

    async def _database(self) -> Examined:
        embedded = not self._resources.settings.ledger.url
        if embedded and not await self._has_ledger():
            return Examined("database", Health.GOOD, "embedded file, made with the first write")
        try:
            found = await self.database()
            if not found.current:
                mend = "It is brought up to date by the next command." if embedded else "Run `silicon db upgrade`."
                what = f"{found.address} is at schema {found.revision or 'none'}, the program needs {found.newest}"
                return Examined("database", Health.NOTE if embedded else Health.BROKEN, what, mend)
            await self._resources.store()
        except SiliconError as error:
            return Examined("database", Health.BROKEN, error.message)
        return Examined("database", Health.GOOD, f"{found.address}, schema {found.revision}")

    async def _has_ledger(self) -> bool:
        """Whether there is a database to look into; the embedded file is made with the first write."""
        file = embedded_file(self._resources.settings.ledger, self._resources.settings.home)
        return file is None or await asyncio.to_thread(file.exists)

    async def _servers(self) -> Examined:
        live = await servers((await self._resources.store()).leases) if await self._has_ledger() else ()
        names = [lease.name.removeprefix("server/") for lease in live]
        what = f"{', '.join(names)} (host/process)" if names else "none runs; each command works by itself"
        return Examined("servers", Health.GOOD, what, facts={"servers": names})

    async def _bus(self) -> Examined:
        try:
            answers, what = await look_at_redis(self._resources.settings.bus)
        except SiliconError as error:
            return Examined("bus", Health.BROKEN, error.message)
        mend = "" if answers else "Processes find events by looking into the ledger until it is back."
        return Examined("bus", Health.GOOD if answers else Health.NOTE, what, mend)

    def _sandbox(self) -> Examined:
        try:
            driver = driver_for(self._resources.settings.slot)(0)
        except SiliconError as error:
            return Examined("sandbox", Health.BROKEN, error.message)
        missing = driver.cannot_enforce
        what = f"driver {driver.name}" + (f"; cannot enforce: {', '.join(missing)}" if missing else "")
        health = Health.NOTE if missing else Health.GOOD
        return Examined(
            "sandbox", health, what, driver.how_to_mend, facts={"driver": driver.name, "cannot_enforce": list(missing)}
        )

    async def _folder(self, folder: Path) -> tuple[Organisation | None, list[Examined]]:
        """Return the organisation as far as it can be looked at, faulty or not, and what is found of it."""
        settings = self._resources.settings
        try:
            organisation, report = look(folder, builtin=all_builtin_specs(), tree_depth=settings.engine.tree_depth)
        except SiliconError as error:
            return None, [Examined("organisation", Health.BROKEN, error.message)]
        faults = told_faults(report)
        if organisation is None:
            return None, [_of_folder(folder.name, faults)]
        told = list(connections_of(organisation))
        stopped = {each.name for each in told if each.health is Health.BROKEN}
        if any(fault.file == CONNECTIONS for fault in faults):  # what is declared wrongly is not started
            stopped.update(organisation.connections)
        servers = await mcp_servers_of(organisation, settings.mcp, but=stopped)
        return organisation, [_of_folder(organisation.name, faults), *told, *servers]


def _of_folder(name: str, faults: tuple[Fault, ...]) -> Examined:
    if not faults:
        return Examined("organisation", Health.GOOD, f"{name} has no faults")
    counted = f"{name} has {len(faults)} {'fault' if len(faults) == 1 else 'faults'}; nothing of it runs"
    return Examined("organisation", Health.BROKEN, counted, faults=faults)
