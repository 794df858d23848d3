"""Cards that the gate raises by itself: before an effect that no approval covers, and when one is in doubt."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from contracts import CardId, CardKind, Confidence, DecisionCard, Effect, Option
from governance.approvals.matching import action_of
from governance.approvals.rule import ApprovalRule
from governance.approvals.strict import mode_of
from runtime.canonical import to_bytes
from runtime.capabilities.port import EffectRequest
from runtime.texts import Say

SayIn = Callable[[str], Say]
"""The catalogue of texts in one language, by its two letters."""

DO, NOTHING = "do", "nothing"
HAPPENED, AGAIN, NOT_HAPPENED, STOP = "happened", "again", "not_happened", "stop"

_LONGEST = 400
"""Characters of the arguments in a text; the action on the card has all of them."""

_TEXTS = {CardKind.EFFECT: "card-effect", CardKind.IN_DOUBT: "card-doubt"}


def effect_card(request: EffectRequest, rule: ApprovalRule, say_in: SayIn, now: datetime) -> DecisionCard:
    """Return the question whether this effect may happen: yes, exactly so, or not at all."""
    say = say_in(request.order.language)
    options = (
        _option(say, "card-effect-do", DO, request, acts=True),
        _option(say, "card-effect-nothing", NOTHING, request),
    )
    return _card(CardKind.EFFECT, options, request, rule, say=say, now=now)


def doubt_card(request: EffectRequest, rule: ApprovalRule, say_in: SayIn, now: datetime) -> DecisionCard:
    """Return the question what became of an effect that was begun: it happened, it did not, or stop here.

    Of cancelled work it is only asked what is to be taken back: nothing is done again.
    """
    say = say_in(request.order.language)
    options = (
        (
            _option(say, "card-cancelled-happened", HAPPENED, request),
            _option(say, "card-cancelled-not", NOT_HAPPENED, request),
            _option(say, "card-cancelled-stop", STOP, request),
        )
        if request.cancelled
        else (
            _option(say, "card-doubt-happened", HAPPENED, request),
            _option(say, "card-doubt-again", AGAIN, request, acts=True),
            _option(say, "card-doubt-stop", STOP, request),
        )
    )
    return _card(CardKind.IN_DOUBT, options, request, rule, say=say, now=now)


def offers_to_act(card: DecisionCard) -> bool:
    """Whether one of its options does something."""
    return any(option.actions for option in card.options)


def _card(
    kind: CardKind,
    options: tuple[Option, ...],
    request: EffectRequest,
    rule: ApprovalRule,
    *,
    say: Say,
    now: datetime,
) -> DecisionCard:
    order, text = request.order, "card-cancelled" if request.cancelled else _TEXTS[kind]
    return DecisionCard(
        card_id=CardId.new(),
        kind=kind,
        execution_id=order.execution_id,
        order_id=order.order_id,
        step=request.step,
        organisation=order.organisation,
        question=say(f"{text}-question", **_facts(request)),
        impact=say(f"{text}-impact", **_facts(request)),
        options=options,
        policy=rule.name,
        mode=mode_of(rule, order.approval_mode),
        who=rule.who,
        quorum=rule.quorum,
        requested_by=order.requested_by,
        raised_at=now,
        deadline=rule.deadline(now),
        escalate_to=rule.escalate_to,
    )


def _option(say: Say, text: str, id_: str, request: EffectRequest, *, acts: bool = False) -> Option:
    facts = _facts(request)
    action = action_of(request.spec, request.order.employee, request.arguments)
    return Option(
        id=id_,
        title=say(f"{text}-title", **facts),
        benefit=say(f"{text}-benefit", **facts),
        risk=say(f"{text}-risk", **facts),
        cost=say(f"{text}-cost", **facts),
        reversible=not acts or _can_be_taken_back(request),
        confidence=Confidence.LOW,
        actions=(action,) if acts else (),
    )


def _can_be_taken_back(request: EffectRequest) -> bool:
    return request.way_back is not None and request.spec.effect is not Effect.IRREVERSIBLE


def _facts(request: EffectRequest) -> dict[str, object]:
    order, spec = request.order, request.spec
    action = action_of(spec, order.employee, request.arguments)
    return {
        "employee": order.employee,
        "capability": spec.name,
        "description": spec.description,
        "effect": spec.effect.value,
        "way_back": request.way_back or "none",
        "objective": order.objective,
        "arguments": _short(to_bytes(action.arguments).decode()),
    }


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
