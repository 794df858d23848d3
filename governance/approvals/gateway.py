"""Cards and decisions in the ledger: raised, shown, decided once, judged by their deadlines."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import cast

from contracts import CardId, Decision, DecisionCard, DecisionId, Json
from governance.access.people import People, Person
from governance.approvals.card import (
    CardState,
    CardView,
    Use,
    card_sha256,
    escalation,
    fold_card,
    option_of,
    to_event_data,
)
from governance.approvals.outputs import require_output
from governance.approvals.rule import ApprovalRule
from governance.errors import CardClosed, IllegalTransition, NotAllowedToDecide, UnknownOption
from runtime.canonical import clean
from runtime.clock import Clock
from runtime.errors import InvalidArguments, NotFound, VersionConflict
from runtime.ledger.port import Append, NewEvent, Store
from runtime.telemetry.redaction import redact

_TRIES = 50
"""Decisions at once on one card before a writer gives up; each lost try means that somebody else's went in."""

LAST_OF_OPEN = ("card.raised", "card.decided", "card.escalated")
"""Types of the last event of a card that may be open."""


class ApprovalGateway:
    """The cards of one organisation."""

    def __init__(self, store: Store, clock: Clock, people: People, organisation: str) -> None:
        self._ledger = store.ledger
        self._clock = clock
        self._people = people
        self._organisation = organisation

    # raising
    def card_append(self, card: DecisionCard) -> Append:
        """Return the append that raises the card; it goes into the commit of the wait."""
        return self._append(card, 0, NewEvent("card.raised", to_event_data(card=card)))

    def use_append(self, view: CardView, use: Use) -> Append:
        """Return the append that uses up one action of an approved card.

        The ledger refuses it (VersionConflict) when the card moved on meanwhile: authorise again then.
        """
        data = to_event_data(order_id=use.order_id, key=use.key, action=use.action)
        return self._append(view.card, view.version, NewEvent("card.used", data))

    def withdraw_append(self, view: CardView, reason: str) -> Append:
        """Return the append that takes an open card back; it goes into the commit of what takes its place."""
        return self._append(view.card, view.version, NewEvent("card.withdrawn", to_event_data(reason=reason)))

    # looking
    async def get(self, card_id: CardId) -> CardView:
        """Return how the card stands; raise NotFound when this organisation has none of that id."""
        events = await self._ledger.read(card_id)
        if not events or events[0].organisation != self._organisation:
            raise NotFound(f"There is no {card_id} in {self._organisation}.", id=card_id)
        return fold_card(events)

    async def open_cards(self) -> list[CardView]:
        """Return the cards that wait for a decision, the nearest deadline first."""
        streams = await self._ledger.streams("card", organisation=self._organisation, last_types=LAST_OF_OPEN)
        views: list[CardView] = []
        for stream in streams:
            with suppress(NotFound, IllegalTransition):  # pruned since it was listed, or erased: nobody can decide it
                views.append(await self.get(CardId(stream)))
        return sorted((view for view in views if view.is_open), key=lambda view: view.deadline)

    async def all_cards(self) -> list[CardView]:
        """Return all cards, oldest first."""
        return [await self.get(CardId(s)) for s in await self._ledger.streams("card", organisation=self._organisation)]

    # deciding
    async def decide(
        self,
        card_id: CardId,
        *,
        person: Person,
        approve: bool,
        option: str | None = None,
        reason: str = "",
        via: str = "cli",
        shown_sha256: str | None = None,
        output: dict[str, Json] | None = None,
    ) -> CardView:
        """Record what a person decided and return how the card stands then.

        Of two decisions at once the first wins. One no denies the card; a yes approves it when its option has the
        quorum of different people. `shown_sha256` is the hash of the card that was on the screen, where that is known.
        `output` is what an effect gave that happened, where the person knows; it is stored without known secrets.

        Raises:
            NotFound: there is no such card.
            CardClosed: it was decided, by this person or another, expired or was withdrawn.
            NotAllowedToDecide: the person is not among those asked, or asked for it themselves.
            UnknownOption: a yes without an option of the card, or a no with one.
            InvalidArguments: the output does not fit, differs from what another person told, or is not asked for.
        """
        if output is not None:
            output = cast("dict[str, Json]", redact(clean(output)))
        if approve is not True and approve is not False:
            raise InvalidArguments(f"A decision is true or false, not {approve!r}; only an explicit yes is a yes.")
        for _ in range(_TRIES):
            view = await self._judged(await self.get(card_id), self._clock.now())
            self._check(view, person, approve, option, shown_sha256)
            if output is not None:
                require_output(view, option, output)
            decision = Decision(
                decision_id=DecisionId.new(),
                card_id=view.card.card_id,
                card_sha256=card_sha256(view.card),
                approve=approve,
                option=option,
                reason=reason,
                output=output,
                by=person.id,
                at=self._clock.now(),
                via=via,
            )
            decided = await self._try(view, NewEvent("card.decided", to_event_data(decision=decision)))
            if decided is not None:
                return decided
        raise VersionConflict(f"{card_id} is being decided by too many at once; try again.", id=card_id)

    async def withdraw(self, card_id: CardId, reason: str) -> CardView:
        """Take an open card back; a card that is closed already is returned as it is."""
        for _ in range(_TRIES):
            view = await self.get(card_id)
            if not view.is_open:
                return view
            withdrawn = await self._try(view, NewEvent("card.withdrawn", to_event_data(reason=reason)))
            if withdrawn is not None:
                return withdrawn
        raise VersionConflict(f"{card_id} is being decided by too many at once; try again.", id=card_id)

    def fulfils(self, view: CardView, rule: ApprovalRule) -> bool:
        """Whether the people who said yes are those whom `rule` asks for.

        A card may carry actions whose capabilities fall under another rule than the card itself; that one counts too.
        """
        if view.card.policy == rule.name:
            return True
        named = {person.id for name in (*rule.who, *rule.escalate_to) for person in self._people.members(name)}
        return len(named.intersection(view.said_yes_to(view.decisions[-1].option))) >= rule.quorum

    async def use(self, view: CardView, use: Use) -> bool:
        """Use up an action of the card at once; return False when somebody else was quicker."""
        try:
            await self._ledger.append(self.use_append(view, use))
        except VersionConflict:
            return False
        return True

    async def judge_deadlines(self, now: datetime) -> list[CardView]:
        """Pass on or expire every open card whose deadline has passed; return those that changed."""
        changed = []
        for view in await self.open_cards():
            if view.is_overdue(now):
                changed.append(await self._judged(view, now))
        return changed

    async def judge(self, card_id: CardId, now: datetime) -> CardView:
        """Return the card after its deadline had its effect, if it has passed."""
        return await self._judged(await self.get(card_id), now)

    async def _judged(self, view: CardView, now: datetime) -> CardView:
        """Return the card after its deadline had its effect, if it has passed."""
        while view.is_overdue(now):
            view = await self._try(view, _overdue_event(view, now)) or await self.get(view.card.card_id)
        return view

    async def _try(self, view: CardView, event: NewEvent) -> CardView | None:
        """Append to the card as it was seen; return how it stands then, or None when it moved on meanwhile."""
        try:
            await self._ledger.append(self._append(view.card, view.version, event))
        except VersionConflict:
            return None
        return await self.get(view.card.card_id)

    def _append(self, card: DecisionCard, version: int, event: NewEvent) -> Append:
        return Append(
            stream=card.card_id,
            events=(event,),
            expected_version=version,
            organisation=self._organisation,
            source=f"/organisation/{self._organisation}/approvals",
            execution_id=card.execution_id,
        )

    def can_be_decided(self, card: DecisionCard) -> bool:
        """Whether enough people may decide the card as the organisation stands now, those it may pass to included."""
        return any(
            sum(self._people.may_decide(person, card, who) is None for person in self._people) >= card.quorum
            for who in (card.who, card.escalate_to)
        )

    def check_right(self, view: CardView, person: Person) -> None:
        """Return when `person` may decide the card as it stands now.

        Raises:
            CardClosed: it takes no decision any more, or none of this person.
            NotAllowedToDecide: the person is not among those asked, or asked for it themselves.
        """
        if not view.is_open or any(decision.by == person.id for decision in view.decisions):
            raise _closed(view, person)
        refusal = self._people.may_decide(person, view.card, view.who)
        if refusal is not None:
            raise NotAllowedToDecide(refusal.message, card=view.card.card_id, person=person.id, why=refusal.why.value)

    def _check(
        self, view: CardView, person: Person, approve: bool, option: str | None, shown_sha256: str | None
    ) -> None:
        self.check_right(view, person)
        if shown_sha256 is not None and shown_sha256 != card_sha256(view.card):
            raise InvalidArguments(
                "What was shown is not this card any more. Look at it again.", card=view.card.card_id
            )
        if approve == (option_of(view.card, option) is None):
            raise _unknown_option(view, approve, option)
        if not approve and option is not None:
            raise _unknown_option(view, approve, option)


