"""What an order has read and follows, in the ledger: the budget holds over crashes, and hits go down the tree.

Its stream is `reading/ORDER`. A call that is made again after a crash is found there by its key and counts once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from contracts import OrderId, TaskOrder
from runtime.errors import VersionConflict
from runtime.ledger.port import Append, Ledger, NewEvent

LISTED, OPENED = "knowledge.listed", "knowledge.opened"
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Read:
    """What an order has read so far."""

    indexes: tuple[str, ...] = ()
    """Domains whose index it read, empty for that of none."""
    listed: Mapping[str, float] = field(default_factory=dict)
    """Path → how strong a hit it was, of every title that it saw."""
    opened: tuple[str, ...] = ()
    """Paths of bodies, in order."""
    followed: tuple[str, ...] = ()
    """Strategies and action chains that it was told, in order."""
    calls: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Key of a call → what was recorded of it."""
    version: int = 0


class ReadingLog:
    """The reading of the orders of one store."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def of(self, order_id: OrderId) -> Read:
        """Return what an order has read."""
        read = Read()
        for event in await self._ledger.read(_stream(order_id)):
            data: Mapping[str, Any] = event.data or {}
            read = Read(
                tuple(dict.fromkeys((*read.indexes, *data.get("indexes", ())))),
                {**read.listed, **data.get("titles", {})},
                tuple(dict.fromkeys((*read.opened, *data.get("opened", ())))),
                tuple(dict.fromkeys((*read.followed, *data.get("followed", ())))),
                {**read.calls, str(data.get("key")): data},
                event.stream_version,
            )
        return read

    async def inherited(self, order: TaskOrder, what: Literal["opened", "followed"] = "opened") -> Sequence[str]:
        """Return what the orders above have opened, or were told to follow, that of the nearest first."""
        found: dict[str, None] = {}
        for ancestor in reversed(order.chain):
            found |= dict.fromkeys(getattr(await self.of(ancestor.order_id), what))
        return tuple(found)

    async def note(self, order: TaskOrder, kind: str, told: Mapping[str, Any], *, expected: int) -> bool:
        """Record a call; False where another call of the order was recorded meanwhile: look again, and decide anew."""
        source = f"/organisation/{order.organisation}/knowledge"
        append = Append(
            _stream(order.order_id), [NewEvent(kind, told)], expected, order.organisation, source, order.execution_id,
            order.trace_id,
        )  # fmt: skip
        try:
            await self._ledger.append(append)
        except VersionConflict:
            return False
        return True


def _stream(order_id: OrderId) -> str:
    return f"reading/{order_id.ulid}"
