"""The capability `advise`: puts a choice before a person, and gives what they chose."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agents.cognition.advise.card import applicable, build_card, shown_of
from agents.cognition.advise.computed import is_computed
from agents.cognition.advise.left_out import LeftOut, Reason, not_offered, part
from agents.cognition.advise.options import OptionsFile, parse_options
from agents.cognition.advise.telling import told_append
from agents.cognition.evaluate.labels import LedgerLabels
from contracts import (
    Action,
    ApprovalMode,
    CardId,
    DecisionCard,
    Effect,
    Json,
    Option,
    Outcome,
    Parameter,
    TaskOrder,
    Tier,
    ValueType,
)  # fmt: skip
from governance.approvals import DEFAULT_RULE, ApprovalGateway, ApprovalRule, CardState, CardView, rule_for
from governance.approvals.about import join_append
from governance.approvals.effect_cards import SayIn
from governance.approvals.modes import Held, Standing, Why, mode_of_option
from governance.policies import PolicyBook
from memory.metrics import MetricRegistry
from runtime.canonical import clean
from runtime.capabilities.port import CallContext, CallResult, CapabilitySpec, Waiting
from runtime.errors import InvalidArguments, PermissionRefused
from runtime.ledger.port import NewEvent

NOTHING_TO_DECIDE = "nothing_to_decide"
"""The outcome when only doing nothing applies: no card, nobody is asked."""

DECIDED_ELSEWHERE = "decided_elsewhere"
"""The outcome when another execution had asked for the very same, and carries it out."""

SPEC = CapabilitySpec(
    name="advise",
    kind="builtin_tool",
    description="Offers two or three options on a decision card and waits for a person's choice.",
    parameters={
        "options": Parameter(type=ValueType.ANY, description="Options, or their file in the skill's folder."),
        "finding": Parameter(type=ValueType.OBJECT, required=False, description="The finding the options rest on."),
    },
    gives={
        "outcome": "string",
        "option": {"type": ["string", "null"]},
        "actions": "array",
        "card": {"type": ["string", "null"]},
        "by": {"type": ["string", "null"]},
        "not_offered": "array",
    },
    effect=Effect.READ,
    tier=Tier.COGNITIVE,
    resources=("options",),
    open_arguments=True,
)
"""What it is; every other argument is a name that the texts, conditions and actions of the options may use."""


class AdviseCapability:
    """Advises in one organisation. `specs` gives the declarations of its capabilities as they are now."""

    spec = SPEC

    def __init__(
        self,
        specs: Callable[[], Mapping[str, CapabilitySpec]],
        rules: Mapping[str, ApprovalRule],
        gateway: ApprovalGateway,
        policies: Callable[[], PolicyBook] = lambda: PolicyBook(()),
        *,
        say_in: SayIn,
        metrics: MetricRegistry | None = None,
        labels: LedgerLabels | None = None,
    ) -> None:
        self._specs = specs
        self._rules = rules
        self._gateway = gateway
        self._policies = policies
        self._metrics = metrics
        self._labels = labels
        self._say_in = say_in

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult | Waiting:
        """Raise the card at the first call; afterwards give its outcome, or go on waiting.

        Where its mode lets it, the first option that applies passes without a person, and those who could have decided
        are told. A card that another execution raised about the very same is waited for, and carried out there; one
        that is taken back there is asked about anew.
        """
        card_id = next((id_ for id_ in reversed(context.pending) if isinstance(id_, CardId)), None)
        if card_id is None:
            return await self._ask(arguments, context)
        view = await self._gateway.get(card_id)
        if view.is_open:
            return Waiting((card_id,))
        if view.card.execution_id == context.order.execution_id:
            return _answer(view)
        gone = view.state in (CardState.WITHDRAWN, CardState.SUPERSEDED)
        return await self._ask(arguments, context) if gone else _answer_elsewhere(view)

    async def _ask(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult | Waiting:
        options = parse_options(arguments["options"])
        roots = _roots(arguments, context)
        specs = self._specs()
        applies, order = applicable(options, roots), context.order
        offered, left_out = part(applies, self._policies(), roots=roots, specs=specs, order=order)
        if len(offered) == 1:
            return _nothing(left_out)
        shown, rule = shown_of(options, offered), self._rule(options)
        labels = await self._labels.of(order.skill) if self._labels else {}
        card = build_card(
            options, shown, rule, roots=roots, specs=specs, context=context, left_out=left_out,
            registry=self._metrics, labels=labels,
        )  # fmt: skip
        first = next((option for option in card.options if option.actions), None)
        held = await self._held(first, rule, order, specs, computed=is_computed(context))
        card = card.model_copy(update={"mode": held.mode, "mode_why": held.why.value})
        if held.mode is not ApprovalMode.STRICT and first is not None:
            return await self._pass(card, first, rule, context)
        return await self._wait(card, context)

    async def _wait(self, card: DecisionCard, context: CallContext) -> Waiting:
        raised = await self._gateway.raise_appends(card)
        if not isinstance(raised, CardView):
            return Waiting((card.card_id,), raised)
        order = context.order
        joined = join_append(self._gateway, raised, order, context.step)
        return Waiting((raised.card.card_id,), (joined,))

    async def _pass(
        self, card: DecisionCard, option: Option, rule: ApprovalRule, context: CallContext
    ) -> CallResult | Waiting:  # fmt: skip
        """Let the option pass by itself, and tell those who could have decided, in the commit of the step."""
        passed = {"option": option.id, "mode": card.mode.value, "why": card.mode_why}
        raised = await self._gateway.raise_appends(card, passed=passed)
        if isinstance(raised, CardView):
            return await self._wait(card, context)
        told = told_append(card, option, rule, people=self._gateway.people, context=context, say_in=self._say_in)
        answer = _result(
            Outcome.APPROVED.value, option=option.id, actions=[action.to_json() for action in option.actions],
            card=card.card_id, by=f"rule/{card.policy}", left_out=not_offered(card.facts),
        )  # fmt: skip
        answer.appends = (*raised, *told)
        return answer

    async def _held(
        self, option: Option | None, rule: ApprovalRule, order: TaskOrder, specs: Mapping[str, CapabilitySpec],
        *, computed: bool,
    ) -> Held:  # fmt: skip
        """Return how the option is decided: under the card's rule and that of each of its capabilities.

        What a model says of its own confidence lets nothing pass: only a finding that was computed does.
        """
        rules: list[tuple[Action, ApprovalRule, Standing]] = []
        for action in () if option is None else option.actions:
            own = rule_for(self._rules, specs[action.use].policy)
            if own is None:
                return Held(ApprovalMode.STRICT, Why.POLICY)
            standing = await self._gateway.standings.of(action.use)
            rules += [(action, each, standing) for each in dict.fromkeys([rule, own])]
        confidence = option.confidence if option is not None and computed else None
        return mode_of_option(option, rules, order.approval_mode, confidence=confidence)

    def _rule(self, options: OptionsFile) -> ApprovalRule:
        rule = rule_for(self._rules, options.policy)
        if rule is None:
            name = options.policy or DEFAULT_RULE
            raise PermissionRefused(
                f"The options fall under the approval rule {name}, and org.yaml has none of that name.", rule=name
            )
        return rule


def _roots(arguments: Mapping[str, Json], context: CallContext) -> dict[str, Json]:
    """Return what texts, conditions and actions may name: the arguments, the inherited context and the moment."""
    own = {name: value for name, value in arguments.items() if name != "options"}
    return {"context": dict(context.order.context), "known_at": clean(context.known_at), **own}


def _answer(view: CardView) -> CallResult:
    option = view.chosen
    return _result(
        (view.outcome or Outcome.EXPIRED).value,
        option=option.id if option else None,
        actions=[action.to_json() for action in option.actions] if option else [],
        card=view.card.card_id,
        by=view.decided_by,
        left_out=not_offered(view.card.facts),
    )


def _answer_elsewhere(view: CardView) -> CallResult:
    """Return what became of the card of another execution, where it is carried out: here nothing is left to do."""
    option = view.chosen
    outcome = DECIDED_ELSEWHERE if view.is_approved else (view.outcome or Outcome.EXPIRED).value
    return _result(
        outcome, option=option.id if option else None, card=view.card.card_id, by=view.decided_by,
        left_out=not_offered(view.card.facts),
    )  # fmt: skip


def _nothing(left_out: Sequence[LeftOut]) -> CallResult:
    """Return that there is nothing to decide, and what could not be offered.

    Raises:
        InvalidArguments: an option is missing because its arguments do not fit: that is a fault of the plan's, and
            nobody could decide what it was made to ask.
    """
    told = [each.to_json() for each in left_out]
    if any(each.reason is Reason.UNFIT for each in left_out):
        why = "; ".join(str(each).rstrip(".") for each in left_out)
        raise InvalidArguments(f"No option that does something can be offered. {why}.", not_offered=list[Json](told))
    events = (NewEvent("options.left_out", {"not_offered": list[Json](told)}),) if told else ()
    return _result(NOTHING_TO_DECIDE, left_out=told, events=events)


def _result(
    outcome: str,
    *,
    option: str | None = None,
    actions: list[Json] | None = None,
    card: CardId | None = None,
    by: str | None = None,
    left_out: Sequence[Mapping[str, Json]] = (),
    events: Sequence[NewEvent] = (),
) -> CallResult:
    given = {"outcome": outcome, "option": option, "actions": actions or [], "card": card, "by": by}
    return CallResult({**given, "not_offered": [dict(each) for each in left_out]}, events=events)
