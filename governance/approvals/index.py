"""How all cards of a store stand, in a table made of their events: lists and sweeps read only what they need."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import Select, and_, func, or_, select

from contracts import CardId, Event, ExecutionId
from governance.approvals.card import CARD_EVENTS, CardView, fold_card
from governance.errors import IllegalTransition
from runtime.errors import NotFound
from runtime.ledger.projection import Projection, pruned_stream
from runtime.ledger.schema import cards, cards_seen
from runtime.ledger.store import SqlStore

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NEVER = 2**62


class CardIndex:
    """The table of cards of one store."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self._made = Projection(store, cards, cards_seen, types=CARD_EVENTS, rows=self._rows)

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
        return await self._made.rebuild()

    async def catch_up(self) -> None:
        """Take in what happened to cards since the table was last brought up to date, by whatever process."""
        await self._made.catch_up()

    async def _rows(self, events: Sequence[Event]) -> dict[str, tuple[object, ...] | None]:
        streams = dict.fromkeys(each for each in map(pruned_stream, events) if each.startswith(f"{CardId.KIND}/"))
        return {each: await self._row(each) for each in streams}

    async def _row(self, stream: str) -> tuple[object, ...] | None:
        """Return the row of a card; None for one that was pruned or erased: nobody can decide it."""
        try:
            view = fold_card(await self._store.ledger.read(stream))
        except (NotFound, IllegalTransition):
            return None
        return _row_of(view)

    async def _ids(self, query: Select[tuple[str]]) -> list[CardId]:
        await self.catch_up()
        return [CardId(row[0]) for row in await self._store.reader.rows(query)]


def _row_of(view: CardView) -> tuple[object, ...]:
    card = view.card
    return (
        str(card.card_id), card.organisation, str(card.execution_id), view.state.value, int(view.is_open),
        _microseconds(view.deadline), _microseconds(view.due_at) if view.is_open else _NEVER,
        int(view.passed is not None and not view.reviews),
    )  # fmt: skip


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)
