"""People who log in: accounts beside the folder that names them, passwords, sessions."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from agents.organisation import read_name
from console.folders import folder_of
from console.ports_users import User
from console.resources import Resources
from console.running import Running
from contracts import Name
from governance.access import People, Principal, Tokens
from governance.access.passwords import Passwords
from governance.access.people import Person
from governance.access.sessions import Sessions
from governance.access.users import Users
from runtime.errors import LedgerError, NotFound, PermissionRefused, SiliconError

if TYPE_CHECKING:
    from runtime.ledger.access_rows import AccessRows  # SQLAlchemy comes with it

USED_S = 60.0
"""When a token was last used is kept to the minute."""
_log = logging.getLogger(__name__)


class Accounts:
    """What everything about logins shares in a process."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._used: dict[str, datetime] = {}

    @cached_property
    def passwords(self) -> Passwords:
        """What hashes."""
        return Passwords(self._resources.settings.access)

    async def rows(self) -> AccessRows:
        """Return the rows of passwords, sessions and uses."""
        from runtime.ledger.access_rows import AccessRows

        return AccessRows(await self._resources.store(), self._resources.clock)

    async def sessions(self) -> Sessions:
        """Return the sessions."""
        return Sessions(await self.rows(), self._resources.clock, self._resources.settings.access)

    async def users(self) -> Users:
        """Return the accounts."""
        store = await self._resources.store()
        return Users(store.ledger, await self.rows(), self.passwords, await self.sessions())

    async def require_open(self, principal: Principal) -> Principal:
        """Return the principal whose person is not locked; raise PermissionRefused otherwise."""
        if principal.person is None or principal.organisation is None:
            return principal
        if await (await self.users()).is_locked(principal.organisation, principal.person):
            raise PermissionRefused(
                f"The account of {principal.person} in {principal.organisation} is locked. "
                "An administrator can unlock it with `silicon users unlock`.",
                person=principal.person,
            )
        return principal

    async def used(self, principal: Principal) -> None:
        """Note that a token was used; what cannot be noted hinders nobody."""
        now = self._resources.clock.now()
        last = self._used.get(principal.id)
        if last is not None and now - last < timedelta(seconds=USED_S):
            return
        self._used[principal.id] = now
        try:
            await (await self.rows()).put(f"used/{principal.id}", principal.id, {"at": now.isoformat()})
        except LedgerError as error:
            _log.info("the use of %s is not noted: %s", principal.id, error)

    async def last_used(self, token_id: str) -> datetime | None:
        """Return when a token was last used."""
        row = await (await self.rows()).get(f"used/{token_id}")
        return None if row is None else datetime.fromisoformat(str(row.data["at"]))


class SigningIn:
    """The port `SigningIn`."""

    _resources: Resources
    _running: Running
    _accounts: Accounts

    async def users(self, folder: Path) -> Sequence[User]:
        """Return everybody in the organisation's folder."""
        home = folder_of(folder)
        people = self._resources.people_in(home)
        return [await self._user(read_name(home), person) for person in people]

    async def user(self, folder: Path, person: Name) -> User:
        """Return one person; see the port."""
        organisation, found, _ = self._person(folder, person)
        return await self._user(organisation, found)

    async def set_password(self, folder: Path, person: Name, password: str, *, by: str, via: str) -> User:
        """Give a person a password; see the port."""
        organisation, found, _ = self._person(folder, person)
        users = await self._accounts.users()
        await users.set_password(organisation, found.id, password, by=by, via=via)
        return await self._user(organisation, found)

    async def remove_password(self, folder: Path, person: Name, *, by: str, via: str) -> User:
        """Take a person's password away."""
        organisation, found, _ = self._person(folder, person)
        await (await self._accounts.users()).remove_password(organisation, found.id, by=by, via=via)
        return await self._user(organisation, found)

    async def lock_user(self, folder: Path, person: Name, *, reason: str, by: str, via: str) -> User:
        """Let nothing of a person count."""
        organisation, found, _ = self._person(folder, person)
        await (await self._accounts.users()).lock(organisation, found.id, reason=reason, by=by, via=via)
        return await self._user(organisation, found)

    async def unlock_user(self, folder: Path, person: Name, *, by: str, via: str) -> User:
        """Let it count again."""
        organisation, found, _ = self._person(folder, person)
        await (await self._accounts.users()).unlock(organisation, found.id, by=by, via=via)
        return await self._user(organisation, found)

    async def sign_in(
        self, organisation: Name, person: Name, password: str, *, via: str
    ) -> tuple[Principal, str] | None:
        """Return a new session; see the port."""
        home = await self._home(organisation)
        users = await self._accounts.users()
        given = await users.proves(organisation, person, password)
        if home is None or given is None or self._people_or_none(home).get(person) is None:
            return None
        await users.signed_in(organisation, person, via=via)
        sessions = await self._accounts.sessions()
        session, text = await sessions.open(organisation, person, home, via=via, password=given)
        return session.principal, text

    async def proves(self, principal: Principal, password: str) -> bool:
        """Whether a password is that of the principal's person."""
        users = await self._accounts.users()
        return await users.proves(principal.organisation or "", principal.person or "", password) is not None

    async def of_session(self, text: str) -> Principal | None:
        """Return whom a session speaks for; see the port."""
        session = await (await self._accounts.sessions()).find(text)
        return None if session is None else await self.still_counts(session.principal)

    async def sign_out(self, principal: Principal) -> None:
        """End the session that the principal came with."""
        await (await self._accounts.sessions()).close(principal.id)

    async def still_counts(self, principal: Principal) -> Principal:
        """Return the principal whose person is there and not locked; what counts is the folder as it is today.

        Raises:
            PermissionRefused: they are not there any more, or locked.
        """
        if principal.person is None or principal.home is None:
            return principal
        try:
            person = self._resources.people_in(principal.home).get(principal.person)
        except NotFound:
            raise PermissionRefused(
                f"The folder of {principal.organisation} is no more where it was when {principal.name} was "
                "made, so that nobody knows who is in it. Make a new token, or log in anew.",
                organisation=principal.organisation,
            ) from None
        if person is None:
            raise PermissionRefused(
                f"{principal.person} has no entry in {principal.organisation} any more, so {principal.name} "
                "counts for nothing.",
                person=principal.person,
            )
        return await self._accounts.require_open(principal)

    def _person(self, folder: Path, named: Name) -> tuple[Name, Person, Path]:
        home = folder_of(folder)
        person = self._resources.people_in(home).acting(named, named)
        return read_name(home), person, home

    async def _user(self, organisation: Name, person: Person) -> User:
        account = await (await self._accounts.users()).account(organisation, person.id)
        tokens = await Tokens((await self._resources.store()).ledger, self._resources.clock).list()
        own = [each for each in tokens if (each.organisation, each.person) == (organisation, person.id)]
        return User(person, account, sum(each.counts_at(self._resources.clock.now()) for each in own))

    async def _home(self, organisation: Name) -> Path | None:
        try:
            return await self._running.home_of(organisation)
        except SiliconError:  # there is none, or it cannot be read now: nobody logs in
            return None

    def _people_or_none(self, home: Path) -> People:
        try:
            return self._resources.people_in(home)
        except SiliconError:
            return People(())
