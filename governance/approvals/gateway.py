"""Cards and decisions in the ledger: raised, shown, decided once, judged by their deadlines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import cast

from contracts import CardId, CardKind, Decision, DecisionCard, DecisionId, Json
from governance.access.people import People, Person
from governance.approvals.about import opened_append
from governance.approvals.card import CardView, Use, fold_card, option_of, to_event_data
from governance.approvals.clocked import clocked_event
from governance.approvals.closed import closed, unknown_option
from governance.approvals.delegations import Delegations
from governance.approvals.outputs import require_output
from governance.approvals.proposals import approved_appends
from governance.approvals.rights import Right, right_to_decide
from governance.approvals.rule import ApprovalRule
from governance.approvals.standing import Standings
from governance.errors import NotAllowedToDecide
from runtime.canonical import clean
from runtime.clock import Clock
from runtime.errors import InvalidArguments, NotFound, VersionConflict
from runtime.ledger.port import Append, NewEvent, Store
from runtime.telemetry.redaction import redact

_TRIES = 50
"""Decisions at once on one card before a writer gives up; each lost try means that somebody else's went in."""


class ApprovalGateway:
    """The cards of one organisation."""

    def __init__(self, store: Store, clock: Clock, people: People, organisation: str) -> None:
        self._ledger = store.ledger
        self.clock = clock
        self.people = people
        self.organisation = organisation
        self.delegations = Delegations(store.ledger, clock, organisation)
        self.standings = Standings(store.ledger, organisation)

    # raising
    def card_append(self, card: DecisionCard, *, passed: Mapping[str, str] | None = None) -> Append:
        """Return the append that raises the card; it goes into the commit of the wait.

        With `passed` (option, mode, why) it is approved at once, because its mode lets that option pass.
        """
        events = [NewEvent("card.raised", to_event_data(card=card))]
        if passed is not None:
            events.append(NewEvent("card.passed", to_event_data(**passed)))
        return self._append(card, 0, *events)

    async def raise_appends(
        self, card: DecisionCard, *, passed: Mapping[str, str] | None = None
    ) -> Sequence[Append] | CardView:  # fmt: skip
        """Return the appends that raise the card as the only open one about its subject, or the card to join.

        An open card with the very same actions is joined; one about the same, by its `about`, is superseded in the same
        commit. The ledger refuses the commit (VersionConflict) where another card about it is raised meanwhile.
        """
        return await opened_append(self, card, passed)

    async def event(self, view: CardView, type_: str, **facts: object) -> CardView | None:
        """Append what happened to the card as it was seen; return how it stands then, None when it moved on."""
        return await self._try(view, NewEvent(type_, to_event_data(**facts)))

    def event_append(self, view: CardView, type_: str, **facts: object) -> Append:
        """Return the append of what happened to the card as it was seen, for the commit of what goes with it."""
        return self._append(view.card, view.version, NewEvent(type_, to_event_data(**facts)))

    def use_append(self, view: CardView, use: Use) -> Append:
        """Return the append that uses up one action of an approved card.

        The ledger refuses it (VersionConflict) when the card moved on meanwhile: authorise again then.
        """
        back = {"back": True} if use.back else {}
        return self.event_append(view, "card.used", order_id=use.order_id, key=use.key, action=use.action, **back)

    def withdraw_append(self, view: CardView, reason: str) -> Append:
        """Return the append that takes an open card back; it goes into the commit of what takes its place."""
        return self.event_append(view, "card.withdrawn", reason=reason)

    # looking
    async def get(self, card_id: CardId) -> CardView:
        """Return how the card stands; raise NotFound when this organisation has none of that id."""
        events = await self._ledger.read(card_id)
        if not events or events[0].organisation != self.organisation:
            raise NotFound(f"There is no {card_id} in {self.organisation}.", id=card_id)
        return fold_card(events)

    async def newest(self, stream: str) -> tuple[int, Mapping[str, Json]]:
        """Return version and facts of the newest event of a stream; 0 and nothing for one that is not there."""
        events = await self._ledger.read_newest(stream)
        return (events[-1].stream_version, events[-1].data or {}) if events else (0, {})

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

        Of two decisions at once the first wins. One no denies the card, and says why; a yes approves it when its option
        has the quorum of different voices. `shown_sha256` is the hash of the card that was on the screen, where that is
        known. `output` is what an effect gave that happened, where the person knows; it is stored without known
        secrets.

        Raises:
            NotFound: there is no such card.
            CardClosed: it was decided, by this person or another, expired, was withdrawn or superseded.
            NotAllowedToDecide: the person is not among those asked, or asked for it or edited it themselves.
            UnknownOption: a yes without an option of the card, or a no with one.
            InvalidArguments: a no without a reason; the output does not fit, differs from what another person told, or
                is not asked for.
        """
        if output is not None:
            output = cast("dict[str, Json]", redact(clean(output)))
        if approve is not True and approve is not False:
            raise InvalidArguments(f"A decision is true or false, not {approve!r}; only an explicit yes is a yes.")
        for _ in range(_TRIES):
            view = await self.judge(card_id, self.clock.now())
            right = await self._check(view, person, approve, option, shown_sha256)
            if output is not None:
                require_output(view, option, output)
            if not approve and not reason.strip():
                raise InvalidArguments(
                    f"A no says why: whoever asked learns it, and so does the organisation. Give {card_id} a reason.",
                    card=card_id,
                )
            decision = Decision(
                decision_id=DecisionId.new(),
                card_id=view.card.card_id,
                card_sha256=view.card_sha256,
                card_version=view.version,
                approve=approve,
                option=option,
                reason=reason,
                output=output,
                by=person.id,
                on_behalf_of=right.on_behalf_of,
                at=self.clock.now(),
                via=via,
            )
            appends: Sequence[Append] = ()
            if view.card.kind is CardKind.PROPOSAL:
                appends = await approved_appends(self, view, decision)
            event = NewEvent("card.decided", to_event_data(decision=decision))
            decided = await self._try(view, event, appends)
            if decided is not None:
                return decided
        raise VersionConflict(f"{card_id} is being decided by too many at once; try again.", id=card_id)

    async def withdraw(self, card_id: CardId, reason: str) -> CardView:
        """Take an open card back; a card that is closed already is returned as it is."""
        return await self.change(card_id, lambda view: ("card.withdrawn", {"reason": reason}) if view.is_open else None)

    async def change(
        self, card_id: CardId, what: Callable[[CardView], tuple[str, Mapping[str, object]] | None]
    ) -> CardView:
        """Let something happen to a card, worked out anew as often as it moves on; None leaves it as it is."""
        for _ in range(_TRIES):
            view = await self.get(card_id)
            event = what(view)
            if event is None:
                return view
            changed = await self.event(view, event[0], **event[1])
            if changed is not None:
                return changed
        raise VersionConflict(f"{card_id} is being decided by too many at once; try again.", id=card_id)

    def fulfils(self, view: CardView, rule: ApprovalRule) -> bool:
        """Whether the people who said yes are those whom `rule` asks for.

        A card may carry actions whose capabilities fall under another rule than the card itself; that one counts too.
        What passed by its mode was held against the rule of each action then.
        """
        if view.card.policy == rule.name or view.passed is not None:
            return True
        named = {person.id for name in (*rule.who, *rule.escalate_to) for person in self.people.members(name)}
        chosen = view.chosen
        return chosen is not None and len(named.intersection(view.voices_for(chosen.id))) >= rule.quorum

    async def use(self, view: CardView, use: Use) -> bool:
        """Use up an action of the card at once; return False when somebody else was quicker."""
        return await self.commit(self.use_append(view, use))

    async def commit(self, *appends: Append) -> bool:
        """Store all of it; return False, with nothing stored, when something of it moved on."""
        try:
            await self._ledger.append(*appends)
        except VersionConflict:
            return False
        return True

    async def judge(self, card_id: CardId, now: datetime) -> CardView:
        """Return the card after the clock had its effect on it: reminded, passed on or expired."""
        view = await self.get(card_id)
        while (due := clocked_event(view, now)) is not None:
            view = await self._try(view, due) or await self.get(card_id)
        return view

    async def _try(self, view: CardView, event: NewEvent, with_it: Sequence[Append] = ()) -> CardView | None:
        """Append to the card as it was seen; return how it stands then, or None when it moved on meanwhile."""
        try:
            stored = await self._ledger.append(self._append(view.card, view.version, event), *with_it)
        except VersionConflict:
            return None
        return fold_card([*await self._ledger.read(view.card.card_id)]) if stored else None

    def _append(self, card: DecisionCard, version: int, *events: NewEvent) -> Append:
        return Append(
            stream=card.card_id,
            events=events,
            expected_version=version,
            organisation=self.organisation,
            source=f"/organisation/{self.organisation}/approvals",
            execution_id=card.execution_id,
        )

    def can_be_decided(self, card: DecisionCard) -> bool:
        """Whether enough people may decide the card as the organisation stands now, those it may pass to included."""
        return any(
            sum(self.people.may_decide(person, card, who) is None for person in self.people) >= card.quorum
            for who in (card.who, card.escalate_to)
        )

    async def check_right(self, view: CardView, person: Person) -> Right:
        """Return by what right `person` may decide the card as it stands now.

        Raises:
            CardClosed: it takes no decision any more, or none of this person.
            NotAllowedToDecide: the person is not among those asked, or asked for it or edited it themselves.
        """
        if not view.is_open or any(decision.by == person.id for decision in view.valid):
            raise closed(view, person)
        now = self.clock.now()
        right = right_to_decide(self.people, await self.delegations.all(), view, person, now)
        if not isinstance(right, Right):
            raise NotAllowedToDecide(right.message, card=view.card.card_id, person=person.id, why=right.why.value)
        voice = right.on_behalf_of or person.id
        if any(decision.voice == voice for decision in view.valid):
            raise NotAllowedToDecide(
                f"{person.name} would decide on behalf of {voice}, whose voice counts already.",
                card=view.card.card_id, person=person.id, why="one_voice",
            )  # fmt: skip
        return right

    async def _check(
        self, view: CardView, person: Person, approve: bool, option: str | None, shown_sha256: str | None
    ) -> Right:
        right = await self.check_right(view, person)
        if shown_sha256 is not None and shown_sha256 != view.card_sha256:
            raise InvalidArguments(
                "What was shown is not this card any more. Look at it again.", card=view.card.card_id
            )
        if approve == (option_of(view.card, option) is None) or (not approve and option is not None):
            raise unknown_option(view, approve, option)
        return right
