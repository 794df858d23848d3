"""The ledger as a whole: copied, restored, pruned, held, and single executions taken elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from console.asking import may_operate
from console.imported import closing_of
from console.resources import Resources
from console.seeing import Seeing
from console.system_user import system_user
from contracts import ExecutionId
from governance.asked import still_asks
from governance.costs import CostBook
from runtime import keeping
from runtime.errors import InvalidArguments, NotFound, OrganisationFaulty
from runtime.executor import ExecutionView
from runtime.keeping import BackupMade, Exported, Hold, Holds, Imported, Pruned, Restored
from runtime.ledger import address, status
from runtime.settings.group import LONGEST_DAYS

REASON = 500
"""Letters of a reason."""


class Archiving:
    """The port `Archives`."""

    _resources: Resources

    async def back_up(self, path: Path) -> BackupMade:
        """Write a copy of the whole ledger into a new file and audit it."""
        await self._require_ledger()
        return await keeping.back_up(await self._resources.store(), path)

    async def restore(self, path: Path) -> Restored:
        """Put a backup into the database, which has to be empty."""
        settings = self._resources.settings
        return await asyncio.to_thread(keeping.restore, settings.ledger, settings.home, path)

    async def prune(self, *, days: float | None, dry: bool, compact: bool) -> Pruned:
        """Take away for good what is old."""
        retention = self._resources.settings.retention
        if days is not None and not 0 <= days <= LONGEST_DAYS:  # nan is neither
            most = f"{LONGEST_DAYS:,} days (a hundred years)"
            raise InvalidArguments(
                f"Executions are kept for 0 to {most}, not for {days:g}; 0 keeps all.", days=str(days)
            )
        store = await self._resources.store()
        if not dry:
            await CostBook(store.ledger).catch_up()  # what is pruned has cost what it has cost
        return await keeping.prune(
            store,
            self._resources.clock,
            days=retention.executions_days if days is None else days,
            stream_only_days=retention.stream_only_days,
            dry=dry,
            compact=compact,
            still_asks=still_asks,
        )

    async def holds(self) -> Sequence[Hold]:
        """Return the legal holds that stand, oldest first."""
        return await (await self._holds()).standing()

    async def hold(self, execution_id: ExecutionId, *, reason: str, by: str | None) -> Hold:
        """Let nothing of the execution be pruned from now on."""
        view = await (await self._resources.executor()).view(execution_id)
        person, said = await self._acting(view, by), _reason(reason)
        return await (await self._holds()).place(execution_id, view.request.organisation, reason=said, by=person)

    async def release(self, execution_id: ExecutionId, *, reason: str, by: str | None) -> Hold:
        """End the hold and return it as it stood."""
        view = await (await self._resources.executor()).view(execution_id)
        person, said = await self._acting(view, by), _reason(reason)
        return await (await self._holds()).release(execution_id, reason=said, by=person)

    async def export_execution(self, execution_id: ExecutionId, path: Path) -> Exported:
        """Write one execution, as it stands now, into a new file."""
        await Seeing(self._resources, self._resources.onlooker).require(execution_id)
        store = await self._resources.store()
        return await keeping.export_execution(store, execution_id, path, self._resources.clock.now())

    async def import_execution(self, path: Path) -> Imported:
        """Take an exported execution in, to be looked at."""
        content = await asyncio.to_thread(keeping.read_content, path)
        closing = closing_of(content)
        store, now = await self._resources.store(), self._resources.clock.now()
        return await keeping.take_in(store, content, closing, by=system_user(), now=now)

    async def _holds(self) -> Holds:
        return Holds((await self._resources.store()).ledger)

    async def _acting(self, view: ExecutionView, by: str | None) -> str:
        """Return who acts, by the people of now, or of the start where org.yaml cannot be read."""
        try:
            people = await self._resources.people_of(view)
        except OrganisationFaulty:
            people = await self._resources.people_at_the_start(view)
        return may_operate(people, people.acting(by, system_user()), view.request.skill).id

    async def _require_ledger(self) -> None:
        """Make no database by backing up one that is not there."""
        settings = self._resources.settings
        found = await asyncio.to_thread(status, address(settings.ledger, settings.home))
        if found.current is None:
            raise NotFound(
                "There is no ledger to back up: the database is empty or missing. Look at ledger.url and home."
            )


def _reason(text: str) -> str:
    said = " ".join(text.split())
    if not 0 < len(said) <= REASON:
        raise InvalidArguments(f"The reason takes 1 to {REASON} letters that tell others why, not {len(said)}.")
    return said
