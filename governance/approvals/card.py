"""How a card stands: one transition table, and the fold of its stream over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property, reduce

from pydantic import TypeAdapter

from contracts import Decision, DecisionCard, Event, Name, Option, Outcome, Sha256
from governance.errors import IllegalTransition
from runtime.canonical import clean, sha256
from runtime.errors import NotFound


class CardState(StrEnum):
    """Where a card stands."""

    OPEN = "open"
    ESCALATED = "escalated"
    """Open still, with others and for the last time."""
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class Move(StrEnum):
    """What may happen to a card."""

    VOTE = "vote"
    """A yes that does not reach the quorum."""
    APPROVE = "approve"
    """The yes that does."""
    DENY = "deny"
    ESCALATE = "escalate"
    EXPIRE = "expire"
    WITHDRAW = "withdraw"
    USE = "use"
    """An effect takes place on the strength of it."""


LIFE: Mapping[tuple[CardState, Move], CardState] = {
    (CardState.OPEN, Move.VOTE): CardState.OPEN,
    (CardState.OPEN, Move.APPROVE): CardState.APPROVED,
    (CardState.OPEN, Move.DENY): CardState.DENIED,
    (CardState.OPEN, Move.ESCALATE): CardState.ESCALATED,
    (CardState.OPEN, Move.EXPIRE): CardState.EXPIRED,
    (CardState.OPEN, Move.WITHDRAW): CardState.WITHDRAWN,
    (CardState.ESCALATED, Move.VOTE): CardState.ESCALATED,
    (CardState.ESCALATED, Move.APPROVE): CardState.APPROVED,
    (CardState.ESCALATED, Move.DENY): CardState.DENIED,
    (CardState.ESCALATED, Move.EXPIRE): CardState.EXPIRED,
    (CardState.ESCALATED, Move.WITHDRAW): CardState.WITHDRAWN,
    (CardState.APPROVED, Move.USE): CardState.APPROVED,
}
"""Every move there is. Only APPROVE leads to approved, and nothing leads out of an end but the use of a yes."""


def state_after(state: CardState, move: Move) -> CardState:
    """Return where `move` leads; raise IllegalTransition when the table has no such row."""
    try:
        return LIFE[state, move]
    except KeyError:
        raise IllegalTransition(
            f"A card that is {state} takes no {move}.", state=state.value, move=move.value
        ) from None


@dataclass(frozen=True, slots=True)
class Use:
    """An effect that took place on the strength of a card."""

    order_id: str
    key: str
    """The call: the same after a crash."""
    action: int
    """Which action of the chosen option, from 0."""


@dataclass(frozen=True)
class CardView:
    """A card and all that happened to it."""

    card: DecisionCard
    state: CardState
    who: tuple[Name, ...]
    """Who may decide now: those of the card, or those it was passed on to."""
    deadline: datetime
    """The deadline that holds now."""
    version: int
    """Events of the stream that are folded in."""
    decisions: tuple[Decision, ...] = ()
    used_by: tuple[Use, ...] = ()
    closed_at: datetime | None = None
    reason: str = ""
    """Why it was withdrawn."""

    @property
    def is_open(self) -> bool:
        """Whether it still takes decisions."""
        return self.state in (CardState.OPEN, CardState.ESCALATED)

    @property
    def outcome(self) -> Outcome | None:
        """How it ended; None while it is open. Only `approved` is a yes."""
        return None if self.is_open else Outcome(self.state.value)

    @property
    def chosen(self) -> Option | None:
        """The option that was approved; None for everything else."""
        if self.state is not CardState.APPROVED:
            return None
        return option_of(self.card, self.decisions[-1].option)

    @property
    def decided_by(self) -> str | None:
        """Whose decision closed it; None when no decision did."""
        return self.decisions[-1].by if self.outcome in (Outcome.APPROVED, Outcome.DENIED) else None

    @cached_property
    def card_sha256(self) -> Sha256:
        """Hash of the card as it is shown; every decision carries it."""
        return card_sha256(self.card)

    def is_overdue(self, now: datetime) -> bool:
        """Whether its deadline has passed without a decision."""
        return self.is_open and now >= self.deadline

    def said_yes_to(self, option: str | None) -> frozenset[str]:
        """Return the people who chose the option."""
        return frozenset(d.by for d in self.decisions if d.approve and d.option == option)


def card_sha256(card: DecisionCard) -> Sha256:
    """Return the hash of everything that a person is shown."""
    return sha256(card.to_json())


def option_of(card: DecisionCard, option: str | None) -> Option | None:
    """Return the card's option of that id, or None."""
    return next((candidate for candidate in card.options if candidate.id == option), None)


