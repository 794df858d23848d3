"""Users: the people of org.yaml as those who log in. Who they are and may do stands there; their password is here."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from contracts import Event, Name
from contracts.ids import new_ulid
from governance.access.passwords import Passwords
from governance.access.sessions import Sessions, owner_of, password_row, which_password
from runtime.canonical import clean_text
from runtime.errors import VersionConflict
from runtime.ledger.port import Append, Ledger, NewEvent

if TYPE_CHECKING:
    from runtime.ledger.access_rows import AccessRow, AccessRows  # SQLAlchemy comes with it

CHANGED, REMOVED = "user.password_changed", "user.password_removed"
LOCKED, UNLOCKED = "user.locked", "user.unlocked"
SIGNED_IN = "user.signed_in"
_TRIES = 20


@dataclass(frozen=True, slots=True)
class Account:
    """How a person's account stands."""

    organisation: Name
    person: Name
    password_since: datetime | None = None
    """UTC; None while there is no password, with which nobody can log in."""
    locked_at: datetime | None = None
    locked_by: str = ""
    reason: str = ""
    """Why it was locked, in words."""
    signed_in_at: datetime | None = None
    """The last login that was right."""
    signed_in_via: str = ""


class Users:
    """The accounts of one store. What happens to one is an event; the hash of its password is none."""

    def __init__(self, ledger: Ledger, rows: AccessRows, passwords: Passwords, sessions: Sessions) -> None:
        self._ledger = ledger
        self._rows = rows
        self._passwords = passwords
        self._sessions = sessions

    async def account(self, organisation: Name, person: Name) -> Account:
        """Return how an account stands; one that nobody touched has no password and is open."""
        row = await self._rows.get(password_row(organisation, person))
        lock = _lock(await self._ledger.read(_stream(organisation, person)))
        signed = await self._ledger.read_newest(_sign_ins(organisation, person))
        last = signed[-1] if signed else None
        data = (lock.data or {}) if lock is not None else {}
        return Account(
            organisation,
            person,
            password_since=None if row is None else datetime.fromisoformat(str(row.data["since"])),
            locked_at=None if lock is None else lock.time,
            locked_by=str(data.get("by", "")),
            reason=str(data.get("reason", "")),
            signed_in_at=None if last is None else last.time,
            signed_in_via="" if last is None else str((last.data or {}).get("via", "")),
        )

    async def is_locked(self, organisation: Name, person: Name) -> bool:
        """Whether the account is locked: nothing of it counts then, no password, session or token."""
        return _lock(await self._ledger.read(_stream(organisation, person))) is not None

    async def set_password(self, organisation: Name, person: Name, password: str, *, by: str, via: str) -> None:
        """Give the account a password; every session of it ends.

        Raises:
            InvalidArguments: it is too short or too long.
        """
        self._passwords.require_good(password)
        hashed = await self._passwords.hash(password)
        (event,) = await self._append(organisation, person, NewEvent(CHANGED, {"by": clean_text(by), "via": via}))
        await self._keep(organisation, person, hashed, event.time)

    async def remove_password(self, organisation: Name, person: Name, *, by: str, via: str) -> None:
        """Take the password away: nobody logs in to the account any more, and its sessions end."""
        names = [row.name for row in await self._rows.of(owner_of(organisation, person))]
        await self._rows.drop(*names)  # first, so that nobody reads that it is gone while it still counts
        await self._append(organisation, person, NewEvent(REMOVED, {"by": clean_text(by), "via": via}))

    async def lock(self, organisation: Name, person: Name, *, reason: str, by: str, via: str) -> None:
        """Let nothing of the account count until it is unlocked; its sessions end for good."""
        data = {"reason": clean_text(reason), "by": clean_text(by), "via": via}
        await self._append(organisation, person, NewEvent(LOCKED, dict(data)))
        await self._sessions.close_all(organisation, person)

    async def unlock(self, organisation: Name, person: Name, *, by: str, via: str) -> None:
        """Let the account count again, with the password it had."""
        await self._append(organisation, person, NewEvent(UNLOCKED, {"by": clean_text(by), "via": via}))

    async def proves(self, organisation: Name, person: Name, password: str) -> str | None:
        """Return which password it is, where it is the account's and the account is open; None otherwise.

        It takes as long in every case. A hash of older parameters is made anew.
        """
        row = await self._rows.get(password_row(organisation, person))
        fits = await self._passwords.fits(password, None if row is None else str(row.data["hash"]))
        locked = await self.is_locked(organisation, person)
        if not fits or locked or row is None:
            return None
        if self._passwords.is_old(str(row.data["hash"])):
            await self._renew(row, await self._passwords.hash(password))
        return which_password(row)

    async def signed_in(self, organisation: Name, person: Name, *, via: str) -> None:
        """Record a login that was right."""
        await self._append(
            organisation, person, NewEvent(SIGNED_IN, {"via": via}), stream=_sign_ins(organisation, person)
        )

    async def _keep(self, organisation: Name, person: Name, hashed: str, since: datetime) -> None:
        owner = owner_of(organisation, person)
        sessions = [row.name for row in await self._rows.of(owner) if row.name != password_row(organisation, person)]
        data = {"hash": hashed, "since": since.isoformat(), "given": new_ulid()[0]}
        await self._rows.put(password_row(organisation, person), owner, data, and_drop=sessions)

    async def _renew(self, row: AccessRow, hashed: str) -> None:
        await self._rows.change(row, {**row.data, "hash": hashed})  # a password that was given meanwhile stays

    async def _append(
        self, organisation: Name, person: Name, event: NewEvent, *, stream: str | None = None
    ) -> Sequence[Event]:  # fmt: skip
        stream = stream or _stream(organisation, person)
        for _ in range(_TRIES):
            there = await self._ledger.read_newest(stream)
            version = there[-1].stream_version if there else 0
            with suppress(VersionConflict):
                return await self._ledger.append(
                    Append(stream, (event,), version, organisation, f"/organisation/{organisation}/users")
                )
        raise VersionConflict(f"{stream} is being changed by too many at once; try again.", id=stream)


def _stream(organisation: Name, person: Name) -> str:
    return f"user/{organisation}/{person}"


def _sign_ins(organisation: Name, person: Name) -> str:
    return f"sign_in/{organisation}/{person}"


def _lock(events: Sequence[Event]) -> Event | None:
    """Return the event that locked the account, while it is locked."""
    lock = None
    for event in events:
        if event.type in (LOCKED, UNLOCKED):
            lock = event if event.type == LOCKED else None
    return lock
