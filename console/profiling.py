"""What is known of people, as they look at it, correct it and have it erased."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from console.memory_rights import operates
from console.resources import Resources
from console.system_user import system_user
from console.views_profile import PersonErasedView, ProfileView, Reason, TraitRow
from governance.access import Person
from runtime.errors import InvalidArguments, PermissionRefused

if TYPE_CHECKING:
    from agents.organisation import Organisation
    from console.remembering_room import Room
    from memory.personal.profile import Profile


class Profiling:
    """The port `ProfilePort`, beside `Remembering`."""

    _resources: Resources

    if TYPE_CHECKING:

        async def _room(self, folder: Path) -> Room: ...

        def _looking(self, organisation: Organisation, by: str | None) -> Person | None: ...

    async def profile(self, folder: Path, *, by: str | None) -> ProfileView:
        """Return what is known of whoever acts; see the port."""
        room, person = await self._own(folder, by)
        await room.memory.profile_reader.catch_up()
        return _view(await room.memory.profiles.get(person.id))

    async def set_profile(self, folder: Path, trait: str, value: str, *, by: str | None) -> ProfileView:
        """Let whoever acts say how it is; see the port."""
        room, person = await self._own(folder, by)
        return _view(await room.memory.profiles.set(person.id, trait, value))

    async def forget_profile(
        self, folder: Path, *, by: str | None, trait: str | None = None, value: str | None = None
    ) -> ProfileView:
        """Erase one trait, or everything; see the port."""
        room, person = await self._own(folder, by)
        profiles = room.memory.profiles
        if trait is None:
            await profiles.erase(person.id)
            return _view(await profiles.get(person.id))
        if value is None:
            raise InvalidArguments("Which value of it is to be forgotten?", trait=trait)
        return _view(await profiles.forget(person.id, trait, value))

    async def erase_person(
        self, folder: Path, person: str, *, by: str | None, reason: str = "", sure: bool = False
    ) -> PersonErasedView:
        """Erase everything that is remembered of a person; see the port."""
        from memory.erasure import PersonErasure
        from runtime.search import forget_vectors

        room = await self._room(folder)
        people = room.organisation.people
        acting = people.acting(by, system_user())
        if acting.id != person and not operates(people, acting):
            raise PermissionRefused(
                f"{acting.name} may not erase what is remembered of {person}: that is done by themselves, or by "
                "whoever has the role operator or admin for the whole organisation.", person=acting.id,
            )  # fmt: skip
        if sure and not reason:
            raise InvalidArguments("What is erased is gone for good: say why (--reason).", person=person)
        store = await self._resources.store()
        erasure, known = PersonErasure(store, room.memory), people.get(person)
        names = () if known is None else (known.name,)
        if sure:
            done = await erasure.erase(person, by=acting.id, reason=reason, now=room.now(), names=names)
            vectors = await asyncio.to_thread(forget_vectors, room.vectors, done.texts)
        else:
            done, vectors = await erasure.look(person, names), 0
        executions, cards = await self._stays(room.organisation.name, person)
        return PersonErasedView(
            person, sure, done.memories, done.conversations, done.turns, done.profile, done.files, done.blobs, vectors,
            executions, cards, done.named_in,
        )  # fmt: skip

    async def _stays(self, organisation: str, person: str) -> tuple[int, int]:
        """Return how many executions a person asked for, and how many cards they decided: who did what stays."""
        ledger = (await self._resources.store()).ledger
        asked = decided = position = 0
        while events := await ledger.read_all(after=position, types=("execution.requested", "card.decided")):
            position = events[-1].position
            for event in events:
                if event.organisation != organisation or event.data is None:
                    continue
                told = event.data.get("request" if event.type == "execution.requested" else "decision")
                if isinstance(told, dict):
                    asked += event.type == "execution.requested" and told.get("requested_by") == person
                    decided += event.type == "card.decided" and told.get("by") == person
        return asked, decided

    async def _own(self, folder: Path, by: str | None) -> tuple[Room, Person]:
        room = await self._room(folder)
        return room, room.organisation.people.acting(by, system_user())


def _view(profile: Profile) -> ProfileView:
    from memory.personal.acting import guidance

    rows = [
        TraitRow(
            each.depth.value, each.trait, each.value, round(each.weight, 3), each.by_person,
            [Reason(seen.why, seen.at.isoformat(), seen.conversation, seen.turn, seen.weight) for seen in each.because],
        )
        for each in profile.traits
    ]  # fmt: skip
    return ProfileView(profile.person, rows, guidance(profile))
