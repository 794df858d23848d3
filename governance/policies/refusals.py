"""What rules did not let happen, over all executions of an organisation: counted once, the newest kept by hand.

It is derived from the events `policy.refused`, beside the position up to which they were looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contracts import Event
from runtime.engine.refused import POLICY_REFUSED
from runtime.errors import LedgerUnavailable, VersionConflict
from runtime.ledger.kept import kept_cursor
from runtime.ledger.port import Cursor, Ledger

NAME = "refusals"
KEPT = 200
"""Refusals of an organisation that are kept at hand, the newest."""
_SPAN = 20_000


@dataclass(frozen=True, slots=True)
class Refusals:
    """What the rules of one organisation refused."""

    counts: Mapping[str, int]
    """Rule → how often it did, ever."""
    newest: Sequence[Mapping[str, Any]]
    """The data of the newest events, each with `at`, `order_id` and `execution_id`, the newest first."""


class RefusalBook:
    """Counts on from where it stood; any process may, and none counts a refusal twice."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def of(self, organisation: str) -> Refusals:
        """Return what was refused in an organisation up to now."""
        while await self._go_on():
            pass
        kept = await self._row(f"{NAME}/{organisation}")
        return Refusals(kept.get("counts", {}), kept.get("newest", []))

    async def _go_on(self) -> bool:
        position, head = await self._ledger.cursor(NAME), await self._ledger.head()
        if head <= position:
            return False
        end = min(head, position + _SPAN)
        events = await self._ledger.read_all(after=position, until=end, limit=_SPAN, types=(POLICY_REFUSED,))
        if not events and end == head and end - position < _SPAN // 2:
            return False  # nothing to keep: the next question looks at these few again
        rows: dict[str, Mapping[str, Any]] = {}
        for event in events:
            name = f"{NAME}/{event.organisation}"
            rows[name] = _with(rows.get(name) or await self._row(name), event)
        cursors = [Cursor(name, end, data=row) for name, row in rows.items()]
        try:
            await self._ledger.append(cursors=[Cursor(NAME, end, position), *cursors])
        except VersionConflict:  # another process counted on: go on from there
            return True
        except LedgerUnavailable:
            if events:
                raise
        return end < head

    async def _row(self, name: str) -> Mapping[str, Any]:
        kept = await kept_cursor(self._ledger, name)
        return {} if kept is None else kept.data or {}


def _with(row: Mapping[str, Any], event: Event) -> Mapping[str, Any]:
    if event.data is None:
        return row
    execution = str(event.execution_id) if event.execution_id else None
    told = {**event.data, "at": event.time.isoformat(), "order_id": event.subject, "execution_id": execution}
    counts, rule = dict(row.get("counts", {})), str(event.data.get("rule", ""))
    counts[rule] = counts.get(rule, 0) + 1
    return {"counts": counts, "newest": [told, *row.get("newest", [])][:KEPT]}
