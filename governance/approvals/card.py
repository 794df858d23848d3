"""How a card stands: one transition table, and the fold of its stream over it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, reduce
from typing import TypeAlias

from pydantic import TypeAdapter

from contracts import (
    ApprovalMode,
    Decision,
    DecisionCard,
    Edit,
    Event,
    ExecutionId,
    Name,
    Option,
    OrderId,
    Outcome,
    Sha256,
)  # fmt: skip
from governance.approvals.life import CLOSED_WITHOUT_A_YES, CardState, Move, state_after
from governance.approvals.working_hours import moment_after
from governance.errors import IllegalTransition
from runtime.canonical import clean, sha256
from runtime.errors import NotFound


@dataclass(frozen=True, slots=True)
class Use:
    """An effect that took place on the strength of a card."""

    order_id: str
    key: str
    """The call: the same after a crash."""
    action: int
    """Which action of the chosen option, from 0."""
    back: bool = False
    """Whether it is one of the actions that take it back."""


@dataclass(frozen=True, slots=True)
class Passed:
    """That a mode let an option pass without a person."""

    option: str
    mode: ApprovalMode
    at: datetime


@dataclass(frozen=True, slots=True)
class Joined:
    """Another execution that wanted exactly the same, and waits for what becomes of it here."""

    execution_id: ExecutionId
    order_id: OrderId
    step: str
    requested_by: Name | None = None
    """Who asked for it, and so asks for what the card allows; None in what earlier versions stored."""


@dataclass(frozen=True, slots=True)
class Back:
    """That somebody wants it taken back."""

    by: Name
    at: datetime
    via: str
    reason: str


@dataclass(frozen=True, slots=True)
class Review:
    """What somebody says afterwards."""

    by: Name
    at: datetime
    via: str
    right: bool
    """False: it was a serious error."""
    reason: str


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
    """When it was decided, or ended without a decision."""
    reason: str = ""
    """Why it was withdrawn, or what failed."""
    remind_at: datetime | None = None
    """When those who may decide are reminded; None once they were."""
    passed: Passed | None = None
    edits: tuple[Edit, ...] = ()
    joined: tuple[Joined, ...] = ()
    superseded_by: str | None = None
    back: Back | None = None
    reviews: tuple[Review, ...] = ()
    acted_at: datetime | None = None
    """When the last of it was carried out, or had failed."""

    @property
    def is_open(self) -> bool:
        """Whether it still takes decisions."""
        return self.state in (CardState.OPEN, CardState.ESCALATED)

    @property
    def is_approved(self) -> bool:
        """Whether it had its yes, whatever became of that."""
        return not self.is_open and self.state not in CLOSED_WITHOUT_A_YES

    @property
    def outcome(self) -> Outcome | None:
        """How it was decided; None while it is open. Only `approved` is a yes."""
        if self.is_open:
            return None
        return Outcome.APPROVED if self.is_approved else Outcome(self.state.value)

    @property
    def chosen(self) -> Option | None:
        """The option that was approved; None for everything else."""
        if not self.is_approved:
            return None
        return option_of(self.card, self.passed.option if self.passed is not None else self.decisions[-1].option)

    @property
    def decided_by(self) -> str | None:
        """Whose decision closed it, the rule where a mode let it pass; None when no decision did."""
        if self.passed is not None:
            return f"rule/{self.card.policy}"
        return self.decisions[-1].by if self.outcome in (Outcome.APPROVED, Outcome.DENIED) else None

    @property
    def due_at(self) -> datetime:
        """When the clock has the next effect on it, as long as it is open: a reminder, or its deadline."""
        return self.deadline if self.remind_at is None else min(self.remind_at, self.deadline)

    @cached_property
    def card_sha256(self) -> Sha256:
        """Hash of the card as it is shown; every decision carries it."""
        return card_sha256(self.card)

    def is_overdue(self, now: datetime) -> bool:
        """Whether its deadline has passed without a decision."""
        return self.is_open and now >= self.deadline

    @property
    def valid(self) -> tuple[Decision, ...]:
        """The decisions about what it says now; those before an edit were about something else."""
        if not self.edits:
            return self.decisions
        return tuple(each for each in self.decisions if each.card_sha256 == self.card_sha256)

    def said_yes_to(self, option: str | None) -> frozenset[str]:
        """Return the people who chose the option."""
        return frozenset(d.by for d in self.valid if d.approve and d.option == option)

    def voices_for(self, option: str | None) -> frozenset[str]:
        """Return whose voices the option has: who decides on behalf of somebody has that one's."""
        return frozenset(d.voice for d in self.valid if d.approve and d.option == option)


def card_sha256(card: DecisionCard) -> Sha256:
    """Return the hash of everything that a person is shown."""
    return sha256(card.to_json())


def option_of(card: DecisionCard, option: str | None) -> Option | None:
    """Return the card's option of that id, or None."""
    return next((candidate for candidate in card.options if candidate.id == option), None)


def move_of(view: CardView, decision: Decision) -> Move:
    """Return what a decision does: a no denies, a yes approves once its option has the quorum of voices."""
    if not decision.approve:
        return Move.DENY
    agreed = view.voices_for(decision.option) | {decision.voice}
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
    return CardView(
        card=card, state=CardState.OPEN, who=card.who, deadline=card.deadline, version=1, remind_at=card.remind_at
    )  # fmt: skip


