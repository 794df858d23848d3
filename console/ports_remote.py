"""What a face needs of the product that acts for people who are somewhere else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from console.views import ExecutionOutcome, ExecutionRow
from contracts import Event, ExecutionId, Name, TokenId
from governance.access import Principal, Sight, Token


class Remote(Protocol):
    """The part of `Application` that the HTTP API stands on.

    Nothing here runs an execution: what is asked for is recorded, and whoever claims the execution carries it out.
    Reading goes page by page, so that no reader holds a thread, a transaction or much memory while it thinks.
    """

    # executions
    async def page(
        self, *, organisation: Name | None, before: ExecutionId | None, limit: int
    ) -> Sequence[ExecutionRow]:  # fmt: skip
        """Return executions, newest first: those asked for before `before`, at most `limit`."""
        ...

    async def row(self, execution_id: ExecutionId) -> ExecutionRow:
        """Return one execution as a list shows it.

        Raises:
            NotFound: there is none.
            Pruned: there was one.
        """
        ...

    async def outcome(self, execution_id: ExecutionId) -> ExecutionOutcome:
        """Return how an execution stands, with what it found and waits for; raise NotFound when there is none."""
        ...

    # the ledger
    async def events_after(
        self, position: int, *, execution_id: ExecutionId | None = None, limit: int
    ) -> Sequence[Event]:  # fmt: skip
        """Return the next events, of one execution or of all, in order."""
        ...

    async def head(self) -> int:
        """Return the greatest position; 0 for an empty ledger."""
        ...

    async def require_writable(self) -> None:
        """Return when the ledger answers, and took in what it was last given.

        Raises:
            LedgerUnavailable: it does not answer now.
            LedgerFull: its disk was full when something was last written.
        """
        ...

    # tokens
    async def authenticate(self, token: str) -> Principal | None:
        """Return whom a token speaks for, or None when it counts for nothing.

        Raises:
            PermissionRefused: its person has no entry in the organisation any more.
        """
        ...

    async def principal(self, principal_id: str) -> Principal | None:
        """Return whom a token or session speaks for now, as `authenticate`, for a request that goes on for long."""
        ...

    def sight(self, principal: Principal) -> Sight:
        """Return what a principal may see now in its organisation; an administrator sees everything.

        Raises:
            NotFound, OrganisationFaulty: nobody can say now, so nothing may be seen.
        """
        ...

    async def create_token(
        self, name: str, *, folder: Path | None, person: Name | None, within_s: float | None = None
    ) -> tuple[Token, str]:  # fmt: skip
        """Return a new token and its text, which nothing shows again.

        It acts as one person of the organisation in `folder`; without both, as anybody in all organisations. With
        `within_s` it counts for so many seconds and no longer.

        Raises:
            NobodyActs: the organisation has no such person.
        """
        ...

    async def create_bridge_token(
        self, name: str, *, folders: Sequence[Path], labels: Sequence[str]
    ) -> tuple[Token, str]:  # fmt: skip
        """Return a new token of a bridge that speaks HTTP, and its text, which nothing shows again.

        It may register nodes that offer these labels, for the orders of these organisations, and do nothing else.

        Raises:
            InvalidArguments: a label is not written as it must be.
            NotFound, OrganisationFaulty: a folder cannot be used.
        """
        ...

    async def create_first_token(self) -> tuple[Token, str] | None:
        """Return an administrator's token and its text when this ledger never had one, else None."""
        ...

    async def tokens(self) -> Sequence[Token]:
        """Return all tokens, oldest first."""
        ...

    async def revoke_token(self, token_id: TokenId) -> Token:
        """Let a token count no more."""
        ...
