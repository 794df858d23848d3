"""What people decide about a call to which the other side did not let us in. It never widens what a rule allows."""

from __future__ import annotations

from collections.abc import Mapping

from contracts import CardId, CardKind, DecisionCard
from governance.approvals.access_cards import DONE, TRY_AGAIN, access_card
from governance.approvals.card import CardView, Use
from governance.approvals.effect_cards import SayIn
from governance.approvals.ended import turned_down
from governance.approvals.gateway import ApprovalGateway
from governance.approvals.matching import belongs_to, is_as_shown
from governance.approvals.rule import ApprovalRule, rule_for
from runtime.capabilities.port import Allowed, EffectRequest, Refused, Told, Waiting
from runtime.clock import Clock
from runtime.errors import NotFound


class AccessCards:
    """The cards of one organisation that ask about access."""

    def __init__(
        self, gateway: ApprovalGateway, rules: Mapping[str, ApprovalRule], *, say_in: SayIn, clock: Clock
    ) -> None:
        self._gateway = gateway
        self._rules = rules
        self._say_in = say_in
        self._clock = clock

    async def decided(self, request: EffectRequest, why: str) -> Allowed | Waiting | Told | Refused | None:
        """Return what was decided, or Waiting with a new card; None when nobody could decide one.

        A card may be waited for by several calls of one capability: access that is granted is granted to all of them,
        while one that was done by hand is the one on the card, and the others are asked about anew.
        """
        for card_id in request.pending:
            view = await self._find(card_id)
            if view is None or view.card.kind is not CardKind.ACCESS or not belongs_to(view.card, request.order):
                continue
            if view.is_open:
                return Waiting((card_id,))
            answer = await self._answer(view, request)
            if answer is not None:
                return answer
        return self._asked(request, why)

    async def _answer(self, view: CardView, request: EffectRequest) -> Allowed | Told | Refused | None:
        """Return what a decided card says to the request, None when it was about another call."""
        card_id = view.card.card_id
        if view.chosen is None:
            return turned_down(view)
        match view.chosen.id:
            case option if option == TRY_AGAIN:
                await self._use(view, request)
                return Allowed(card_id)
            case option if option == DONE:
                if not _is_about(view.card, request):
                    return None
                await self._use(view, request)
                told = [each for each in view.decisions if each.option == DONE and each.output is not None]
                output = told[0].output if told else None
                return Told(output or {}, told[0].by if told else view.decisions[-1].by, card_id)
        return Refused("LEFT", f"{view.decided_by} left it on {card_id}.")

    async def _use(self, view: CardView, request: EffectRequest) -> None:
        """Note once that this call went on by the card; a crash afterwards notes nothing more."""
        use = Use(request.order.order_id, request.key, 0)
        while use not in view.used_by and not await self._gateway.use(view, use):
            view = await self._gateway.get(view.card.card_id)

    def _asked(self, request: EffectRequest, why: str) -> Waiting | None:
        rule = rule_for(self._rules, request.spec.policy)
        if rule is None:
            return None
        card = access_card(request, why, rule, self._say_in, self._clock.now())
        if not self._gateway.can_be_decided(card):
            return None
        return Waiting((card.card_id,), (self._gateway.card_append(card),))

    async def _find(self, card_id: CardId) -> CardView | None:
        try:
            return await self._gateway.get(card_id)
        except NotFound:
            return None


def _is_about(card: DecisionCard, request: EffectRequest) -> bool:
    """Whether the call on the card is this one."""
    return any(is_as_shown(action, request) for option in card.options for action in option.actions)
