"""Cards for what contradicts a key decision or rule: a memory that waits, and what a person's answer makes of it.

Only what an order wrote gets a card, which belongs to that order; what a person wrote down or said themselves they
settle themselves (`silicon memory confirm`, `withdraw`).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from contracts import (
    CardId,
    CardKind,
    DecisionCard,
    Event,
    MemoryClass,
    MemoryId,
    MemoryRecord,
    MemoryState,
    Option,
    Text,
)
from governance.approvals.card import CardView, fold_card
from governance.approvals.gateway import ApprovalGateway
from governance.approvals.rule import DEFAULT_RULE, ApprovalRule, rule_for
from governance.errors import IllegalTransition
from memory.records.errors import MemoryPast
from runtime.capabilities.port import CallContext
from runtime.clock import Clock
from runtime.errors import NotFound, VersionConflict
from runtime.ledger.kept import kept_cursor
from runtime.ledger.port import Append, Cursor, NewEvent
from runtime.settings import MemorySettings
from runtime.texts import LANGUAGES, Say

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.ledger.store import SqlStore

NEWER, OLDER = "newer", "older"
_KEY = (MemoryClass.DECISION, MemoryClass.RULE)
_WHO = "silicon"
"""Who asks for it: the program, so that every person who is named may decide."""
_CURSOR = "memory/disputes"
_ENDED = ("card.decided", "card.passed")
_AT_ONCE = 500
_PASSED_OVER = 2_000
_LONGEST = 300
_log = logging.getLogger(__name__)


class DisputeCards:
    """Raises them, for one organisation."""

    def __init__(
        self, gateway: ApprovalGateway, rules: Mapping[str, ApprovalRule], organisation: str, clock: Clock,
        say_in: Callable[[str], Say],
    ) -> None:  # fmt: skip
        self._gateway = gateway
        self._rules = rules
        self._organisation = organisation
        self._clock = clock
        self._say_in = say_in

    def appends(self, newer: MemoryRecord, older: MemoryRecord, context: CallContext) -> Sequence[Append]:
        """Return what raises the card, once for each disputed memory; nothing where nobody may decide it."""
        rule = rule_for(self._rules, DEFAULT_RULE)
        if rule is None or older.memory_class not in _KEY:
            return ()
        card = self._card(newer, older, context, rule)
        told = {"card": card.card_id, "memory": newer.memory_id, "disputes": older.memory_id}
        source = f"/organisation/{self._organisation}/memory"
        once = Append(
            stream_of(self._organisation, newer.memory_id), (NewEvent("dispute.raised", told),), 0, self._organisation,
            source,
        )  # fmt: skip
        return (once, self._gateway.card_append(card))

    def _card(
        self, newer: MemoryRecord, older: MemoryRecord, context: CallContext, rule: ApprovalRule
    ) -> DecisionCard:  # fmt: skip
        order, now = context.order, self._clock.now()
        facts = {"newer": _short(newer.text), "older": _short(older.text)}
        return DecisionCard(
            card_id=CardId.new(), kind=CardKind.PROPOSAL, execution_id=order.execution_id, order_id=order.order_id,
            step=context.step, organisation=self._organisation, employee=order.employee,
            question=self._said("dispute-question", facts), impact=self._said("dispute-impact", facts),
            options=(self._option(NEWER, facts), self._option(OLDER, facts)),
            about=f"memory {older.memory_id}", proposes={"what": "memory", "memory": newer.memory_id},
            policy=rule.name, who=rule.who, quorum=rule.quorum, requested_by=_WHO, raised_at=now,
            deadline=rule.deadline(now), escalate_to=rule.escalate_to,
        )  # fmt: skip

    def _option(self, id_: str, facts: Mapping[str, str]) -> Option:
        words = {field: self._said(f"dispute-{id_}-{field}", facts) for field in ("title", "benefit", "risk")}
        return Option(id=id_, reversible=True, cost=self._said("dispute-cost", facts), **words)

    def _said(self, key: str, facts: Mapping[str, str]) -> Text:
        return {language: self._say_in(language)(key, **facts) for language in LANGUAGES}


class FollowsDisputes:
    """Lets a memory hold, or forgets it, as people decided; the consumer of one store."""

    def __init__(self, store: SqlStore, clock: Clock, settings: MemorySettings) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings

    async def catch_up(self) -> None:
        """Take in every decision that was committed before this call; one that was taken in may come again."""
        ledger, head = self._store.ledger, await self._store.ledger.head()
        while True:
            saved = await kept_cursor(ledger, _CURSOR) or Cursor(_CURSOR, 0)
            if saved.position >= head:
                return
            events = await ledger.read_all(after=saved.position, until=head, types=_ENDED, limit=_AT_ONCE)
            if not events and head - saved.position < _PASSED_OVER:
                return
            for event in events:
                await self._take_in(event)
            upto = events[-1].position if len(events) == _AT_ONCE else head
            try:
                await ledger.append(cursors=[Cursor(_CURSOR, upto, saved.position)])
            except VersionConflict:  # another process was quicker
                continue

    async def _take_in(self, event: Event) -> None:
        try:
            view = fold_card(await self._store.ledger.read(event.subject))
        except (NotFound, IllegalTransition):
            return
        if view.card.proposes.get("what") == "memory" and not view.is_open:
            await self._settle(view, MemoryId(str(view.card.proposes["memory"])), event.time)

    async def _settle(self, view: CardView, memory_id: MemoryId, at: datetime) -> None:
        from memory.records.book import MemoryBook  # it imports SQLAlchemy, which has come with the store

        card = view.card
        book = MemoryBook(self._store, card.organisation, clock=self._clock, settings=self._settings)
        by = view.decisions[-1].by if view.decisions else _WHO
        try:
            record = await book.get(memory_id)
            if record.state is not MemoryState.DISPUTED:
                return
            if view.chosen is not None and view.chosen.id == NEWER:
                await book.confirm(memory_id, by=by, supersedes=record.disputes)
            else:
                await book.withdraw(memory_id, by=by, reason=f"{card.card_id}, decided {at:%Y-%m-%d}")
        except (NotFound, MemoryPast, VersionConflict) as error:  # somebody settled it by hand at the same time
            _log.info("%s of %s is settled already: %s", memory_id, card.card_id, error.message)


def stream_of(organisation: str, memory_id: MemoryId) -> str:
    """Return the stream that says that a card was raised for a disputed memory."""
    return f"dispute/{organisation}/{memory_id.ulid}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
