"""What somebody who looks may see: over HTTP whoever a token or session speaks for, on the command line its user."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

from console.folders import folder_of
from console.resources import Resources
from contracts import DecisionCard, Event, ExecutionId, Notification
from governance.access import EVERYTHING, Person, Principal, Sight
from governance.access.people import places_of
from governance.errors import NobodyActs
from runtime.errors import NotFound
from runtime.executor import ExecutionView

OF_PEOPLE = ("memory/", "consolidation/", "profile/", "conversation/")
"""Streams that hold what people said, and what is known of them: they are shown by what checks whose it is."""


class Seeing:
    """Bounds of looking, by the people of now."""

    def __init__(self, resources: Resources, onlooker: str | None) -> None:
        self._resources = resources
        self._onlooker = onlooker
        """The system user that looks; None where whoever asks is bounded elsewhere."""

    def of(self, principal: Principal) -> Sight:
        """Return what a principal may see in its organisation; an administrator sees everything.

        Raises:
            NotFound, OrganisationFaulty: nobody can say now, so nothing may be seen.
        """
        if principal.person is None or principal.home is None:
            return EVERYTHING
        people = self._resources.people_in(principal.home)
        person = people.get(principal.person)
        return Sight(people, person or Person(principal.person, "", frozenset()))

    async def at(self, view: ExecutionView) -> Sight:
        """Return what the system user may see in the organisation of an execution.

        One without an entry there sees everything: whoever has the machine's account could read the database itself.
        """
        if self._onlooker is None:
            return EVERYTHING
        people = await self._resources.people_to_show(view)
        try:
            return Sight(people, people.acting(None, self._onlooker))
        except NobodyActs:
            return EVERYTHING

    def in_folder(self, folder: Path) -> Sight:
        """Return what the system user may see of the organisation in a folder."""
        if self._onlooker is None:
            return EVERYTHING
        people = self._resources.people_in(folder_of(folder))
        try:
            return Sight(people, people.acting(None, self._onlooker))
        except NobodyActs:
            return EVERYTHING

    async def in_organisation(self, name: str) -> Sight:
        """Return what the system user may see of an organisation, by the people of its newest execution's folder."""
        if self._onlooker is None:
            return EVERYTHING
        ledger, executor = (await self._resources.store()).ledger, await self._resources.executor()
        for stream in await ledger.newest_streams("execution", organisation=name, limit=1):
            return await self.at(await executor.view(ExecutionId(stream)))
        return EVERYTHING

    async def sees(self, view: ExecutionView) -> bool:
        """Whether the system user may see an execution."""
        return (await self.at(view)).sees_skill(view.request.skill)

    async def require(self, execution_id: ExecutionId) -> None:
        """Return when the system user may see the execution; else it is not there."""
        if self._onlooker is None:
            return
        view = await (await self._resources.executor()).view(execution_id)
        if not await self.sees(view):
            raise NotFound(f"There is no {execution_id} here.", execution_id=execution_id)

    async def sees_execution(self, execution_id: ExecutionId) -> bool:
        """Whether the system user may see an execution; one that is gone has nothing left to be seen."""
        try:
            await self.require(execution_id)
        except NotFound:
            return False
        return True

    async def of_those(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """Give those events whose execution the system user may see, and those that are of none.

        What people said is given to whoever has no entry only, as everything is.
        """
        known: dict[str, bool] = {}
        bounded: dict[str, bool] = {}
        async with aclosing(events) as found:
            async for event in found:
                execution_id, name = event.execution_id, event.organisation
                if event.subject.startswith(OF_PEOPLE):
                    if name not in bounded:
                        bounded[name] = await self.in_organisation(name) is not EVERYTHING
                    if bounded[name]:
                        continue
                if execution_id is not None and execution_id not in known:
                    known[execution_id] = await self.sees_execution(execution_id)
                if execution_id is None or known[execution_id]:
                    yield event

    async def sees_card(self, card: DecisionCard) -> bool:
        """Whether the system user may see a card."""
        if self._onlooker is None:
            return True
        view = await (await self._resources.executor()).view(card.execution_id)
        return sees_card(await self.at(view), card, view.request.skill)

    async def sees_message(self, message: Notification) -> bool:
        """Whether the system user may see what people were told."""
        if self._onlooker is None:
            return True
        view = await (await self._resources.executor()).view(message.execution_id)
        return sees_message(await self.at(view), message, view.request.skill)


def sees_budget(sight: Sight, name: str) -> bool:
    """Whether a budget, `department/NAME/PERIOD` or `process/NAME/PERIOD`, is that of work that may be seen."""
    kind, owner, _ = name.split("/")
    return sight.whole or (sight.sees(owner) if kind == "department" else sight.sees_skill(owner))


def sees_card(sight: Sight, card: DecisionCard, skill: str | None) -> bool:
    """Whether a card of an execution of this skill may be seen: with its execution, or by its own department."""
    return sight.sees_some(places_of(card), skill)


def sees_message(sight: Sight, message: Notification, skill: str | None) -> bool:
    """Whether a message may be seen: by those it was sent to, and with its execution or department."""
    told = sight.person is not None and sight.person.id in message.to
    return told or sight.sees_some([message.employee], skill)
