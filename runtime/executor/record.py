"""Reads and writes the stream of an execution; the table of states stands before every write."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any, TypedDict

from contracts import ExecutionId, ExecutionRequest, Name, StatusReport
from runtime.canonical import clean, sha256
from runtime.errors import BusinessRefusal, NotFound, VersionConflict
from runtime.executor import states
from runtime.executor.states import state_after
from runtime.executor.view import ExecutionView, apply, fold_execution
from runtime.ledger.port import Append, Cursor, Lease, Ledger, NewEvent

NO_MODELS: Mapping[str, str] = {}
_TRIES = 10
"""How often a fact is offered again when somebody else wrote to the stream between reading and writing."""


_ASKED = {"goal", "skill", "plan", "parameters", "knowledge_scope", "known_at", "language"}
"""What makes a request the one it is. Who asks, and under which terms it runs, may change from one try to the next."""


class KeyInUse(BusinessRefusal):
    """An idempotency key stands for one request, and this is another one; the facts name what differs."""

    code = "KEY_IN_USE"


@dataclass(frozen=True, slots=True)
class Submitted:
    """What a request became."""

    execution_id: ExecutionId
    repeated: bool
    """Whether it is the execution that the same key was used for before."""


class _Common(TypedDict):
    execution_id: ExecutionId
    organisation: Name
    trace_id: str


class Record:
    """The streams `execution/…` and `request/…` of one ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def view(self, execution_id: ExecutionId) -> ExecutionView:
        """Return what the ledger says about the execution; raise NotFound when it says nothing."""
        return fold_execution(execution_id, await self._ledger.read(execution_id))

    async def request(
        self, request: ExecutionRequest, organisation_sha256: str, home: Path, blobs: Sequence[bytes],
        models: Mapping[str, str] = NO_MODELS, *, beside: Sequence[Append] = (), cursors: Sequence[Cursor] = (),
    ) -> Submitted:  # fmt: skip
        """Store a request with its blobs; a key that was used for the same before stands for the earlier execution.

        Args:
            beside: what led to the request, in the same commit. It is not stored where the key was used before.
            cursors: how far whoever asks has come, in the same commit, under the same condition.

        Raises:
            KeyInUse: the key was used for something else.
            VersionConflict: a stream or a cursor of `beside` moved on; nothing was stored.
        """
        execution_id = ExecutionId.new()
        data: dict[str, Any] = {
            "request": request.to_json(), "organisation_sha256": organisation_sha256, "home": str(home),
            **({"models": dict(models)} if models else {}),
        }  # fmt: skip
        common: _Common = {
            "execution_id": execution_id,
            "organisation": request.organisation,
            "trace_id": secrets.token_hex(16),
        }
        requested = _append(execution_id, 0, states.REQUESTED, data, **common)
        if request.idempotency_key is None:
            await self._ledger.append(*beside, requested, blobs=blobs, cursors=cursors)
            return Submitted(execution_id, repeated=False)
        stream = _key_stream(request.organisation, request.idempotency_key)
        claim = _append(stream, 0, "request.claimed", {"execution_id": execution_id}, **common)
        try:
            await self._ledger.append(*beside, claim, requested, blobs=blobs, cursors=cursors)
        except VersionConflict:
            first = await self.claimed(request.organisation, request.idempotency_key)
            if first is None:
                raise
            await self._require_same(first, request)
            return Submitted(first, repeated=True)
        return Submitted(execution_id, repeated=False)

    async def _require_same(self, execution_id: ExecutionId, again: ExecutionRequest) -> None:
        """Return when the execution asks for the same; a key stays used when its execution was pruned or erased."""
        try:
            first = (await self.view(execution_id)).request
        except NotFound:
            raise KeyInUse(
                f"The key {again.idempotency_key} was used for {execution_id}, which was pruned since. Nothing was "
                "started. Give this request a key of its own.",
                execution_id=execution_id,
                key=again.idempotency_key,
            ) from None
        _require_same(first, again, execution_id)

    async def claimed(self, organisation: Name, key: str) -> ExecutionId | None:
        """Return the execution that was requested under the key, or None when none was."""
        events = await self._ledger.read(_key_stream(organisation, key))
        return ExecutionId(str((events[0].data or {})["execution_id"])) if events else None

    async def add(
        self, execution_id: ExecutionId, event_type: str, data: Mapping[str, Any], lease: Lease | None = None,
        *, unless: Callable[[ExecutionView], bool] = lambda view: False, seen: ExecutionView | None = None,
    ) -> ExecutionView:  # fmt: skip
        """Append one fact where the stream stands now, unless that holds; return the execution as it is then.

        With `seen` it is tried first where the stream stood then, which the append proves or refuses.
        """
        for left in reversed(range(_TRIES)):
            view, seen = seen or await self.view(execution_id), None
            if unless(view):
                return view
            state_after(view.state, event_type)
            append = _append(
                execution_id,
                view.version,
                event_type,
                data,
                execution_id=execution_id,
                organisation=view.request.organisation,
                trace_id=view.trace_id,
                lease=lease,
            )
            try:
                (event,) = await self._ledger.append(append)
            except VersionConflict:
                if not left:
                    raise
            else:
                return apply(view, event)
        raise AssertionError("the last try returns or raises")

    async def finish(
        self, execution_id: ExecutionId, report: StatusReport, lease: Lease, *, seen: ExecutionView | None = None
    ) -> ExecutionView:
        """Append the final report, unless there is one already."""
        return await self.add(
            execution_id, states.FINISHED, {"report": report.to_json()}, lease,
            unless=lambda view: view.report is not None, seen=seen,
        )  # fmt: skip


def _require_same(first: ExecutionRequest, again: ExecutionRequest, execution_id: ExecutionId) -> None:
    before, now = _asked(first), _asked(again)
    differs = [name for name in sorted(_ASKED) if before[name] != now[name]]
    if differs:
        raise KeyInUse(
            f"The key {again.idempotency_key} was used for {execution_id}, which asks for something else: "
            f"{', '.join(differs)} {'differs' if len(differs) == 1 else 'differ'}. Nothing was started. Look at it "
            f"with `silicon show {execution_id}`, or give this request a key of its own.",
            execution_id=execution_id,
            key=again.idempotency_key,
            differs=list(differs),
        )


def _asked(request: ExecutionRequest) -> dict[str, Any]:
    known_at = request.known_at and request.known_at.astimezone(UTC)
    return {name: clean(known_at if name == "known_at" else getattr(request, name)) for name in _ASKED}


def _key_stream(organisation: Name, key: str) -> str:
    return f"request/{organisation}/{sha256(key.encode())}"


def _append(
    stream: str,
    version: int,
    event_type: str,
    data: Mapping[str, Any],
    *,
    execution_id: ExecutionId,
    organisation: Name,
    trace_id: str,
    lease: Lease | None = None,
) -> Append:
    return Append(
        stream=stream,
        events=[NewEvent(event_type, {key: clean(value) for key, value in data.items()})],
        expected_version=version,
        organisation=organisation,
        source=f"/organisation/{organisation}/executor",
        execution_id=execution_id,
        trace_id=trace_id,
        leases=() if lease is None else (lease,),
    )
