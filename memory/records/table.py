"""The table of memories: made of their events, so that finding one costs what is found and not the history."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby

from sqlalchemy import ColumnElement, Select, case, func, select

from contracts import Event, HolderKind, MemoryClass, MemoryHolder, MemoryId, MemoryRecord, MemoryState, Name
from memory.records.errors import MemoryPast
from memory.records.fold import EVENTS, WRITTEN, Standing, fold
from memory.records.port import Changes, MemoryFilter
from runtime.canonical import sha256
from runtime.errors import NotFound
from runtime.ledger.projection import Projection, pruned_stream
from runtime.ledger.schema import memories, memories_seen
from runtime.ledger.store import SqlStore
from runtime.search import plain

_AT_ONCE = 1_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST = (MemoryClass.RULE.value, MemoryClass.DECISION.value)
_HEARD = (MemoryState.ACTIVE.value, MemoryState.DISPUTED.value)


class MemoryTable:
    """The table of memories of one store, of all organisations."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self._made = Projection(store, memories, memories_seen, types=EVENTS, rows=self._rows)

    async def find(
        self, organisation: Name, which: MemoryFilter, *, after: MemoryId | None, limit: int | None
    ) -> list[MemoryRecord]:
        """Return records, oldest first; see the port."""
        found: list[MemoryRecord] = []
        query = _listed(organisation, which).order_by(memories.c.memory)
        await self.catch_up()
        while True:
            part = query if after is None else query.where(memories.c.memory > str(after))
            rows = await self._store.reader.rows(part.limit(_AT_ONCE))
            found += [record for record in map(_record, rows) if _fits(record, which)]
            if len(rows) < _AT_ONCE or (limit is not None and len(found) >= limit):
                return found if limit is None else found[:limit]
            after = MemoryId(rows[-1][0])

    async def get_all(self, organisation: Name, memory_ids: Sequence[MemoryId]) -> dict[MemoryId, MemoryRecord]:
        """Return those of these records whose words are there, as the table last saw them; see the port."""
        query = select(memories.c.memory, memories.c.record, memories.c.organisation)  # found by the key alone
        found: dict[MemoryId, MemoryRecord] = {}
        for start in range(0, len(memory_ids), _AT_ONCE):
            part = [str(each) for each in memory_ids[start : start + _AT_ONCE]]
            rows = await self._store.reader.rows(query.where(memories.c.memory.in_(part)))
            found |= {MemoryId(row[0]): _record(row) for row in rows if row[1] and row[2] == organisation}
        return found

    async def about(
        self, organisation: Name, holder: MemoryHolder, domain: Name | None, subject: str, relation: str
    ) -> list[MemoryRecord]:
        """Return the records about this; see the port."""
        return await self._same(organisation, memories.c.about_sha256 == about_hash(holder, domain, subject, relation))

    async def saying(
        self, organisation: Name, holder: MemoryHolder, domain: Name | None, text: str
    ) -> list[MemoryRecord]:
        """Return the records that say this; see the port."""
        return await self._same(organisation, memories.c.text_sha256 == text_hash(holder, domain, text))

    async def changes(self, organisation: Name, after: int, limit: int) -> Changes:
        """Return what changed since; see the port."""
        await self.catch_up()
        position = await self._made.position()
        table = memories.c
        query = select(table.memory, table.record, table.position).order_by(table.position).limit(limit)
        rows = await self._store.reader.rows(query.where(table.organisation == organisation, table.position > after))
        gone = [MemoryId(row[0]) for row in rows if not row[1]]
        upto = int(rows[-1][2]) if len(rows) == limit else max(position, after)
        return Changes([_record(row) for row in rows if row[1]], gone, upto, len(rows) < limit)

    async def count(self, organisation: Name) -> Mapping[str, int]:
        """Return state → how many memories stand in it."""
        await self.catch_up()
        query = select(memories.c.state, func.count()).where(memories.c.organisation == organisation)
        rows = await self._store.reader.rows(query.group_by(memories.c.state))
        return {str(row[0]): int(row[1]) for row in rows}

    async def holders(self) -> Mapping[Name, Sequence[MemoryHolder]]:
        """Return organisation → whose memories hold in it."""
        await self.catch_up()
        table = memories.c
        query = select(table.organisation, table.holder_kind, table.holder).distinct()
        query = query.where(table.state == MemoryState.ACTIVE.value)
        found: dict[Name, list[MemoryHolder]] = {}
        for organisation, kind, name in sorted(tuple(row) for row in await self._store.reader.rows(query)):
            found.setdefault(organisation, []).append(MemoryHolder(kind=HolderKind(kind), name=name))
        return found

    async def on_shelf(
        self, organisation: Name, holder: MemoryHolder, domain: Name | None, project: Name | None,
        *, limit: int | None = None,
    ) -> Sequence[tuple[MemoryId, str]]:  # fmt: skip
        """Return the active memories of exactly this holder, domain and project, and what differs once one is changed.

        What must hold (rules, decisions) comes first, then what changed last. A read is no change.
        """
        await self.catch_up()
        table = memories.c
        query = select(table.memory, table.changed_at, table.text_sha256).where(
            table.organisation == organisation, table.state == MemoryState.ACTIVE.value,
            table.holder_kind == holder.kind.value, table.holder == holder.name, table.domain == (domain or ""),
            table.project == (project or ""),
        )  # fmt: skip
        lasting = case((memories.c["class"].in_(_FIRST), 0), else_=1)
        query = query.order_by(lasting, table.changed_at.desc(), table.memory)
        rows = await self._store.reader.rows(query if limit is None else query.limit(limit))
        return [(MemoryId(row[0]), f"{row[1]} {row[2]}") for row in rows]

    async def shelves(self, organisation: Name) -> Sequence[tuple[MemoryHolder, Name | None, Name | None]]:
        """Return holder, domain and project of all that is active."""
        await self.catch_up()
        table = memories.c
        query = select(table.holder_kind, table.holder, table.domain, table.project).distinct()
        query = query.where(table.organisation == organisation, table.state == MemoryState.ACTIVE.value)
        return [
            (MemoryHolder(kind=HolderKind(kind), name=name), domain or None, project or None)
            for kind, name, domain, project in sorted(tuple(row) for row in await self._store.reader.rows(query))
        ]

    async def rebuild(self) -> int:
        """Make the table again from the events; return how many memories there are."""
        return await self._made.rebuild()

    async def catch_up(self) -> None:
        """Take in what happened to memories since the table was last brought up to date."""
        await self._made.catch_up()

    async def _rows(self, events: Sequence[Event]) -> dict[str, tuple[object, ...]]:
        """Return memory → its row, for each that something happened to."""
        rows = {}
        for stream, those in groupby(sorted(events, key=pruned_stream), key=pruned_stream):
            told = list(those)
            if not stream.startswith(f"{MemoryId.KIND}/"):
                continue
            if told[0].type != WRITTEN:  # it began earlier, or was pruned
                told = await self._store.ledger.read(stream) or told
            rows[stream] = _row(stream, told)
        return rows

    async def _same(self, organisation: Name, condition: ColumnElement[bool]) -> list[MemoryRecord]:
        await self.catch_up()
        query = select(memories.c.memory, memories.c.record).where(
            memories.c.organisation == organisation, memories.c.state.in_(_HEARD), condition
        )
        return [_record(row) for row in await self._store.reader.rows(query.order_by(memories.c.memory))]


