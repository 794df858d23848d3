"""`memory_search` and `memory_write`: memories as employees use them.

Whose memories and which domains follow from the order, never from what a model says: an employee reads its own and the
business's, of the domains of its order and of none.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeAlias

from contracts import (
    HolderKind,
    Json,
    MemoryClass,
    MemoryHolder,
    MemoryId,
    MemoryKind,
    MemoryRecord,
    MemorySource,
    Name,
    TaskOrder,
)
from memory.consolidation.told import holders_of
from memory.memory_specs import BUSINESS, MINE, SEARCH, WRITE
from memory.records.port import MemoryDraft, MemoryFilter
from memory.writing.policy import Feature
from runtime.canonical import clean
from runtime.capabilities.port import CallContext, CallResult
from runtime.errors import InvalidArguments, NotFound, PermissionRefused
from runtime.ledger.port import Append

if TYPE_CHECKING:
    from memory.recall.recall import MemoryRecall, Recalled
    from memory.records.book import MemoryBook
    from memory.writing.writer import MemoryWriter


Weigh: TypeAlias = Callable[[str], Awaitable[Callable[[MemoryRecord], float]]]
"""Whoever asked for an execution → a factor for each memory, around 1."""


class MemorySearch:
    """Finds memories; each that it gives counts as read."""

    spec = SEARCH

    def __init__(
        self,
        recall: Callable[[], MemoryRecall],
        book: Callable[[], MemoryBook],
        weigh: Callable[[], Weigh] | None = None,
    ) -> None:
        """Take what it needs once it is called; `weigh` says how much memories count for whoever asked."""
        self._recall = recall
        self._book = book
        self._weigh = weigh

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Return the memories that fit best, with what each score is made of."""
        order = context.order
        which = MemoryFilter(
            holders=holders_of(order), domains=order.knowledge_scope, entities=_names(arguments.get("entities")),
            since=_moment(arguments.get("since")), until=_moment(arguments.get("until")),
        )  # fmt: skip
        personal = (lambda record: 1.0) if self._weigh is None else await self._weigh()(order.requested_by)
        found = await self._recall().search(str(arguments["query"]), which, now=context.now, personal=personal)
        ids = [hit.record.memory_id for hit in found.hits]
        if ids:
            await self._book().note_read(ids, by=f"employee/{order.employee}")
        return CallResult(
            {"memories": [_told(hit) for hit in found.hits], "found": len(ids), "no_room": list(found.no_room)}
        )


class Disputes(Protocol):
    """Asks people which of two memories holds, where one contradicts a key decision."""

    def appends(self, newer: MemoryRecord, older: MemoryRecord, context: CallContext) -> Sequence[Append]:
        """Return what goes into the commit of the call; the first of them refuses a second card for the same memory."""
        ...


class MemoryWrite:
    """Writes memories; where they come from is filled in by code."""

    spec = WRITE

    def __init__(
        self, writer: Callable[[], MemoryWriter], recall: Callable[[], MemoryRecall], manages: Callable[[Name], bool],
        *, disputes: Disputes | None = None, asked_already: Callable[[str], Awaitable[bool]] | None = None,
    ) -> None:  # fmt: skip
        """Take what it needs once it is called.

        Args:
            writer: writes.
            recall: finds what is known.
            manages: whether an employee has others below it.
            disputes: asks people about what contradicts a key decision; None: nobody is asked.
            asked_already: whether a stream is there.
        """
        self._writer = writer
        self._recall = recall
        self._manages = manages
        self._disputes = disputes
        self._asked_already = asked_already

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Return what became of it.

        Raises:
            InvalidArguments: it cannot be remembered so, or is of a domain that the order has not.
            PermissionRefused: it is for the business, and the employee manages nobody.
        """
        order, holder = context.order, self._holder(arguments, context.order)
        draft = MemoryDraft(
            str(arguments["text"]), MemoryKind.SEMANTIC, MemoryClass(str(arguments.get("class") or "other")), holder,
            confidence=_confidence(arguments.get("confidence")), subject=_text(arguments.get("subject")),
            relation=_text(arguments.get("relation")), value=_text(arguments.get("value")),
            domain=_domain(arguments.get("domain"), order), entities=tuple(_names(arguments.get("entities"))),
            source=MemorySource(execution_id=order.execution_id, order_id=order.order_id),
            memory_id=MemoryId.under(order.order_id.made_at, context.key),
        )  # fmt: skip
        near = await self._recall().search(
            draft.text, MemoryFilter(holders=holders_of(order), domains=order.knowledge_scope), now=context.now
        )
        shown = [hit.record.text for hit in near.hits if hit.record.memory_id != draft.memory_id]
        by = f"employee/{order.employee}"
        written = await self._writer().write(draft, [Feature.FACT], by=by, shown=shown)
        return CallResult(
            {
                "became": written.became.value, "why": written.why, "other": written.other,
                "id": None if written.record is None else written.record.memory_id,
            },
            appends=await self._asked(written.record, context),
        )  # fmt: skip

    async def _asked(self, record: MemoryRecord | None, context: CallContext) -> Sequence[Append]:
        """Return what asks people about a memory that contradicts a key decision; after a crash as well, once."""
        if self._disputes is None or record is None or record.disputes is None:
            return ()
        try:
            older = await self._writer().memories.get(record.disputes)
        except NotFound:  # it was erased meanwhile
            return ()
        appends = self._disputes.appends(record, older, context)
        if not appends or (self._asked_already is not None and await self._asked_already(appends[0].stream)):
            return ()
        return appends

    def _holder(self, arguments: Mapping[str, Json], order: TaskOrder) -> MemoryHolder:
        if str(arguments.get("whose") or MINE) != BUSINESS:
            return MemoryHolder(kind=HolderKind.AGENT, name=order.employee)
        if not self._manages(order.employee):
            raise PermissionRefused(
                f"{order.employee} manages nobody, so that it may not write what the business remembers: it reports "
                "it, and whoever it works for judges.",
                employee=order.employee,
            )
        return MemoryHolder(kind=HolderKind.BUSINESS, name=order.organisation)


def _told(hit: Recalled) -> Json:
    record = hit.record
    return clean(
        {
            "id": record.memory_id, "text": record.text, "kind": record.kind.value, "class": record.memory_class.value,
            "whose": record.holder.kind.value, "domain": record.domain, "written_at": record.changed_at,
            "confidence": record.confidence, "importance": round(hit.importance, 3), "score": round(hit.score, 3),
            "words": list(hit.terms),
        }
    )  # fmt: skip


def _domain(value: Json, order: TaskOrder) -> Name | None:
    if value is None:
        return None
    if value not in order.knowledge_scope:
        there = ", ".join(order.knowledge_scope) or "none"
        raise InvalidArguments(f"This order has no domain {value!r}; it has: {there}.", domain=value)
    return str(value)


def _confidence(value: Json) -> float:
    if value is None:
        return 0.5
    if isinstance(value, int | float) and 0 <= value <= 1:
        return float(value)
    raise InvalidArguments("`confidence` is a number from 0 to 1.", confidence=value)


def _moment(value: Json) -> datetime | None:
    return None if value is None else datetime.fromisoformat(str(value))


def _names(value: Json) -> list[str]:
    return [str(name) for name in value] if isinstance(value, list) else []


def _text(value: Json) -> str | None:
    return None if value is None else str(value)
