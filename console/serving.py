"""What the product does for people who are somewhere else: tokens, pages, and requests that others carry out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from agents.organisation import read_name
from console.folders import folder_of
from console.resources import Resources
from console.seeing import Seeing
from console.signing_in import SigningIn
from console.system_user import system_user
from contracts import Event, ExecutionId, Name, TokenId
from governance.access import BridgeRights, Principal, Sight, Token, Tokens
from runtime.errors import InvalidArguments

_FIRST = "first token"
_LABEL = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class Serving(SigningIn):
    """The parts of the port `Remote` that are not about one execution."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    async def events_after(
        self, position: int, *, execution_id: ExecutionId | None = None, limit: int
    ) -> Sequence[Event]:  # fmt: skip
        """Return the next events, of one execution or of all, in order."""
        ledger = (await self._resources.store()).ledger
        if execution_id is not None:
            return await ledger.read_execution(execution_id, after=position, limit=limit)
        return await ledger.read_all(after=position, limit=limit)

    async def head(self) -> int:
        """Return the greatest position."""
        return await (await self._resources.store()).ledger.head()

    async def require_writable(self) -> None:
        """Return when the ledger answers, and took in what it was last given."""
        store = await self._resources.store()
        await store.ledger.head()
        if store.writer.full is not None:
            raise store.writer.full

    async def authenticate(self, token: str) -> Principal | None:
        """Return whom a token speaks for; see the port."""
        principal = await (await self._tokens()).authenticate(token)
        if principal is None:
            return None
        await self._accounts.used(principal)
        return await self.still_counts(principal)

    async def principal(self, principal_id: str) -> Principal | None:
        """Return whom a token or session speaks for now; see the port."""
        if principal_id.startswith(f"{TokenId.KIND}/"):
            principal = await (await self._tokens()).principal(TokenId(principal_id))
        else:
            session = await (await self._accounts.sessions()).get(principal_id)
            principal = None if session is None else session.principal
        return None if principal is None else await self.still_counts(principal)

    def sight(self, principal: Principal) -> Sight:
        """Return what a principal may see now; see the port."""
        return Seeing(self._resources, None).of(principal)

    async def create_token(
        self, name: str, *, folder: Path | None, person: Name | None, within_s: float | None = None
    ) -> tuple[Token, str]:  # fmt: skip
        """Return a new token and its text; see the port."""
        tokens, by = await self._tokens(), system_user()
        expires_at = None if within_s is None else self._resources.clock.now() + timedelta(seconds=within_s)
        if folder is None or person is None:
            return await tokens.create(name, by=by, expires_at=expires_at)
        home = folder_of(folder)
        self._resources.people_in(home).acting(person, by)
        organisation = read_name(home)
        return await tokens.create(
            name, by=by, organisation=organisation, person=person, home=home, expires_at=expires_at
        )

    async def create_bridge_token(
        self, name: str, *, folders: Sequence[Path], labels: Sequence[str]
    ) -> tuple[Token, str]:  # fmt: skip
        """Return a new token of a bridge and its text; see the port."""
        for label in labels:
            if not _LABEL.fullmatch(label):
                raise InvalidArguments(
                    f"{label[:100]!r} is no label: lower case, words joined by hyphens, such as `till`.", label=label
                )
        organisations = tuple(dict.fromkeys(read_name(folder_of(folder)) for folder in folders))
        rights = BridgeRights(organisations, tuple(dict.fromkeys(labels)))
        return await (await self._tokens()).create_bridge(name, rights, by=system_user())

    async def create_first_token(self) -> tuple[Token, str] | None:
        """Return an administrator's token when this ledger never had one; see the port."""
        return await (await self._tokens()).create_first(_FIRST, by=system_user())

    async def tokens(self) -> Sequence[Token]:
        """Return all tokens, oldest first, each with when it was last used."""
        tokens = await (await self._tokens()).list()
        return [replace(each, used_at=await self._accounts.last_used(each.token_id)) for each in tokens]

    async def revoke_token(self, token_id: TokenId) -> Token:
        """Let a token count no more."""
        return await (await self._tokens()).revoke(token_id, by=system_user())

    async def _tokens(self) -> Tokens:
        return Tokens((await self._resources.store()).ledger, self._resources.clock)
