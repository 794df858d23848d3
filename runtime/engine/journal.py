"""The one place that writes an order's stream."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any, cast

from contracts import Event, Json, TaskOrder
from runtime.canonical import clean, sha256, to_bytes
from runtime.engine.fold import apply
from runtime.engine.view import OrderView
from runtime.errors import VersionConflict
from runtime.ledger.port import Append, Lease, NewEvent, Store

_log = logging.getLogger(__name__)

Redact = Callable[[Any], Any]
"""Return the value without secrets; the same value for the same input."""


class Journal:
    """Appends to one order's stream and folds what it appended into `view`.

    An order has one writer: appends follow each other, each names the version that `view` has reached, and each is
    on disk before `write` returns. A cancelled writer waits until the append it began is in or refused, so that the
    view and the ledger never part.
    """

    def __init__(
        self, store: Store, order: TaskOrder, view: OrderView, *, redact: Redact, leases: Sequence[Lease], source: str
    ) -> None:
        self.stream = str(order.order_id)
        self.view = view
        self._store = store
        self._order = order
        self._redact = redact
        self._leases = leases
        self._source = source
        self._turn = asyncio.Lock()

    def redact(self, value: Any) -> Json:
        """Return `value` as JSON and without secrets: the form in which everything is kept and handed on."""
        return cast(Json, self._redact(clean(value)))

    async def write(self, *events: NewEvent, appends: Sequence[Append] = (), blobs: Sequence[bytes] = ()) -> None:
        """Store the order's events, and what belongs in the same commit, all or nothing.

        Raises:
            VersionConflict: one of the `appends` came too late; decide again. `moved_on` tells that it was not ours.
            StaleWriter: a lease was lost.
            LedgerUnavailable: nothing can be written now.
        """
        async with self._turn:
            writing = asyncio.ensure_future(self._write(events, appends, blobs))
            try:
                await asyncio.shield(writing)
            except asyncio.CancelledError:
                await asyncio.wait({writing})
                if not writing.cancelled():
                    writing.exception()
                raise

    async def moved_on(self) -> bool:
        """Whether somebody else wrote this order's stream, which only a stolen order explains."""
        async with self._turn:  # an own append on its way is in the ledger before it is in the view
            return bool(await self._store.ledger.read(self.stream, after_version=self.view.version))

    def blob_of(self, value: Json) -> tuple[str, bytes]:
        """Return the address and bytes under which a long value is kept."""
        data = to_bytes(value)
        return sha256(data), data

    async def _write(self, events: Sequence[NewEvent], appends: Sequence[Append], blobs: Sequence[bytes]) -> None:
        own = Append(
            stream=self.stream,
            events=[NewEvent(event.type, self._redact(event.data)) for event in events],
            expected_version=self.view.version,
            organisation=self._order.organisation,
            source=self._source,
            execution_id=self._order.execution_id,
            trace_id=self._order.trace_id,
            leases=self._leases,
        )
        stored: Sequence[Event] = await self._store.ledger.append(own, *appends, blobs=blobs)
        for event in stored:
            if event.subject == self.stream:
                apply(self.view, event)
                _log.info(event.type, extra={"position": event.position, "data": event.data})


def is_foreign(conflict: VersionConflict, stream: str) -> bool:
    """Whether the conflict names a stream that is not the order's own."""
    return conflict.facts.get("stream") not in (None, stream)
