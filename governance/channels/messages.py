"""What is told of what happened: which events, to whom, how severe it is, in which words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from contracts import DecisionCard, Event, Name, Notification, Question, Severity, Text
from governance.access.people import People, places_of
from governance.approvals.card import CardView, fold_card
from governance.approvals.delegations import Delegations
from governance.errors import IllegalTransition
from runtime.clock import Clock
from runtime.errors import NotFound
from runtime.ledger.port import Ledger
from runtime.texts import Say

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

TITLE = 200
"""Characters of a title; a longer one is cut."""


@dataclass(frozen=True, slots=True)
class Message:
    """Something to be told to people."""

    key: str
    """What tells it apart: nobody is told twice by one channel."""
    what: str
    about: str
    severity: Severity
    to: tuple[Name, ...]
    """People and groups."""
    title: str
    text: str
    unless: frozenset[Name] = frozenset()
    """Those who need not be told, such as who already decided."""
    places: tuple[Name, ...] = ()
    """The employees whom it concerns: whoever may not look there is not told."""


@dataclass(frozen=True, slots=True)
class Telling:
    """What words are made of."""

    ledger: Ledger
    clock: Clock
    people: People
    say: Say
    language: str
    zone: ZoneInfo


Teller = Callable[[Telling, Event], Awaitable[Message | None]]


async def message_of(telling: Telling, event: Event) -> Message | None:
    """Return what is told of an event; None for what nobody has to be told any more."""
    teller = TELLERS.get(event.type)
    return None if teller is None or event.data is None else await teller(telling, event)


async def _card_raised(telling: Telling, event: Event) -> Message | None:
    view = await _card(telling, event)
    if (
        view is None or not view.is_open
    ):  # decided meanwhile, or passed by a rule, which is told by a message of its own
        return None
    return await _of_card(telling, event, view, "told-card-raised", Severity.MEDIUM, view.who)


async def _card_reminded(telling: Telling, event: Event) -> Message | None:
    view = await _card(telling, event)
    if view is None or not view.is_open:
        return None
    return await _of_card(telling, event, view, "told-card-reminded", Severity.HIGH, view.who)


async def _card_edited(telling: Telling, event: Event) -> Message | None:
    """Everybody decides anew, but for who edited it."""
    view = await _card(telling, event)
    if view is None or not view.is_open:
        return None
    return await _of_card(telling, event, view, "told-card-edited", Severity.HIGH, view.who)


async def _card_escalated(telling: Telling, event: Event) -> Message | None:
    view = await _card(telling, event)
    if view is None or not view.is_open:
        return None
    return await _of_card(telling, event, view, "told-card-escalated", Severity.CRITICAL, view.who)


async def _card_expired(telling: Telling, event: Event) -> Message | None:
    view = await _card(telling, event)
    if view is None:
        return None
    to = (*view.who, view.card.requested_by)
    return await _of_card(telling, event, view, "told-card-expired", Severity.HIGH, to)


async def _question_asked(telling: Telling, event: Event) -> Message | None:
    assert event.data is not None
    question = Question.read(event.data["question"])  # type: ignore[arg-type]
    if len(await telling.ledger.read(event.subject)) > 1:
        return None
    words = _words(question.text, telling.language)
    title = telling.say("told-question", question=words)
    to = (question.who,) if question.who is not None else ()
    return Message(event.id, event.type, event.subject, Severity.MEDIUM, to, _cut(title), words)


async def _notified(telling: Telling, event: Event) -> Message | None:
    assert event.data is not None
    told = Notification.read(event.data["notification"])  # type: ignore[arg-type]
    title = telling.say("told-notification", employee=told.employee, text=told.text.split("\n", 1)[0])
    return Message(event.id, event.type, event.subject, Severity.LOW, told.to, _cut(title), told.text)


async def _alert_told(telling: Telling, event: Event) -> Message | None:
    """One telling of several alerts is an event of each; it is one message under one key."""
    assert event.data is not None
    key, to = str(event.data["key"]), tuple(map(str, event.data["to"]))  # type: ignore[arg-type]
    first = (await telling.ledger.read_versions(event.subject, [1]))[0].data or {}
    severity, kind = Severity(str(first["severity"])), str(first["kind"])
    occasion = str(event.data["occasion"])
    facts = {"kind": kind, "source": str(first["source"]), "beside": int(str(event.data.get("beside", 0)))}
    title = telling.say(f"told-alert-{occasion}", **facts)
    labels = first.get("labels")
    named = ", ".join(f"{name}: {value}" for name, value in labels.items()) if isinstance(labels, Mapping) else ""
    return Message(key, event.type, event.subject, severity, to, _cut(title), f"{title}\n{named}".strip())


TELLERS: Mapping[str, Teller] = {
    "card.raised": _card_raised,
    "card.edited": _card_edited,
    "card.reminded": _card_reminded,
    "card.escalated": _card_escalated,
    "card.expired": _card_expired,
    "question.asked": _question_asked,
    "notification.sent": _notified,
    "alert.told": _alert_told,
}
"""Type of event → what is told of it. What a rule let pass without a person is told by `notification.sent`."""


async def _card(telling: Telling, event: Event) -> CardView | None:
    try:
        return fold_card(await telling.ledger.read(event.subject))
    except (NotFound, IllegalTransition):  # pruned, or erased in part: nobody can look at it
        return None


async def _of_card(  # noqa: PLR0917  (what is told of a card, in one place)
    telling: Telling, event: Event, view: CardView, key: str, severity: Severity, to: Sequence[Name]
) -> Message:
    card, say = view.card, telling.say
    question = _words(card.question, telling.language)
    deadline = _local(view.deadline, telling.zone)
    lines = [_words(card.impact, telling.language), say("told-until", deadline=deadline)]
    lines += [f"- {_words(option.title, telling.language)}" for option in card.options]
    decided = frozenset([*(each.by for each in view.valid), *(each.by for each in view.edits)])
    takers = await _takers(telling, card, to)
    title = _cut(say(key, question=question))
    return Message(
        event.id, event.type, event.subject, severity, (*to, *takers), title, "\n".join(lines), decided, places_of(card)
    )


async def _takers(telling: Telling, card: DecisionCard, to: Sequence[Name]) -> list[Name]:
    """Return who may decide in the place of those who are told."""
    now = telling.clock.now()
    told = {person.id for name in to for person in telling.people.members(name)}
    delegations = await Delegations(telling.ledger, telling.clock, card.organisation).all()
    return [each.taker for each in delegations if each.giver in told and each.holds(now, card.policy)]


def _words(text: Text, language: str) -> str:
    if isinstance(text, str):
        return text
    return text.get(language) or text.get("en") or next(iter(text.values()))


def _local(moment: datetime, zone: ZoneInfo) -> str:
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M %Z}"


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= TITLE else f"{flat[: TITLE - 1]}…"
