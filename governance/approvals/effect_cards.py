"""Cards that the gate raises by itself: before an effect that no approval covers, and when one is in doubt."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime

from contracts import ApprovalMode, CardId, CardKind, DecisionCard, Effect, Json, Option, Text
from governance.approvals.matching import action_of
from governance.approvals.modes import Why
from governance.approvals.rule import ApprovalRule
from runtime.capabilities.port import EffectRequest
from runtime.texts import LANGUAGES, Say

SayIn = Callable[[str], Say]
"""The catalogue of texts in one language, by its two letters."""

DO, NOTHING = "do", "nothing"
HAPPENED, AGAIN, NOT_HAPPENED, STOP = "happened", "again", "not_happened", "stop"

_LONGEST = 400
"""Characters of the arguments in a text; the action on the card has all of them."""

Words = Callable[[str], Text]
"""Gives a text of the catalogue in every language: who decides need not read the language of whoever asked."""

_TEXTS = {CardKind.EFFECT: "card-effect", CardKind.IN_DOUBT: "card-doubt", CardKind.ACCESS: "card-access"}


def effect_card(request: EffectRequest, rule: ApprovalRule, say_in: SayIn, now: datetime) -> DecisionCard:
    """Return the question whether this effect may happen: yes, exactly so, or not at all."""
    say = words_of(request, say_in)
    options = (
        offer(say, "card-effect-do", DO, request, acts=True),
        offer(say, "card-effect-nothing", NOTHING, request),
    )
    return gate_card(CardKind.EFFECT, options, request, rule, say=say, now=now)


def doubt_card(request: EffectRequest, rule: ApprovalRule, say_in: SayIn, now: datetime) -> DecisionCard:
    """Return the question what became of an effect that was begun: it happened, it did not, or stop here.

    Of cancelled work it is only asked what is to be taken back: nothing is done again. Of other work, who says that it
    happened may also tell what it gave, which later steps may read.
    """
    say = words_of(request, say_in)
    options = (
        (
            offer(say, "card-cancelled-happened", HAPPENED, request),
            offer(say, "card-cancelled-not", NOT_HAPPENED, request),
            offer(say, "card-cancelled-stop", STOP, request),
        )
        if request.cancelled
        else (
            offer(say, "card-doubt-happened", HAPPENED, request),
            offer(say, "card-doubt-again", AGAIN, request, acts=True),
            offer(say, "card-doubt-stop", STOP, request),
        )
    )
    card = gate_card(CardKind.IN_DOUBT, options, request, rule, say=say, now=now)
    gives = {} if request.cancelled else {**request.spec.gives, **request.gives}
    return card.model_copy(update={"gives": gives})


def offers_to_act(card: DecisionCard) -> bool:
    """Whether one of its options does something."""
    return any(option.actions for option in card.options)


def gate_card(
    kind: CardKind,
    options: tuple[Option, ...],
    request: EffectRequest,
    rule: ApprovalRule,
    *,
    say: Words,
    now: datetime,
) -> DecisionCard:
    """Return a card about a call that somebody of the order's execution wants made."""
    order, text = request.order, "card-cancelled" if request.cancelled else _TEXTS[kind]
    return DecisionCard(
        card_id=CardId.new(),
        kind=kind,
        execution_id=order.execution_id,
        order_id=order.order_id,
        step=request.step,
        organisation=order.organisation,
        employee=order.employee,
        question=say(f"{text}-question"),
        impact=say(f"{text}-impact"),
        options=options,
        policy=rule.name,
        mode_why=(Why.POLICY if rule.mode is ApprovalMode.STRICT else Why.CONFIDENCE).value,
        who=rule.who,
        quorum=rule.quorum,
        requested_by=order.requested_by,
        raised_at=now,
        deadline=rule.deadline(now),
        remind_at=rule.reminder(now),
        within_s=rule.within_s,
        hours=rule.hours,
        escalate_to=rule.escalate_to,
    )


def offer(say: Words, text: str, id_: str, request: EffectRequest, *, acts: bool = False) -> Option:
    """Return an option in the words of the catalogue, with the call itself where it acts."""
    action = action_of(request.spec, request.order.employee, request.arguments)
    return Option(
        id=id_,
        title=say(f"{text}-title"),
        benefit=say(f"{text}-benefit"),
        risk=say(f"{text}-risk"),
        cost=say(f"{text}-cost"),
        reversible=not acts or _can_be_taken_back(request),
        actions=(action,) if acts else (),
    )


def _can_be_taken_back(request: EffectRequest) -> bool:
    if request.spec.effect in (Effect.READ, Effect.IDEMPOTENT):
        return True
    return request.way_back is not None and request.spec.effect is not Effect.IRREVERSIBLE


def words_of(request: EffectRequest, say_in: SayIn, **more: object) -> Words:
    """Return what says a text of the catalogue about the request in every language."""
    facts = {**_facts(request), **more}
    return lambda key: {language: say_in(language)(key, **facts) for language in LANGUAGES}


def _facts(request: EffectRequest) -> dict[str, object]:
    order, spec = request.order, request.spec
    return {
        "employee": order.employee,
        "capability": spec.name,
        "description": one_line(spec.description) or spec.name,
        "effect": spec.effect.value,
        "way_back": request.way_back or "none",
        "objective": one_line(order.objective),
        "arguments": _told(request.arguments) or "none",
    }


def one_line(text: str) -> str:
    """Return words from outside on one line: only the catalogue begins lines of an impact."""
    return " ".join(text.split())


def _told(arguments: Mapping[str, Json]) -> str:
    """Return arguments as people read them, each value as JSON, so that a text cannot pass for another argument."""
    names = (name if name.isidentifier() else json.dumps(name) for name in arguments)
    values = (json.dumps(value, ensure_ascii=False) for value in arguments.values())
    text = ", ".join(f"{name}: {value}" for name, value in zip(names, values, strict=True))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
