"""Sessions: what a login gives. Made once, kept as a hash, over after a while, at a logout or a new password."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contracts import Name
from contracts.ids import ULID_PATTERN, new_ulid
from governance.access.principals import Principal
from runtime.clock import Clock
from runtime.settings.access import AccessSettings

if TYPE_CHECKING:
    from runtime.ledger.access_rows import AccessRow, AccessRows  # SQLAlchemy comes with it

_TEXT = re.compile(rf"({ULID_PATTERN.strip('^$')})\.([A-Za-z0-9_-]{{43}})")
_SECRET_BYTES = 32
_NOBODY = "0" * 64
_TOUCHES = 20
"""A session that is used is touched so many times within its idle time, not with every request."""


@dataclass(frozen=True, slots=True)
class Session:
    """One login of a person."""

    id: str
    organisation: Name
    person: Name
    home: Path
    opened_at: datetime
    used_at: datetime
    via: str
    password: str | None = None
    """Which password proved it: it ends with that one, also where a new one came while it was opened."""

    @property
    def principal(self) -> Principal:
        """Whom it speaks for."""
        return Principal(self.id, f"{self.person}'s session", self.organisation, self.person, self.home)


class Sessions:
    """The sessions of one store.

    The text of a session, which a cookie holds, is its ULID and 256 random bits. It is found by the ULID and proven by
    the sha256 of the whole, compared in constant time, as for tokens.
    """

    def __init__(self, rows: AccessRows, clock: Clock, settings: AccessSettings) -> None:
        self._rows = rows
        self._clock = clock
        self._settings = settings

    async def open(
        self, organisation: Name, person: Name, home: Path, *, via: str, password: str | None = None
    ) -> tuple[Session, str]:
        """Return a new session and its text; what has run out of the same person's is cleared away."""
        ulid, now = new_ulid()[0], self._clock.now()
        text = f"{ulid}.{secrets.token_urlsafe(_SECRET_BYTES)}"
        session = Session(f"session/{ulid}", organisation, person, home, now, now, via, password)
        owner = owner_of(organisation, person)
        over = [row.name for row in await self._rows.of(owner) if self._is_over(row)]
        await self._rows.put(session.id, owner, _data(session, _hash(text)), and_drop=over)
        return session, text

    async def find(self, text: str) -> Session | None:
        """Return the session of that text; None where it is none of ours, was changed, or is over."""
        match = _TEXT.fullmatch(text)
        row = await self._rows.get(f"session/{match[1]}") if match else None
        proven = hmac.compare_digest(_hash(text), str(row.data["sha256"]) if row else _NOBODY)
        if row is None or not proven or await self._ended(row):
            return None
        session, now = _session(row), self._clock.now()
        if now - session.used_at > timedelta(seconds=self._settings.session_idle_s / _TOUCHES):
            await self._rows.change(row, {**row.data, "used_at": now.isoformat()})  # one left meanwhile stays so
        return session

    async def get(self, session_id: str) -> Session | None:
        """Return a session that is not over, by its id, for a request that goes on for long; it is not touched."""
        row = await self._rows.get(session_id)
        return None if row is None or await self._ended(row) else _session(row)

    async def close(self, session_id: str) -> None:
        """End a session; one that is over stays so."""
        await self._rows.drop(session_id)

    async def close_all(self, organisation: Name, person: Name, *, but: str = "") -> None:
        """End every session of a person, `but` one."""
        rows = await self._rows.of(owner_of(organisation, person))
        await self._rows.drop(*(row.name for row in rows if row.name.startswith("session/") and row.name != but))

    async def _ended(self, row: AccessRow) -> bool:
        by = row.data.get("password")
        if self._is_over(row) or by is None:
            return self._is_over(row)
        now = await self._rows.get(password_row(str(row.data["organisation"]), str(row.data["person"])))
        return now is None or which_password(now) != by

    def _is_over(self, row: AccessRow) -> bool:
        if not row.name.startswith("session/"):
            return False
        session, now = _session(row), self._clock.now()
        limits = (session.opened_at, self._settings.session_s), (session.used_at, self._settings.session_idle_s)
        return any(now >= since + timedelta(seconds=within_s) for since, within_s in limits)


def owner_of(organisation: Name, person: Name) -> str:
    """Return whose rows of access those of a person are."""
    return f"{organisation}/{person}"


def password_row(organisation: Name, person: Name) -> str:
    """Return the name of the row that holds a person's password."""
    return f"password/{organisation}/{person}"


def which_password(row: AccessRow) -> str:
    """Return what tells a password from those before and after it; rows of earlier versions have only their moment."""
    return str(row.data.get("given") or row.data["since"])


def _data(session: Session, sha256: str) -> dict[str, Any]:
    return {
        "sha256": sha256,
        "organisation": session.organisation,
        "person": session.person,
        "home": str(session.home),
        "opened_at": session.opened_at.isoformat(),
        "used_at": session.used_at.isoformat(),
        "via": session.via,
        "password": session.password,
    }


def _session(row: AccessRow) -> Session:
    data = row.data
    return Session(
        id=row.name,
        organisation=str(data["organisation"]),
        person=str(data["person"]),
        home=Path(str(data["home"])),
        opened_at=datetime.fromisoformat(str(data["opened_at"])),
        used_at=datetime.fromisoformat(str(data["used_at"])),
        via=str(data["via"]),
        password=data.get("password"),
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()
