"""Bearer tokens: made once, shown once, kept as a hash, revoked at once."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from contracts import Event, Name, TokenId
from governance.access.principals import BridgeRights, Principal
from runtime.canonical import clean_text
from runtime.clock import Clock, SystemClock
from runtime.errors import InvalidArguments, NotFound, VersionConflict
from runtime.ledger.port import Append, Ledger, NewEvent

CREATED, REVOKED = "token.created", "token.revoked"
OWNER = "silicon"
"""Whose facts the tokens of administrators are: they belong to no organisation."""

_FIRST = "first_token/silicon"
"""Stream that only the very first token writes to, so that of many processes that start at once one makes it."""
_TEXT = re.compile(r"silicon_([0-7][0-9A-HJKMNP-TV-Z]{25})_[A-Za-z0-9_-]{43}")
_SECRET_BYTES = 32
_LONGEST_NAME = 100
_NOBODY = "0" * 64


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token; its text is known only to whoever it was shown to."""

    token_id: TokenId
    name: str
    secret_sha256: str
    created_at: datetime
    created_by: str
    organisation: Name | None = None
    person: Name | None = None
    home: Path | None = None
    revoked_at: datetime | None = None
    expires_at: datetime | None = None
    """UTC; from then on it counts no more. None: it counts until it is revoked."""
    used_at: datetime | None = None
    """When it was last used, to the minute; None where that is not known."""
    bridge: BridgeRights | None = None

    def counts_at(self, now: datetime) -> bool:
        """Whether it was not revoked and has not run out."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    @property
    def principal(self) -> Principal:
        """Whom it speaks for."""
        return Principal(self.token_id, self.name, self.organisation, self.person, self.home, self.bridge)


class Tokens:
    """The tokens of one ledger, a stream each: `token/01J…`.

    The text of a token is `silicon_`, the ULID of its stream, and 256 random bits. It is found by the ULID, which is
    no secret, and proven by the sha256 of the whole text, compared in constant time. So many random bits cannot be
    guessed from their hash, so that it needs no salt and no slow hash.
    """

    def __init__(self, ledger: Ledger, clock: Clock | None = None) -> None:
        self._ledger = ledger
        self._clock = clock or SystemClock()

    async def create(
        self,
        name: str,
        *,
        by: str,
        organisation: Name | None = None,
        person: Name | None = None,
        home: Path | None = None,
        expires_at: datetime | None = None,
    ) -> tuple[Token, str]:
        """Return a new token, and its text, which nothing can show again.

        Args:
            by: who makes it, for the record.
            organisation: with `person` and `home`, its folder, whom it speaks for; without all three it is an
                administrator's.
            expires_at: from then on it counts no more; None for never.

        Raises:
            InvalidArguments: the name is empty or too long, or it would have run out already.
        """
        if (organisation is None, person is None, home is None) not in ((True,) * 3, (False,) * 3):
            raise ValueError("A token speaks for a person of an organisation with a folder, or for an administrator.")
        return await self._create(name, by, organisation, person, home, expires_at=expires_at)

    async def create_bridge(self, name: str, rights: BridgeRights, *, by: str) -> tuple[Token, str]:
        """Return a new token of a bridge, and its text; raises as `create`."""
        return await self._create(name, by, None, None, None, bridge=rights)

    async def create_first(self, name: str, *, by: str) -> tuple[Token, str] | None:
        """Return an administrator's token when no token was ever made in this ledger, else None."""
        if await self._ledger.streams("token"):
            return None
        guard = Append(_FIRST, (NewEvent("first_token.created"),), 0, OWNER, f"/organisation/{OWNER}/tokens")
        try:
            return await self._create(name, by, None, None, None, guard)
        except VersionConflict:
            return None

    async def list(self) -> Sequence[Token]:
        """Return all tokens, oldest first, also those that were revoked."""
        return [await self.get(TokenId(stream)) for stream in await self._ledger.streams("token")]

    async def get(self, token_id: TokenId) -> Token:
        """Return one token; raise NotFound when there is none."""
        return _fold(token_id, await self._ledger.read(token_id))

    async def revoke(self, token_id: TokenId, *, by: str) -> Token:
        """Let the token count no more, from the next request on; one revoked before is returned as it is."""
        events = await self._ledger.read(token_id)
        token = _fold(token_id, events)
        if token.revoked_at is not None:
            return token
        with suppress(VersionConflict):  # somebody else revoked it meanwhile: nothing else is ever written here
            await self._ledger.append(_append(token, NewEvent(REVOKED, {"by": clean_text(by)}), len(events)))
        return await self.get(token_id)

    async def authenticate(self, text: str) -> Principal | None:
        """Return whom the token speaks for; None when it is none of ours, was changed or was revoked."""
        match = _TEXT.fullmatch(text)
        token = await self._known(TokenId(f"token/{match[1]}")) if match else None
        proven = hmac.compare_digest(_hash(text), token.secret_sha256 if token else _NOBODY)
        return token.principal if token is not None and proven and token.counts_at(self._clock.now()) else None

    async def principal(self, token_id: TokenId) -> Principal | None:
        """Return whom a token speaks for now; None once it was revoked."""
        token = await self._known(token_id)
        return token.principal if token is not None and token.counts_at(self._clock.now()) else None

    async def _known(self, token_id: TokenId) -> Token | None:
        try:
            return await self.get(token_id)
        except NotFound:
            return None

    async def _create(
        self,
        name: str,
        by: str,
        organisation: Name | None,
        person: Name | None,
        home: Path | None,
        *more: Append,
        bridge: BridgeRights | None = None,
        expires_at: datetime | None = None,
    ) -> tuple[Token, str]:
        if expires_at is not None and expires_at <= self._clock.now():
            raise InvalidArguments("A token has to run out in the future.", expires_at=expires_at.isoformat())
        name = clean_text(" ".join(name.split()))
        if not 0 < len(name) <= _LONGEST_NAME:
            raise InvalidArguments(
                f"A token is called by 1 to {_LONGEST_NAME} letters that say what it is for, such as “night report”."
            )
        token_id = TokenId.new()
        text = f"silicon_{token_id.ulid}_{secrets.token_urlsafe(_SECRET_BYTES)}"
        data: dict[str, Any] = {
            "name": name,
            "secret_sha256": _hash(text),
            "organisation": organisation,
            "person": person,
            "home": None if home is None else str(home),
            "by": clean_text(by),
        }
        if expires_at is not None:
            data["expires_at"] = expires_at.isoformat()
        if bridge is not None:
            data["bridge"] = {"organisations": list(bridge.organisations), "labels": list(bridge.labels)}
        created = Append(token_id, (NewEvent(CREATED, data),), 0, organisation or OWNER, _source(organisation))
        events = await self._ledger.append(created, *more)
        return _fold(token_id, events[:1]), text