def text_hash(holder: MemoryHolder, domain: Name | None, text: str) -> str:
    """Return what is the same for two texts of one holder and domain that differ in case, width or blanks only."""
    return sha256([holder.kind.value, holder.name, domain or "", _plainly(text)])


def about_hash(holder: MemoryHolder, domain: Name | None, subject: str, relation: str) -> str:
    """Return what is the same for two memories of one holder and domain that may contradict each other."""
    return sha256([holder.kind.value, holder.name, domain or "", _plainly(subject), _plainly(relation)])


def _plainly(text: str) -> str:
    return " ".join(plain(text).split())


def _row(stream: str, events: Sequence[Event]) -> tuple[object, ...]:
    try:
        standing = fold(events)
    except (NotFound, MemoryPast):  # nothing can be said of it any more
        last = events[-1]
        standing = Standing(MemoryId(stream), MemoryState.ERASED, len(events), last.position, None)
    record, organisation = standing.record, events[-1].organisation
    if record is None:
        empty = ("",) * 6
        return (stream, organisation, standing.state.value, *empty, "", "", "", 0, standing.position, b"")
    about = record.subject and record.relation
    return (
        stream, organisation, record.state.value, record.kind.value, record.memory_class.value,
        record.holder.kind.value, record.holder.name, record.domain or "", record.project or "", record.session or "",
        text_hash(record.holder, record.domain, record.text),
        about_hash(record.holder, record.domain, record.subject or "", record.relation or "") if about else "",
        (record.changed_at - _EPOCH) // timedelta(microseconds=1), standing.position,
        json.dumps(record.to_json(), ensure_ascii=False).encode(),
    )  # fmt: skip


def _record(row: Sequence[object]) -> MemoryRecord:
    return MemoryRecord.read(json.loads(row[1]))  # type: ignore[arg-type]


def _listed(organisation: Name, which: MemoryFilter) -> Select[tuple[str, bytes]]:
    """Return the query for what the columns of the table can tell; `_fits` tells the rest."""
    table = memories.c
    query = select(table.memory, table.record).where(table.organisation == organisation, table.record != b"")
    for column, values in (
        (table.state, [each.value for each in which.states]),
        (table.kind, [each.value for each in which.kinds]),
        (memories.c["class"], [each.value for each in which.classes]),
        (table.project, list(which.projects)),
        (table.session, list(which.sessions)),
        (table.holder, [each.name for each in which.holders]),
        (table.domain, [] if which.every_domain else ["", *which.domains]),
    ):
        if values:
            query = query.where(column.in_(values))
    return query


def _fits(record: MemoryRecord, which: MemoryFilter) -> bool:
    return (
        (not which.holders or record.holder in which.holders)
        and (not which.intents or record.intent in which.intents)
        and (not which.entities or not {*map(_plainly, record.entities)}.isdisjoint(map(_plainly, which.entities)))
        and (which.since is None or record.created_at >= which.since)
        and (which.until is None or record.created_at < which.until)
    )
