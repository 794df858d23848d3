"""Legal holds: while one stands, nothing of its execution is pruned.

A hold is a stream `hold/ULID of the execution` of its own, so that it outlives whatever happens to the execution.
"""

from __future__ import annotations

from collections.abc import Sequence

from contracts import Event, ExecutionId, Name
from runtime.canonical import clean
from runtime.keeping.errors import HoldRefused
from runtime.keeping.results import Hold
from runtime.ledger.port import Append, Ledger, NewEvent, Stream

KIND = "hold"
PLACED = "hold.placed"
RELEASED = "hold.released"


class Holds:
    """The holds of one ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def standing(self) -> list[Hold]:
        """Return the holds that stand, oldest first."""
        streams = await self._ledger.streams(KIND, last_types=(PLACED,))
        found = [_fold(await self._ledger.read(stream)) for stream in streams]
        return [hold for hold in found if hold is not None]

    async def of(self, execution_id: ExecutionId) -> tuple[Hold | None, int]:
        """Return the hold of one execution, if there is one, and the version of its stream."""
        events = await self._ledger.read(stream_of(execution_id))
        return _fold(events), len(events)

    async def place(self, execution_id: ExecutionId, organisation: Name, *, reason: str, by: str) -> Hold:
        """Let nothing of the execution be pruned from now on.

        Raises:
            HoldRefused: there is a hold already; the facts say whose.
            VersionConflict: another hold was placed or released at this moment.
        """
        hold, version = await self.of(execution_id)
        if hold is not None:
            raise HoldRefused(
                f"{execution_id} is under a hold since {hold.at:%Y-%m-%d %H:%M} UTC, placed by {hold.by}: "
                f"{hold.reason}. Nothing was changed.",
                execution_id=execution_id, by=hold.by, at=hold.at.isoformat(), reason=hold.reason,
            )  # fmt: skip
        event = await self._write(execution_id, organisation, version, NewEvent(PLACED, _said(reason, by)))
        return Hold(execution_id, organisation, reason, by, event.time)

    async def release(self, execution_id: ExecutionId, *, reason: str, by: str) -> Hold:
        """End the hold and return it as it stood.

        Raises:
            HoldRefused: there is none.
            VersionConflict: another hold was placed or released at this moment.
        """
        hold, version = await self.of(execution_id)
        if hold is None:
            raise HoldRefused(f"{execution_id} is under no hold. Nothing was changed.", execution_id=execution_id)
        await self._write(execution_id, hold.organisation, version, NewEvent(RELEASED, _said(reason, by)))
        return hold

    async def _write(self, execution_id: ExecutionId, organisation: Name, version: int, event: NewEvent) -> Event:
        append = Append(
            stream=stream_of(execution_id),
            events=[event],
            expected_version=version,
            organisation=organisation,
            source=f"/organisation/{organisation}/retention",
        )
        (stored,) = await self._ledger.append(append)
        return stored


def _said(reason: str, by: str) -> dict[str, object]:
    return {"reason": clean(reason), "by": clean(by)}


def stream_of(execution_id: ExecutionId) -> Stream:
    """Return the stream of the execution's hold."""
    return f"{KIND}/{execution_id.ulid}"


def _fold(events: Sequence[Event]) -> Hold | None:
    """Return the hold that stands after these events; its words may have been erased, and it stands all the same."""
    if not events or events[-1].type != PLACED:
        return None
    last = events[-1]
    data = last.data or {}
    return Hold(
        execution_id=ExecutionId(f"{ExecutionId.KIND}/{last.subject.partition('/')[2]}"),
        organisation=last.organisation,
        reason=str(data.get("reason", "")),
        by=str(data.get("by", "")),
        at=last.time,
    )