def escalation(view: CardView, now: datetime) -> datetime:
    """Return the deadline after passing the card on: as much time again as it had, from now, counted as before."""
    return moment_after(now, _given_s(view.card), view.card.hours)


def reminder(view: CardView, now: datetime) -> datetime | None:
    """Return when those are reminded to whom it is passed on; None where nobody was to be."""
    if view.card.remind_at is None:
        return None
    return moment_after(now, _given_s(view.card) / 2, view.card.hours)


def _given_s(card: DecisionCard) -> float:
    return card.within_s or (card.deadline - card.raised_at).total_seconds()


def edited(card: DecisionCard, edit: Edit) -> DecisionCard:
    """Return the card with the option as it was edited."""
    options = tuple(
        each.model_copy(update={"actions": edit.after}) if each.id == edit.option else each for each in card.options
    )
    return card.model_copy(update={"options": options})


def _apply(view: CardView, event: Event) -> CardView:
    data = _data(event)
    view = replace(view, version=event.stream_version)
    fold = _FOLDS.get(event.type)
    if fold is None:
        raise IllegalTransition(f"{event.type} is nothing that happens to a card.", type=event.type)
    return fold(view, event, data)


def _decided(view: CardView, event: Event, data: _Data) -> CardView:
    decision = Decision.read(data["decision"])  # type: ignore[arg-type]
    view = _moved(view, move_of(view, decision), event)
    return replace(view, decisions=(*view.decisions, decision))


def _passed(view: CardView, event: Event, data: _Data) -> CardView:
    passed = Passed(str(data["option"]), ApprovalMode(str(data["mode"])), event.time)
    return replace(_moved(view, Move.APPROVE, event), passed=passed)


def _edited(view: CardView, event: Event, data: _Data) -> CardView:
    edit = Edit.read(data["edit"])  # type: ignore[arg-type]
    view = _moved(view, Move.EDIT, event)
    return replace(view, card=edited(view.card, edit), edits=(*view.edits, edit))


def _joined(view: CardView, event: Event, data: _Data) -> CardView:
    by = None if data.get("requested_by") is None else str(data["requested_by"])
    joined = Joined(ExecutionId(str(data["execution_id"])), OrderId(str(data["order_id"])), str(data["step"]), by)
    return replace(_moved(view, Move.JOIN, event), joined=(*view.joined, joined))


def _escalated(view: CardView, event: Event, data: _Data) -> CardView:
    view = _moved(view, Move.ESCALATE, event)
    remind_at = None if data.get("remind_at") is None else _TIME.validate_python(data["remind_at"])
    deadline = _TIME.validate_python(data["deadline"])
    return replace(view, who=_NAMES.validate_python(data["who"]), deadline=deadline, remind_at=remind_at)


def _used(view: CardView, event: Event, data: _Data) -> CardView:
    back = data.get("back") is True
    use = Use(str(data["order_id"]), str(data["key"]), _INDEX.validate_python(data.get("action", 0)), back)
    return replace(_moved(view, Move.TAKE_BACK if back else Move.USE, event), used_by=(*view.used_by, use))


def _asked_back(view: CardView, event: Event, data: _Data) -> CardView:
    back = Back(str(data["by"]), event.time, str(data.get("via", "")), str(data.get("reason", "")))
    return replace(_moved(view, Move.ASK_BACK, event), back=back)


def _reviewed(view: CardView, event: Event, data: _Data) -> CardView:
    said = (str(data["by"]), event.time, str(data.get("via", "")), data["right"] is True, str(data.get("reason", "")))
    return replace(_moved(view, Move.REVIEW, event), reviews=(*view.reviews, Review(*said)))


def _ended(move: Move) -> _Fold:
    def fold(view: CardView, event: Event, data: _Data) -> CardView:
        acted = event.time if move in (Move.EXECUTE, Move.FAIL) else view.acted_at
        reason = str(data.get("reason", ""))
        return replace(_moved(view, move, event), reason=reason or view.reason, acted_at=acted)

    return fold


def _superseded(view: CardView, event: Event, data: _Data) -> CardView:
    return replace(_moved(view, Move.SUPERSEDE, event), superseded_by=str(data["by"]))


def _reminded(view: CardView, event: Event, data: _Data) -> CardView:
    return replace(_moved(view, Move.REMIND, event), remind_at=None)


_Data: TypeAlias = Mapping[str, object]
_Fold: TypeAlias = Callable[[CardView, Event, _Data], CardView]

_FOLDS: Mapping[str, _Fold] = {
    "card.decided": _decided,
    "card.passed": _passed,
    "card.edited": _edited,
    "card.joined": _joined,
    "card.reminded": _reminded,
    "card.escalated": _escalated,
    "card.expired": _ended(Move.EXPIRE),
    "card.withdrawn": _ended(Move.WITHDRAW),
    "card.superseded": _superseded,
    "card.used": _used,
    "card.executed": _ended(Move.EXECUTE),
    "card.execution_failed": _ended(Move.FAIL),
    "card.undo_requested": _asked_back,
    "card.undone": _ended(Move.UNDO),
    "card.reviewed": _reviewed,
}
"""What each event does to a card; the state itself comes from the table of `life` alone."""

CARD_EVENTS = ("card.raised", *_FOLDS)

LAST_OF_OPEN = ("card.raised", "card.decided", "card.edited", "card.joined", "card.reminded", "card.escalated")
"""Types of the last event of a card that may be open."""


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