def _append(token: Token, event: NewEvent, version: int) -> Append:
    return Append(token.token_id, (event,), version, token.organisation or OWNER, _source(token.organisation))


def _source(organisation: Name | None) -> str:
    return f"/organisation/{organisation or OWNER}/tokens"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _fold(token_id: TokenId, events: Sequence[Event]) -> Token:
    if not events or events[0].data is None:
        raise NotFound(f"There is no {token_id}. `silicon tokens list` shows those that there are.", id=token_id)
    data = events[0].data
    revoked = [event.time for event in events if event.type == REVOKED]
    return Token(
        token_id=token_id,
        name=str(data["name"]),
        secret_sha256=str(data["secret_sha256"]),
        created_at=events[0].time,
        created_by=str(data["by"]),
        organisation=_text(data.get("organisation")),
        person=_text(data.get("person")),
        home=Path(home) if (home := _text(data.get("home"))) else None,
        bridge=_bridge(data.get("bridge")),
        expires_at=datetime.fromisoformat(until) if (until := _text(data.get("expires_at"))) else None,
        revoked_at=revoked[0] if revoked else None,
    )


def _bridge(value: object) -> BridgeRights | None:
    if not isinstance(value, dict):
        return None
    return BridgeRights(tuple(value["organisations"]), tuple(value["labels"]))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
