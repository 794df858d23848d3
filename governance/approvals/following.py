"""Reads on what happened and records what follows for cards: carried out, failed, taken back, right so often in a row.

One consumer for the whole store: how far it has read, and what it counts, stands in its cursor, which moves in the same
commit as what it records. So each fact counts once, whoever reads on.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from contracts import CardId, CardKind, Event
from governance.access.people import People
from governance.approvals.card import CardView, fold_card
from governance.approvals.carried_out import ENDINGS, became_of
from governance.approvals.effect_cards import SayIn
from governance.approvals.gateway import ApprovalGateway
from governance.approvals.life import LIFE, Move
from governance.approvals.proposals import loosening_card, next_mode
from governance.approvals.standing import PROPOSED
from governance.errors import IllegalTransition
from runtime.clock import Clock
from runtime.errors import NotFound, VersionConflict
from runtime.ledger.kept import kept_cursor
from runtime.ledger.port import Append, Cursor, Store

CURSOR = "approvals/following"
_JUDGED = ("card.decided", "card.executed", "card.execution_failed", "card.undone", "card.reviewed")
_EVENTS = (*ENDINGS, "card.used", *_JUDGED)
_AT_ONCE = 500
_PASSED_OVER = 2_000
"""Positions without anything to follow that are rather looked through again than noted as read: a note is a commit."""
_MOST_OPEN = 2_000
"""Orders that are watched at once; the oldest are given up, whose cards say `approved` for ever."""
_MOVES = {"card.executed": Move.EXECUTE, "card.execution_failed": Move.FAIL, "card.undone": Move.UNDO}

_log = logging.getLogger(__name__)


@dataclass
class _Kept:
    """What stands in the cursor."""

    orders: MutableMapping[str, list[str]] = field(default_factory=dict)
    """Order → cards that it carries out and whose end is not known."""
    rows: MutableMapping[str, int] = field(default_factory=dict)
    """`organisation capability` → how many times in a row it was right."""

    @classmethod
    def of(cls, data: Mapping[str, Any] | None) -> _Kept:
        """Return what a cursor holds."""
        data = data or {}
        return cls({key: list(value) for key, value in data.get("orders", {}).items()}, dict(data.get("rows", {})))

    def to_data(self) -> dict[str, Any]:
        """Return it for the cursor."""
        orders = dict(list(self.orders.items())[-_MOST_OPEN:])
        return {"orders": orders, "rows": {key: value for key, value in self.rows.items() if value}}


class FollowsCards:
    """The consumer of one store."""

    def __init__(self, store: Store, clock: Clock, *, say_in: SayIn, right_in_a_row: int) -> None:
        self._store = store
        self._ledger = store.ledger
        self._clock = clock
        self._say_in = say_in
        self._right_in_a_row = right_in_a_row

    async def catch_up(self) -> None:
        """Take in everything that was committed before this call."""
        head = await self._ledger.head()
        while True:
            saved = await kept_cursor(self._ledger, CURSOR) or Cursor(CURSOR, 0)
            if saved.position >= head:
                return
            events = await self._ledger.read_all(after=saved.position, until=head, types=_EVENTS, limit=_AT_ONCE)
            if not events and head - saved.position < _PASSED_OVER:
                return
            upto = events[-1].position if len(events) == _AT_ONCE else head
            kept, appends = _Kept.of(saved.data), list[Append]()
            touched: dict[str, None] = {}
            for event in events:
                await self._take_in(event, kept, touched, appends)
            for card in touched:
                appends += await self._end_of(card, kept)
            cursor = Cursor(CURSOR, upto, expected=saved.position, data=kept.to_data())
            try:
                await self._ledger.append(*appends, cursors=(cursor,))
            except VersionConflict:  # another process was quicker, or a card moved on: read again
                continue

    async def _take_in(
        self, event: Event, kept: _Kept, touched: dict[str, None], appends: list[Append]
    ) -> None:  # fmt: skip
        if event.type in ENDINGS:
            touched.update(dict.fromkeys(kept.orders.get(event.subject, ())))
        elif event.type == "card.used" and event.data is not None:
            order = str(event.data["order_id"])
            kept.orders[order] = list(dict.fromkeys([*kept.orders.get(order, ()), event.subject]))
            touched[event.subject] = None
        elif (view := await self._view(event.subject, event.stream_version)) is not None:
            appends += await self._count(event, view, kept)

    async def _end_of(self, card: str, kept: _Kept) -> list[Append]:
        """Return the append that tells what became of a card, where that is known now and allowed by the table."""
        view = await self._view(card)
        became = None if view is None else await became_of(self._ledger, view)
        if view is None or (became is not None and became[0] != "card.execution_failed"):
            for order in [each for each, cards in kept.orders.items() if card in cards]:
                kept.orders[order] = [each for each in kept.orders[order] if each != card]
                if not kept.orders[order]:
                    del kept.orders[order]
        if view is None or became is None or (view.state, _MOVES[became[0]]) not in LIFE:
            return []
        return [self._gateway(view).event_append(view, became[0], **became[1])]

    async def _count(self, event: Event, view: CardView, kept: _Kept) -> list[Append]:
        """Count what a card says of its kinds of actions; return the card that proposes a looser mode, where due."""
        if view.card.kind not in (CardKind.CHOICE, CardKind.EFFECT):
            return []
        right = _was_right(event, view)
        if right is None:
            return []
        proposed: list[Append] = []
        chosen = view.chosen.actions if view.chosen is not None else ()
        acts = chosen or [action for option in view.card.options for action in option.actions]
        for use in sorted({action.use for action in acts}):
            key = f"{view.card.organisation} {use}"
            kept.rows[key] = kept.rows.get(key, 0) + 1 if right else 0
            to = next_mode(view.card)
            if kept.rows[key] >= self._right_in_a_row and to is not None:
                times, kept.rows[key] = kept.rows[key], 0
                gateway = self._gateway(view)
                standing = await gateway.standings.of(use)
                over = (standing.over if view.card.mode is standing.loosened_to else None) or view.card.mode
                card = loosening_card(
                    view.card, use, to, over=over, times=times, say_in=self._say_in, now=self._clock.now()
                )
                raised = await gateway.raise_appends(card)
                if not isinstance(raised, CardView):
                    proposed += raised
                    facts = {"card": str(card.card_id), "to": to.value, "times": str(times)}
                    proposed.append(await gateway.standings.append(use, PROPOSED, **facts))
        return proposed

    async def _view(self, card: str, upto: int | None = None) -> CardView | None:
        """Return how a card stands, or stood when it had so many events; None where it cannot be read."""
        events = await self._ledger.read(CardId(card))
        try:
            return fold_card(events if upto is None else events[:upto])
        except (NotFound, IllegalTransition):
            _log.info("%s cannot be read any more", card)
            return None

    def _gateway(self, view: CardView) -> ApprovalGateway:
        return ApprovalGateway(self._store, self._clock, People(()), view.card.organisation)


def _was_right(event: Event, view: CardView) -> bool | None:
    """Return whether what happened to a card makes it right, wrong, or says nothing of it.

    Right is what a person chose as it was offered and what took place, and what passed by itself and was reviewed as
    right. A no, a choice to do nothing, an edit, a failure, what was taken back and an error are not.
    """
    match event.type:
        case "card.executed":
            return None if view.passed is not None else not view.edits
        case "card.decided":
            closed = not view.is_open
            turned_down = view.chosen is None or not view.chosen.actions
            return False if closed and turned_down else None
        case "card.reviewed":
            last = view.reviews[-1]
            if not last.right:
                return False
            first = len(view.reviews) == 1  # one card counts once, however often somebody says that it was right
            return True if view.passed is not None and first else None
    return False