def move_of(view: CardView, decision: Decision) -> Move:
    """Return what a decision does: a no denies, a yes approves once its option has the quorum."""
    if not decision.approve:
        return Move.DENY
    agreed = view.said_yes_to(decision.option) | {decision.by}
    return Move.APPROVE if len(agreed) >= view.card.quorum else Move.VOTE


def fold_card(events: Sequence[Event]) -> CardView:
    """Return how the card stands after its events.

    Raises:
        NotFound: there are none.
        IllegalTransition: the stream holds what the table does not allow.
    """
    if not events:
        raise NotFound("There is no such card.")
    return reduce(_apply, events[1:], raised(DecisionCard.read(_data(events[0])["card"])))  # type: ignore[arg-type]


def raised(card: DecisionCard) -> CardView:
    """Return how a card stands right after it was raised."""
    return CardView(card=card, state=CardState.OPEN, who=card.who, deadline=card.deadline, version=1)


def escalation(view: CardView, now: datetime) -> datetime:
    """Return the deadline after passing the card on: as much time again as it had, from now."""
    length: timedelta = view.card.deadline - view.card.raised_at
    return now + length


def _apply(view: CardView, event: Event) -> CardView:
    data = _data(event)
    view = replace(view, version=event.stream_version)
    match event.type:
        case "card.decided":
            decision = Decision.read(data["decision"])  # type: ignore[arg-type]
            view = _moved(view, move_of(view, decision), event)
            return replace(view, decisions=(*view.decisions, decision))
        case "card.escalated":
            view = _moved(view, Move.ESCALATE, event)
            return replace(
                view, who=_NAMES.validate_python(data["who"]), deadline=_TIME.validate_python(data["deadline"])
            )
        case "card.expired":
            return _moved(view, Move.EXPIRE, event)
        case "card.withdrawn":
            return replace(_moved(view, Move.WITHDRAW, event), reason=str(data.get("reason", "")))
        case "card.used":
            use = Use(str(data["order_id"]), str(data["key"]), _INDEX.validate_python(data.get("action", 0)))
            return replace(_moved(view, Move.USE, event), used_by=(*view.used_by, use))
    raise IllegalTransition(f"{event.type} is nothing that happens to a card.", type=event.type)


def _moved(view: CardView, move: Move, event: Event) -> CardView:
    state = state_after(view.state, move)
    closed = view.closed_at or (None if state in (CardState.OPEN, CardState.ESCALATED) else event.time)
    return replace(view, state=state, closed_at=closed)


def _data(event: Event) -> Mapping[str, object]:
    if event.data is None:
        raise IllegalTransition(f"{event.subject} was erased in part; its card cannot be read.", stream=event.subject)
    return event.data


def to_event_data(**facts: object) -> dict[str, object]:
    """Return the facts of an event, cleaned."""
    return {key: clean(value) for key, value in facts.items()}


_NAMES: TypeAdapter[tuple[Name, ...]] = TypeAdapter(tuple[Name, ...])
_TIME: TypeAdapter[datetime] = TypeAdapter(datetime)
_INDEX: TypeAdapter[int] = TypeAdapter(int)
