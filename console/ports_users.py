"""What a face needs of the people who log in; part of the port `Application`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from contracts import Name
from governance.access import Person, Principal
from governance.access.users import Account


@dataclass(frozen=True, slots=True)
class User:
    """A person of org.yaml, and how their account stands."""

    person: Person
    account: Account
    tokens: int = 0
    """Tokens of theirs that count."""


class SigningIn(Protocol):
    """Passwords, sessions and accounts. Who people are and may do stands in org.yaml; what is here proves who asks."""

    async def users(self, folder: Path) -> Sequence[User]:
        """Return everybody in the organisation's folder, as they stand there."""
        ...

    async def user(self, folder: Path, person: Name) -> User:
        """Return one person; raise NobodyActs when there is none of that name."""
        ...

    async def set_password(self, folder: Path, person: Name, password: str, *, by: str, via: str) -> User:
        """Give a person a password; their sessions end.

        Raises:
            InvalidArguments: it is too short or too long.
            NobodyActs: there is no such person.
        """
        ...

    async def remove_password(self, folder: Path, person: Name, *, by: str, via: str) -> User:
        """Take a person's password away; their sessions end."""
        ...

    async def lock_user(self, folder: Path, person: Name, *, reason: str, by: str, via: str) -> User:
        """Let no password, session or token of a person count until they are unlocked."""
        ...

    async def unlock_user(self, folder: Path, person: Name, *, by: str, via: str) -> User:
        """Let them count again; sessions have to be opened anew."""
        ...

    async def sign_in(
        self, organisation: Name, person: Name, password: str, *, via: str
    ) -> tuple[Principal, str] | None:
        """Return whom a new session speaks for, and its text; None when it is not proven who asks, for whatever reason.

        It takes as long for people, organisations and passwords that are not there.
        """
        ...

    async def proves(self, principal: Principal, password: str) -> bool:
        """Whether a password is that of the person whom a session or token speaks for."""
        ...

    async def of_session(self, text: str) -> Principal | None:
        """Return whom a session speaks for; None when it is none of ours or is over.

        Raises:
            PermissionRefused: its person has no entry in the organisation any more, or is locked.
        """
        ...

    async def sign_out(self, principal: Principal) -> None:
        """End the session that the principal came with."""
        ...