def _overdue_event(view: CardView, now: datetime) -> NewEvent:
    if view.state is CardState.OPEN and view.card.escalate_to:
        data = to_event_data(who=view.card.escalate_to, deadline=escalation(view, now))
        return NewEvent("card.escalated", data)
    return NewEvent("card.expired", to_event_data(at=view.deadline))


def _closed(view: CardView, person: Person) -> CardClosed:
    card_id = view.card.card_id
    own = next((decision for decision in view.decisions if decision.by == person.id), None)
    if own is not None:
        said = f"yes to {own.option}" if own.approve else "no"
        rest = f" It waits for {_missing(view)} more." if view.is_open else ""
        return CardClosed(
            f"{person.name} already decided {card_id} at {own.at:%Y-%m-%d %H:%M} UTC: {said}.{rest}",
            card=card_id, outcome=view.outcome, by=own.by, at=own.at.isoformat(), option=own.option,
        )  # fmt: skip
    at = view.closed_at or view.deadline
    how = {
        CardState.EXPIRED: f"expired: nobody decided it by {view.deadline:%Y-%m-%d %H:%M} UTC",
        CardState.WITHDRAWN: f"was withdrawn: {view.reason}",
    }.get(view.state, f"was {view.state} by {view.decided_by} at {at:%Y-%m-%d %H:%M} UTC")
    option = view.chosen.id if view.chosen else None
    chosen = f", option {option}" if option else ""
    return CardClosed(
        f"{card_id} {how}{chosen}. Nothing was changed.",
        card=card_id, outcome=view.outcome, by=view.decided_by, at=at.isoformat(), option=option,
    )  # fmt: skip


def _missing(view: CardView) -> int:
    return view.card.quorum - max(len(view.said_yes_to(option.id)) for option in view.card.options)


def _unknown_option(view: CardView, approve: bool, option: str | None) -> UnknownOption:
    options: Sequence[str] = [candidate.id for candidate in view.card.options]
    if not approve:
        message = f"A no turns down every option; leave {option} out. To choose an option, say yes to it."
    elif option is None:
        message = f"A yes names its option: {', '.join(options)}."
    else:
        message = f"The card has no option {option}; it offers: {', '.join(options)}."
    return UnknownOption(message, card=view.card.card_id, option=option, options=list(options))
