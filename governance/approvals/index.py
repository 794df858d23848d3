"""How all cards of a store stand, in a table made of their events: lists and sweeps read only what they need.

Everybody who reads it first takes in what happened since it was last looked at, so nobody ever reads an old state. It
can be emptied at any time and makes itself again.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial

from sqlalchemy import ClauseElement, Select, and_, bindparam, delete, func, insert, or_, select, update

from contracts import CardId, ExecutionId
from governance.approvals.card import CARD_EVENTS, CardView, fold_card
from governance.errors import IllegalTransition
from runtime.errors import NotFound
from runtime.ledger.schema import cards, cards_seen
from runtime.ledger.statements import compiled
from runtime.ledger.store import SqlStore
from runtime.ledger.transaction import Transaction

_EVENTS = (*CARD_EVENTS, "stream.pruned")
_AT_ONCE = 1_000
_PASSED_OVER = 2_000
"""Positions without anything about cards that are rather looked through again than noted: a note is a commit."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NEVER = 2**62
_ID = 1


class CardIndex:
    """The table of cards of one store."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    async def waiting(
        self, *, organisation: str | None = None, after: CardView | None = None, limit: int | None = None
    ) -> list[CardId]:
        """Return cards that wait for a decision, the nearest deadline first; those behind `after`, where it is given.

        It costs what it returns, however many there are.
        """
        query = select(cards.c.card).where(cards.c.waits == 1).order_by(cards.c.deadline, cards.c.card)
        if organisation is not None:
            query = query.where(cards.c.organisation == organisation)
        if after is not None:
            at = _microseconds(after.deadline)
            later = and_(cards.c.deadline == at, cards.c.card > str(after.card.card_id))
            query = query.where(cards.c.deadline >= at).where(or_(cards.c.deadline > at, later))
        return await self._ids(query if limit is None else query.limit(limit))

    async def newest(
        self, *, organisation: str | None = None, before: CardId | None = None, limit: int | None = None
    ) -> list[CardId]:
        """Return all cards, newest first: those raised before `before`, where it is given."""
        query = select(cards.c.card).order_by(cards.c.card.desc())
        if organisation is not None:
            query = query.where(cards.c.organisation == organisation)
        if before is not None:
            query = query.where(cards.c.card < str(before))
        return await self._ids(query if limit is None else query.limit(limit))

    async def due(self, now: datetime) -> list[CardId]:
        """Return the cards on which the clock has an effect by now, those longest due first."""
        due = (cards.c.waits == 1, cards.c.due_at <= _microseconds(now))
        return await self._ids(select(cards.c.card).where(*due).order_by(cards.c.due_at))

    async def of_execution(self, execution_id: ExecutionId) -> list[CardId]:
        """Return the cards of an execution, in the order they were raised."""
        return await self._ids(
            select(cards.c.card).where(cards.c.execution_id == str(execution_id)).order_by(cards.c.card)
        )

    async def unreviewed(self, *, organisation: str | None = None, limit: int = 200) -> list[CardId]:
        """Return cards that passed by themselves and that nobody reviewed, oldest first."""
        query = select(cards.c.card).where(cards.c.unreviewed == 1).order_by(cards.c.card).limit(limit)
        return await self._ids(query if organisation is None else query.where(cards.c.organisation == organisation))

    async def count_waiting(self) -> int:
        """Return how many cards wait for a decision."""
        await self.catch_up()
        query = select(func.count()).select_from(cards).where(cards.c.waits == 1)
        return int((await self._store.reader.rows(query))[0][0])

    async def rebuild(self) -> int:
        """Make the table again from the events; return how many cards there are."""
        sql = [self._compiled(delete(table)) for table in (cards, cards_seen)]

        def empty(tx: Transaction) -> None:
            for each in sql:
                tx.run(each)

        await self._store.writer.do(empty, small=True)
        await self.catch_up()
        return int((await self._store.reader.rows(select(func.count()).select_from(cards)))[0][0])

    async def catch_up(self) -> None:
        """Take in what happened to cards since the table was last brought up to date, by whatever process."""
        ledger = self._store.ledger
        while True:
            seen = await self._position()
            head = await ledger.head()
            if seen == head:
                return
            events = await ledger.read_all(after=seen, until=head, types=_EVENTS, limit=_AT_ONCE)
            if not events and head - seen < _PASSED_OVER:
                return
            named = [str((e.data or {}).get("stream")) if e.type == "stream.pruned" else e.subject for e in events]
            streams = dict.fromkeys(each for each in named if each.startswith(f"{CardId.KIND}/"))
            rows = {each: await self._row(each) for each in streams}
            upto = events[-1].position if len(events) == _AT_ONCE else head
            await self._store.writer.do(partial(self._take_in, seen=seen, upto=upto, rows=rows), small=True)

    async def _row(self, stream: str) -> tuple[object, ...] | None:
        """Return the row of a card; None for one that was pruned or erased: nobody can decide it."""
        try:
            view = fold_card(await self._store.ledger.read(stream))
        except (NotFound, IllegalTransition):
            return None
        return _row_of(view)

    def _take_in(self, tx: Transaction, seen: int, upto: int, rows: dict[str, tuple[object, ...] | None]) -> None:
        """Write the rows, unless another process was quicker; it had read as much."""
        sql = self._sql
        stands = tx.one(sql["stands"])
        if (stands is None and seen) or (stands is not None and int(stands[0]) != seen):
            return
        for stream, row in rows.items():
            tx.run(sql["gone"], stream)
            if row is not None:
                tx.run(sql["put"], *row)
        if stands is None:
            tx.run(sql["begin"], _ID, upto)
        else:
            tx.run(sql["move"], upto)

    @cached_property
    def _sql(self) -> Mapping[str, str]:
        """The statements of the writer, compiled once: that takes longer than they do."""
        return {
            "stands": self._compiled(select(cards_seen.c.position)),
            "gone": self._compiled(delete(cards).where(cards.c.card == bindparam("c")), "c"),
            "put": self._compiled(insert(cards), *cards.columns.keys()),
            "begin": self._compiled(insert(cards_seen), "id", "position"),
            "move": self._compiled(update(cards_seen).values(position=bindparam("p")), "p"),
        }

    async def _position(self) -> int:
        rows = await self._store.reader.rows(select(cards_seen.c.position))
        return int(rows[0][0]) if rows else 0

    async def _ids(self, query: Select[tuple[str]]) -> list[CardId]:
        await self.catch_up()
        return [CardId(row[0]) for row in await self._store.reader.rows(query)]

    def _compiled(self, statement: ClauseElement, *names: str) -> str:
        return compiled(self._store.database.engine.dialect, statement, *names)


def _row_of(view: CardView) -> tuple[object, ...]:
    card = view.card
    return (
        str(card.card_id), card.organisation, str(card.execution_id), view.state.value, int(view.is_open),
        _microseconds(view.deadline), _microseconds(view.due_at) if view.is_open else _NEVER,
        int(view.passed is not None and not view.reviews),
    )  # fmt: skip


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)
