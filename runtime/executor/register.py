"""Executions as the ledger has them: asked for, asked to stop or to go on, looked at. Nothing here runs one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from contracts import Budget, ExecutionId, ExecutionRequest, Name
from runtime.errors import NotFound
from runtime.executor import states
from runtime.executor.record import NO_MODELS, Record, Submitted
from runtime.executor.states import ExecutionState, IllegalTransition
from runtime.executor.view import ExecutionView, refuse_imported
from runtime.ledger.port import Append, Cursor, Store


class Register:
    """The executions of one store. What is asked for is carried out by whoever claims the execution next."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._record = Record(store.ledger)

    async def submit(
        self, request: ExecutionRequest, organisation_sha256: str, home: Path, blobs: Sequence[bytes] = (), *,
        models: Mapping[str, str] = NO_MODELS, beside: Sequence[Append] = (), cursors: Sequence[Cursor] = (),
    ) -> Submitted:  # fmt: skip
        """Record the request with its pinned organisation and models (role → name); nothing runs yet.

        The same idempotency key is the same execution, however often and from wherever it is asked for. `beside` and
        `cursors` are stored in the same commit, and not at all where the key was used before.

        Raises:
            KeyInUse: the key stands for an execution that asks for something else.
            VersionConflict: a stream or a cursor of those moved on; nothing was stored.
        """
        return await self._record.request(
            request, organisation_sha256, home, blobs, models, beside=beside, cursors=cursors
        )

    async def request_cancel(self, execution_id: ExecutionId, by: str) -> ExecutionView:
        """Record that the execution is to stop, and return how it stands then; whoever works on it stops it.

        One that has ended stays as it is, and a second request changes nothing.
        """
        view = await self.view(execution_id)
        if _over_or_cancelled(view):
            return view
        refuse_imported(view)
        try:
            return await self._record.add(execution_id, states.CANCEL_REQUESTED, {"by": by}, unless=_over_or_cancelled)
        except IllegalTransition:  # it ended meanwhile
            return await self.view(execution_id)

    async def request_branch_cancel(self, execution_id: ExecutionId, branch: str, by: str) -> ExecutionView:
        """Record that one branch of a group is to stop, and return how the execution stands then.

        One that has ended stays as it is, and a second request changes nothing.
        """

        def pointless(view: ExecutionView) -> bool:
            return _over_or_cancelled(view) or branch in view.cancelled_branches

        view = await self.view(execution_id)
        if pointless(view):
            return view
        refuse_imported(view)
        fact = {"by": by, "branch": branch}
        try:
            return await self._record.add(execution_id, states.BRANCH_CANCEL_REQUESTED, fact, unless=pointless)
        except IllegalTransition:  # it ended meanwhile
            return await self.view(execution_id)

    async def request_reopening(
        self, execution_id: ExecutionId, by: str, *, budget: Budget | None = None
    ) -> ExecutionView:  # fmt: skip
        """Record that an execution which failed or reached a limit is to go on; others stay as they are.

        With `budget` it goes on with that one instead of its own, whoever takes it up.
        """
        view = await self.view(execution_id)
        if view.state is not ExecutionState.STOPPED:
            return view
        fact = {"by": by} if budget is None else {"by": by, "budget": budget.to_json()}
        try:
            return await self._record.add(execution_id, states.REOPENED, fact)
        except IllegalTransition:  # somebody else had it go on meanwhile
            return await self.view(execution_id)

    async def view(self, execution_id: ExecutionId) -> ExecutionView:
        """Return what the ledger says about the execution; raise NotFound when it says nothing."""
        return await self._record.view(execution_id)

    async def find(self, organisation: Name, idempotency_key: str) -> ExecutionId | None:
        """Return the execution that was asked for under the key, or None when none was."""
        return await self._record.claimed(organisation, idempotency_key)

    async def list(self, *, organisation: str | None = None, unfinished_only: bool = False) -> Sequence[ExecutionView]:
        """Return the executions, oldest first."""
        streams = await self._store.ledger.streams(
            "execution", organisation=organisation, last_types=states.UNFINISHED if unfinished_only else ()
        )
        return await self.views([ExecutionId(stream) for stream in streams])

    async def views(self, execution_ids: Sequence[ExecutionId]) -> Sequence[ExecutionView]:
        """Return what the ledger says about these; one that was pruned since somebody listed it is left out."""
        found = await asyncio.gather(*(self._view_or_none(each) for each in execution_ids))
        return [view for view in found if view is not None]

    async def orphans(self) -> Sequence[ExecutionView]:
        """Return executions that were begun, do not wait, are not finished, and that nobody works on."""
        live = {lease.name for lease in await self._store.leases.live("execution/")}
        return [
            view
            for view in await self.list(unfinished_only=True)
            if view.state is ExecutionState.RUNNING and view.execution_id not in live
        ]

    async def unfinished(self) -> Sequence[ExecutionId]:
        """Return the executions that have not ended, oldest first; nothing of them is read."""
        return [
            ExecutionId(each) for each in await self._store.ledger.streams("execution", last_types=states.UNFINISHED)
        ]

    async def _view_or_none(self, execution_id: ExecutionId) -> ExecutionView | None:
        try:
            return await self.view(execution_id)
        except NotFound:
            return None


def _over_or_cancelled(view: ExecutionView) -> bool:
    return view.report is not None or view.cancel_requested_by is not None
