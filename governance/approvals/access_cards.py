"""The card about a call to which the other side did not let us in."""

from __future__ import annotations

from datetime import datetime

from contracts import CardKind, DecisionCard
from governance.approvals.effect_cards import SayIn, gate_card, offer, one_line, words_of
from governance.approvals.rule import ApprovalRule
from runtime.capabilities.port import EffectRequest
from runtime.telemetry.redaction import redact

TRY_AGAIN, DONE, LEAVE = "try_again", "done", "leave"

_LONGEST = 400
"""Characters of what the other side said."""


def access_card(request: EffectRequest, why: str, rule: ApprovalRule, say_in: SayIn, now: datetime) -> DecisionCard:
    """Return the question what is to follow: access is granted by now, it was done by hand, or it is left.

    Who did it by hand may tell what it gave, which later steps may read.
    """
    said = one_line(str(redact(why)))
    say = words_of(request, say_in, why=said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…")
    options = (
        offer(say, "card-access-again", TRY_AGAIN, request, acts=True),
        offer(say, "card-access-done", DONE, request),
        offer(say, "card-access-leave", LEAVE, request),
    )
    card = gate_card(CardKind.ACCESS, options, request, rule, say=say, now=now)
    return card.model_copy(update={"gives": {**request.spec.gives, **request.gives}})
