"""The gate before every effect: policies first, then an approval that covers exactly this, or a person is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from contracts import CardId, CardKind, Json, Outcome, TaskOrder
from governance.approvals.about import join_append
from governance.approvals.access import AccessCards
from governance.approvals.card import CardView, Use
from governance.approvals.effect_cards import (
    AGAIN,
    HAPPENED,
    NOT_HAPPENED,
    SayIn,
    doubt_card,
    effect_card,
    offers_to_act,
)
from governance.approvals.ended import done_elsewhere, taken_back, turned_down
from governance.approvals.gateway import ApprovalGateway
from governance.approvals.life import CardState
from governance.approvals.matching import belongs_to, is_as_shown, takes_back, use_for
from governance.approvals.rule import DEFAULT_RULE, ApprovalRule, rule_for
from governance.policies import PolicyBook, PolicyRequest
from runtime.capabilities.port import Allowed, EffectRequest, Refused, Told, Waiting
from runtime.clock import Clock
from runtime.errors import EffectInDoubt, NotFound, PermissionRefused
from runtime.ledger.port import Append

_NO_APPROVAL = (CardKind.IN_DOUBT, CardKind.ACCESS)
"""Kinds of cards that say nothing on whether an effect may happen."""


class ApprovalGate:
    """Stands before every effect of one organisation; nothing passes that it cannot explain."""

    def __init__(
        self,
        gateway: ApprovalGateway,
        policies: Callable[[], PolicyBook],
        rules: Mapping[str, ApprovalRule],
        *,
        say_in: SayIn,
        clock: Clock,
    ) -> None:
        """Stand there.

        Args:
            policies: gives those that hold now; asked for at each effect, so that work without any pays nothing.
        """
        self._gateway = gateway
        self._policies = policies
        self._rules = rules
        self._say_in = say_in
        self._clock = clock
        self._access = AccessCards(gateway, rules, say_in=say_in, clock=clock)

    async def authorise(self, request: EffectRequest) -> Allowed | Waiting | Refused:
        """Say whether the effect may happen now, exactly as it is in the request.

        In this order: a policy that it breaks refuses it; the card that the order carries out, then the card that this
        step raised earlier, answer for it where they cover it; otherwise a person is asked. Authorise again when the
        commit of the intent meets a VersionConflict on the card: another action of it was used at the same time.
        """
        asked = PolicyRequest.of(request)
        breach = self._policies().violated_by(asked)
        if breach is not None:
            return breach.refused(asked, request.order.language)
        rule = rule_for(self._rules, request.spec.policy)
        if rule is None:
            return _no_rule(request)
        for view in await self._cards(request):
            answer = await self._answer(view, request, rule)
            if answer is not None:
                return answer
        card = effect_card(request, rule, self._say_in, self._clock.now())
        appends = await self._gateway.raise_appends(card)
        if isinstance(appends, CardView):
            return Waiting((appends.card.card_id,), (join_append(self._gateway, appends, request.order, request.step),))
        return Waiting((card.card_id,), appends)

    async def edited(self, request: EffectRequest) -> Mapping[str, Json] | None:
        """Return the arguments that a person gave the call in the place of its own, and that were approved; else None.

        That can only be on the card that asked about this very call: one that the step raised, with the arguments that
        it has.
        """
        for card_id in reversed(request.pending):
            view = await self._find(card_id)
            if view is None or view.card.kind is not CardKind.EFFECT or not belongs_to(view.card, request.order):
                continue
            chosen, first = view.chosen, next(iter(view.edits), None)
            if chosen is not None and first is not None and any(is_as_shown(each, request) for each in first.before):
                return chosen.actions[0].arguments
        return None

    async def in_doubt(self, request: EffectRequest) -> Waiting | Told | bool:
        """Return whether the effect happened, or what it gave, once a person said so; each answer counts for one doubt.

        An open card that offers to do it now is withdrawn once the work is cancelled, for one that offers what is left.

        Raises:
            EffectInDoubt: the person chose to stop, said no, or did not answer in time.
            PermissionRefused: there is no approval rule under which to ask.
        """
        withdrawn: list[Append] = []
        for card_id in request.pending:
            view = await self._find(card_id)
            if view is None or view.card.kind is not CardKind.IN_DOUBT or not belongs_to(view.card, request.order):
                continue
            if view.is_open and request.cancelled and offers_to_act(view.card):
                withdrawn.append(self._gateway.withdraw_append(view, "the work was cancelled; another card asks"))
                continue
            if view.is_open:
                return Waiting((view.card.card_id,))
            if view.used_by:
                continue
            if view.chosen is None or view.chosen.id not in (HAPPENED, AGAIN, NOT_HAPPENED):
                raise _still_in_doubt(view, request)
            if await self._gateway.use(view, Use(request.order.order_id, request.key, 0)):
                return _told_of(view) or view.chosen.id == HAPPENED
        rule = rule_for(self._rules, request.spec.policy)
        if rule is None:
            refused = _no_rule(request)
            raise PermissionRefused(refused.reason, code=refused.code)
        card = doubt_card(request, rule, self._say_in, self._clock.now())
        return Waiting((card.card_id,), (*withdrawn, self._gateway.card_append(card)))

    async def access(self, request: EffectRequest, why: str) -> Allowed | Waiting | Told | Refused | None:
        """Put a call to people to which the other side did not let us in; see the port."""
        return await self._access.decided(request, why)

    async def _cards(self, request: EffectRequest) -> list[CardView]:
        """Return the cards that may answer for the request: its authority, then those it raised, newest first."""
        authority = () if request.order.authority is None else (request.order.authority,)
        found = [await self._find(card_id) for card_id in (*authority, *reversed(request.pending))]
        return [view for view in found if view is not None and view.card.kind not in _NO_APPROVAL]

    async def _answer(
        self, view: CardView, request: EffectRequest, rule: ApprovalRule
    ) -> Allowed | Waiting | Refused | None:
        """Return what the card says to the request; None when it says nothing about it."""
        card_id, order = view.card.card_id, request.order
        if takes_back(view, request):
            use = use_for(view, request)
            return None if use is None else self._allowed(view, use)
        if not belongs_to(view.card, order):
            return self._answer_to_joined(view, order)
        if view.is_open:
            return Waiting((card_id,))
        if view.outcome is not Outcome.APPROVED:
            return turned_down(view)
        use = use_for(view, request)
        if use is not None and view.back is not None:  # a failed execution that goes on does not do it again
            return taken_back(view)
        if use is not None and self._gateway.fulfils(view, rule) and await self._still_passes(view, request):
            return self._allowed(view, use)
        if view.chosen is not None and not view.chosen.actions:
            return Refused("DENIED", f"{view.decided_by} chose {view.chosen.id} on {card_id}: nothing is done.")
        return None

    def _answer_to_joined(self, view: CardView, order: TaskOrder) -> Waiting | Refused | None:
        """Return what a card of another execution says to an order that waits for it: that one carries it out."""
        if not any(joined.order_id == order.order_id for joined in view.joined):
            return None
        if view.is_open:
            return Waiting((view.card.card_id,))
        if view.is_approved:
            return done_elsewhere(view)
        return None if view.state in (CardState.WITHDRAWN, CardState.SUPERSEDED) else turned_down(view)

    async def _still_passes(self, view: CardView, request: EffectRequest) -> bool:
        """Whether what passed by its mode still may: a serious error since then puts it before a person."""
        if view.passed is None:
            return True
        return not (await self._gateway.standings.of(request.spec.name)).set_back

    def _allowed(self, view: CardView, use: Use) -> Allowed:
        appends = () if use in view.used_by else (self._gateway.use_append(view, use),)
        return Allowed(view.card.card_id, appends)

    async def _find(self, card_id: CardId | str) -> CardView | None:
        if not isinstance(card_id, CardId):
            return None
        try:
            return await self._gateway.get(card_id)
        except NotFound:
            return None


def _told_of(view: CardView) -> Told | None:
    """Return what a doubtful effect gave, where somebody who said that it happened told that."""
    if view.chosen is None or view.chosen.id != HAPPENED:
        return None
    told = [each for each in view.decisions if each.option == HAPPENED and each.output is not None]
    return Told(told[0].output, told[0].by, view.card.card_id) if told and told[0].output is not None else None


def _no_rule(request: EffectRequest) -> Refused:
    name = request.spec.policy or DEFAULT_RULE
    return Refused(
        "NO_APPROVAL_RULE",
        f"{request.spec.name} needs the approval rule {name}, and org.yaml has none of that name under `approvals`. "
        "Nobody can allow it until there is one.",
    )


def _still_in_doubt(view: CardView, request: EffectRequest) -> EffectInDoubt:
    how = f"{view.decided_by} chose to stop" if view.decided_by else f"{view.card.card_id} is {view.state}"
    return EffectInDoubt(
        f"Nobody knows whether {request.spec.name} happened in step {request.step}, and {how}. "
        "Look at the other side before the work is started again.",
        card=view.card.card_id,
        capability=request.spec.name,
        key=request.key,
    )
