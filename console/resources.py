"""What a command opens: the store, the organisations and the executor, each when it is first needed."""

from __future__ import annotations

from pathlib import Path

from agents.organisation import people_in_bundle, read_people
from console.pinned import Organisations, PinnedBody
from governance.access import People
from governance.questions import QuestionDesk
from runtime.clock import Clock, SystemClock
from runtime.errors import NotFound, SiliconError
from runtime.executor import ExecutionView, Executor
from runtime.executor.holder import this_process
from runtime.ledger import open_store
from runtime.ledger.port import Store
from runtime.settings.load import Settings


class Resources:
    """Everything that has to be closed at the end of a command."""

    def __init__(self, settings: Settings, clock: Clock | None = None) -> None:
        self.settings = settings
        self.clock: Clock = clock or SystemClock()
        self._store: Store | None = None
        self._organisations: Organisations | None = None
        self._people: dict[Path, People] = {}
        """Folder → its people, read once: nothing here outlives a command."""

    async def store(self) -> Store:
        """Return the store; opened and, where it is embedded, migrated with the first call."""
        if self._store is None:
            self._store = await open_store(self.settings.ledger, home=self.settings.home, clock=self.clock)
        return self._store

    async def organisations(self) -> Organisations:
        """Return what loads and wires organisations."""
        if self._organisations is None:
            self._organisations = Organisations(await self.store(), self.settings, self.clock)
        return self._organisations

    async def executor(self) -> Executor:
        """Return the executor of this process."""
        body = PinnedBody(await self.organisations())
        return Executor(await self.store(), self.clock, self.settings.executor, body, this_process())

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
        if view.home not in self._people:
            try:
                self._people[view.home] = read_people(view.home)
            except NotFound:
                return await self.people_at_the_start(view)
        return self._people[view.home]

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

    async def close(self) -> None:
        """Close what was opened."""
        if self._organisations is not None:
            await self._organisations.close()
        if self._store is not None:
            await self._store.close()
