"""What the product does for people who are somewhere else: tokens, pages, and requests that others carry out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from agents.organisation import read_name
from console.folders import folder_of
from console.resources import Resources
from console.seeing import Seeing
from console.system_user import system_user
from contracts import Event, ExecutionId, Name, TokenId
from governance.access import BridgeRights, Principal, Sight, Token, Tokens
from runtime.errors import InvalidArguments, NotFound, PermissionRefused

_FIRST = "first token"
_LABEL = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class Serving:
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
        return self._still_here(await (await self._tokens()).authenticate(token))

    async def principal(self, token_id: TokenId) -> Principal | None:
        """Return whom a token speaks for now; see the port."""
        return self._still_here(await (await self._tokens()).principal(token_id))

    def sight(self, principal: Principal) -> Sight:
        """Return what a principal may see now; see the port."""
        return Seeing(self._resources, None).of(principal)

    async def create_token(self, name: str, *, folder: Path | None, person: Name | None) -> tuple[Token, str]:
        """Return a new token and its text; see the port."""
        tokens, by = await self._tokens(), system_user()
        if folder is None or person is None:
            return await tokens.create(name, by=by)
        home = folder_of(folder)
        self._resources.people_in(home).acting(person, by)
        organisation = read_name(home)
        return await tokens.create(name, by=by, organisation=organisation, person=person, home=home)

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
        """Return all tokens, oldest first."""
        return await (await self._tokens()).list()

    async def revoke_token(self, token_id: TokenId) -> Token:
        """Let a token count no more."""
        return await (await self._tokens()).revoke(token_id, by=system_user())

    async def _tokens(self) -> Tokens:
        return Tokens((await self._resources.store()).ledger)

    def _still_here(self, principal: Principal | None) -> Principal | None:
        """Return the principal when its person still has an entry; what counts is the folder as it is today."""
        if principal is None or principal.person is None or principal.home is None:
            return principal
        try:
            person = self._resources.people_in(principal.home).get(principal.person)
        except NotFound:
            raise PermissionRefused(
                f"The folder of {principal.organisation} is no more where it was when the token {principal.name} was "
                "made, so that nobody knows who is in it. Make a new token.",
                organisation=principal.organisation,
            ) from None
        if person is None:
            raise PermissionRefused(
                f"{principal.person} has no entry in {principal.organisation} any more, so the token "
                f"{principal.name} counts for nothing.",
                person=principal.person,
            )
        return principal
