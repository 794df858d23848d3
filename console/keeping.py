"""The ledger and the machine: audited, upgraded, looked over."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

from agents.organisation import Organisation
from console.doctor import examine
from console.resources import Resources
from console.views import AuditFinding, AuditResult, DatabaseStatus, Examined, Health
from console.wiring import driver_for, folder_of
from runtime.capabilities.connections import DuckdbConnection, HttpConnection, SqliteConnection
from runtime.errors import LedgerError, NotFound, SiliconError
from runtime.ledger import address, status, upgrade


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
        ledger = (await self._resources.store()).ledger
        faults = await ledger.verify()
        found = (AuditFinding(fault.stream, fault.version, fault.position, fault.what) for fault in faults)
        try:
            events = await ledger.head()
        except LedgerError:
            if not faults:
                raise
            events = 0  # what was found has taken the head with it
        return AuditResult(events, tuple(found))

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
        found.append(self._sandbox())
        if folder is not None:
            found += await self._folder(folder_of(folder))
        return found

    def _url(self) -> str:
        return address(self._resources.settings.ledger, self._resources.settings.home)

    async def _database(self) -> Examined:
        embedded = not self._resources.settings.ledger.url
        if embedded and not (self._resources.settings.home / "silicon.db").exists():
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

    def _sandbox(self) -> Examined:
        driver = driver_for(self._resources.settings)(0)
        missing = driver.cannot_enforce
        what = f"driver {driver.name}" + (f"; cannot enforce: {', '.join(missing)}" if missing else "")
        return Examined(
            "sandbox", Health.NOTE if missing else Health.GOOD, what, facts={"cannot_enforce": list(missing)}
        )

    async def _folder(self, folder: Path) -> list[Examined]:
        try:
            organisation = (await self._resources.organisations()).read(folder)
        except SiliconError as error:
            return [Examined("organisation", Health.BROKEN, error.message, f"Run `silicon check {folder}`.")]
        good = Examined("organisation", Health.GOOD, f"{organisation.name} has no faults")
        return [good, *_connections(organisation)]


def _connections(organisation: Organisation) -> Iterator[Examined]:
    for name, connection in organisation.connections.items():
        match connection:
            case DuckdbConnection(file=file, made_by=made_by) | SqliteConnection(file=file, made_by=made_by):
                there = (organisation.folder / file).is_file()
                mend = "" if there else f"Make it with `{made_by}`." if made_by else "Put the file there."
                health = Health.GOOD if there else Health.BROKEN
                yield Examined(name, health, file if there else f"{file} is missing", mend)
            case HttpConnection(base=base):
                yield Examined(name, Health.GOOD, base or "local service, started when it is needed")
            case _:
                yield Examined(name, Health.NOTE, "a database server; asked when it is needed")
