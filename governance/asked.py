"""What people were asked, in all organisations of a store: deadlines are judged, and it is told what was settled."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from contracts import CardId, Event, QuestionId
from governance.access import People
from governance.approvals import ApprovalGateway, fold_card
from governance.questions import ASKED, QuestionDesk
from runtime.clock import Clock
from runtime.errors import LedgerUnavailable, SiliconError
from runtime.ledger.port import Store

SETTLES = ("card.decided", "card.passed", "card.expired", "card.withdrawn", "card.superseded")
"""Events of which the last one settles a card; what is carried out and reviewed afterwards wakes nobody."""

if TYPE_CHECKING:
    from governance.approvals.index import CardIndex  # it imports SQLAlchemy, which takes 0.4 s

_log = logging.getLogger(__name__)


class Follower(Protocol):
    """Reads on what happened, and records what follows for cards."""

    async def catch_up(self) -> None:
        """Take in everything that was committed before this call."""
        ...


class PeopleAsked:
    """The cards and questions of one store. Cards are found by what is due; a question is read again only once
    something may have changed."""

    def __init__(self, store: Store, clock: Clock, index: CardIndex, followers: Sequence[Follower] = ()) -> None:
        self._store = store
        self._ledger = store.ledger
        self._clock = clock
        self._index = index
        self._followers = followers
        self._desk = QuestionDesk(store, clock)
        self._deadlines: dict[str, datetime | None] = {}
        """Open question → its deadline; None: no deadline will pass."""
        self._failing: set[str] = set()
        """Followers that could not read on the last time."""
        self._broken: set[str] = set()
        """Cards that cannot be judged; they are left alone."""

    async def judge_deadlines(self) -> None:
        """Remind of, pass on or expire what nobody answered in time. One that cannot be judged hinders no other."""
        now = self._clock.now()
        for follow in self._followers:
            await self._followed(follow)
        for card_id in await self._index.due(now):
            if card_id not in self._broken:
                await self._guarded(card_id, self._judge_card(card_id, now))
        open_ = await self._ledger.streams("question", last_types=(ASKED,))
        self._deadlines = {stream: self._deadlines[stream] for stream in open_ if stream in self._deadlines}
        for stream in open_:
            await self._guarded(stream, self._judge_question(stream, now))

    async def _followed(self, follow: Follower) -> None:
        """Let a follower read on; it is asked again the next time, and what hinders it is told once."""
        name = type(follow).__name__
        try:
            await follow.catch_up()
        except LedgerUnavailable:
            raise
        except Exception:
            if name not in self._failing:
                _log.exception("%s cannot record what follows for cards; it is tried again", name)
            self._failing.add(name)
        else:
            self._failing.discard(name)

    async def _guarded(self, stream: str, judging: Awaitable[None]) -> None:
        try:
            await judging
        except LedgerUnavailable:
            raise
        except Exception:
            _log.exception("the deadline of %s cannot be judged", stream)
            self._deadlines[stream] = None
            self._broken.add(stream)

    async def _judge_card(self, card_id: CardId, now: datetime) -> None:
        (first, *_) = await self._ledger.read(card_id)
        await ApprovalGateway(self._store, self._clock, People(()), first.organisation).judge(card_id, now)

    async def _judge_question(self, stream: str, now: datetime) -> None:
        if stream not in self._deadlines:
            self._deadlines[stream] = (await self._desk.get(QuestionId(stream))).deadline
        deadline = self._deadlines[stream]
        if deadline is not None and now >= deadline:
            del self._deadlines[stream]
            await self._desk.judge(QuestionId(stream), now)

    async def settled(self, asked: Sequence[CardId | QuestionId], *, after: int) -> bool:
        """Whether one of them was decided, answered, withdrawn or expired after the position `after`."""
        for each in asked:
            if await self._settled_at(each) > after:
                return True
        return False

    async def _settled_at(self, asked: CardId | QuestionId) -> int:
        """Return the position of the event that settled it; 0 while it is open."""
        events = await self._ledger.read(asked)
        if asked.startswith("question/"):
            return max((event.position for event in events if event.type != ASKED), default=0)
        if not events or fold_card(events).is_open:
            return 0
        return max(event.position for event in events if event.type in SETTLES)


def still_asks(events: Sequence[Event]) -> bool:
    """Whether a card waits for somebody after these events; one that nobody can read any more does not."""
    try:
        return fold_card(events).is_open
    except (SiliconError, LookupError, TypeError, ValueError):
        return False
