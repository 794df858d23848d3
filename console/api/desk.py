"""What every route works with, and what a request may see through it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, cast

from fastapi import Depends, Request
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from fastapi.params import Depends as DependsOn

from console.api.feed import Feed
from console.errors import Pruned
from console.ports import Application
from console.views import ExecutionRow
from contracts import ExecutionId, Name
from contracts.ids import ULID_PATTERN
from governance.access import Principal
from runtime.errors import InvalidArguments, NotFound
from runtime.settings.load import Settings

_PAGES = 10
"""Pages of executions that one request looks at for those that may be seen."""
_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Desk:
    """The product, and what this server has besides it."""

    application: Application
    settings: Settings
    wake: Callable[[ExecutionId], None]
    """Tells the executor of this process that an execution can go on."""
    feed: Feed
    reading_much: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    """Passed one by one by requests that read a whole execution, so that they leave room for the work itself."""
    _skills: dict[ExecutionId, tuple[Name, Name | None]] = field(default_factory=dict)

    async def seen(self, execution_id: ExecutionId, principal: Principal) -> ExecutionRow:
        """Return an execution that the principal may see; for others it is not there, and never was."""
        try:
            row = await self.application.row(execution_id)
        except Pruned as gone:
            if principal.may_see(str(gone.facts["organisation"])):
                raise
        else:
            if principal.may_see(row.organisation) and self.application.sight(principal).sees_skill(row.skill):
                return row
        raise NotFound(f"There is no {execution_id} here.", execution_id=execution_id)

    async def page(
        self, organisation: Name | None, principal: Principal, *, before: ExecutionId | None, limit: int
    ) -> tuple[Sequence[ExecutionRow], ExecutionId | None]:
        """Return the next executions that the principal may see, newest first, and the last one that was looked at.

        The second is None once there are no more. Whoever sees a department only gets fewer than asked for, at times
        none, where many of others lie between: a request looks at so many and no more.
        """
        sight, shown = self.application.sight(principal), list[ExecutionRow]()
        for _ in range(_PAGES):
            rows = await self.application.page(organisation=organisation, before=before, limit=limit + 1)
            shown += [row for row in rows[:limit] if sight.sees_skill(row.skill)]
            if len(rows) <= limit:
                return shown[:limit], None if len(shown) <= limit else shown[limit - 1].execution_id
            before = rows[limit - 1].execution_id
            if len(shown) >= limit:
                last = shown[limit - 1].execution_id
                return shown[:limit], last
        return shown, before

    async def skill_of(self, execution_id: ExecutionId) -> tuple[Name, Name | None] | None:
        """Return whose an execution is, and its skill, which never change; None for one that is gone."""
        if execution_id not in self._skills:
            try:
                row = await self.application.row(execution_id)
            except NotFound:
                return None
            while len(self._skills) >= _KEPT:
                self._skills.pop(next(iter(self._skills)))
            self._skills[execution_id] = row.organisation, row.skill
        return self._skills[execution_id]

    async def may_see(self, execution_id: ExecutionId, principal: Principal) -> bool:
        """Whether the principal may see an execution, which is there."""
        known = await self.skill_of(execution_id)
        if known is None:
            return False
        return principal.may_see(known[0]) and self.application.sight(principal).sees_skill(known[1])

    async def home_of(self, organisation: Name | None, principal: Principal) -> Path:
        """Return the folder of the organisation that a request means.

        Raises:
            InvalidArguments: it names none, and the token is not of one.
            NotFound: there is none of that name that the principal may see.
        """
        wanted = organisation or principal.organisation
        if wanted is None:
            raise InvalidArguments("The request names no organisation, and the token is an administrator's. Name one.")
        if not principal.may_see(wanted):
            raise NotFound(f"There is no organisation {wanted} here.", organisation=wanted)
        return await self.application.home_of(wanted)


def _desk(request: Request) -> Desk:
    return cast(Desk, request.app.state.desk)


def _principal(request: Request) -> Principal:
    return cast(Principal, request.state.principal)


def _execution_id(
    ulid: Annotated[
        str,
        InPath(
            alias="execution",
            pattern=ULID_PATTERN,
            description="The execution: the part of its id after the slash.",
            examples=["01JB0000000000000000000XEC"],
        ),
    ],
) -> ExecutionId:
    return ExecutionId(f"{ExecutionId.KIND}/{ulid}")


AtDesk = Annotated[Desk, Depends(_desk)]
Asking = Annotated[Principal, Depends(_principal)]
"""Who asks; authentication put it there before any route was looked for."""
OfExecution = Annotated[ExecutionId, Depends(_execution_id)]


def query_of(*names: str) -> DependsOn:
    """Return what lets a route refuse each parameter of its query that is not named: no misspelt one is passed over.

    A cursor that is not taken for one would begin a stream at the wrong place, and nobody would miss what is missing.
    """

    def require_known(request: Request) -> None:
        unknown = [name for name in request.query_params if name not in names]
        if unknown:
            raise RequestValidationError([_UNKNOWN | {"loc": ("query", name)} for name in unknown])

    return DependsOn(require_known)


_UNKNOWN = {"type": "extra_forbidden", "msg": "Extra inputs are not permitted", "input": None}
