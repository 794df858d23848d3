"""The capability `advise`: puts a choice before a person, and gives what they chose."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agents.cognition.advise.card import applicable, build_card, without_breaches
from agents.cognition.advise.options import OptionsFile, parse_options
from contracts import CardId, Effect, Json, Outcome, Parameter, Tier, ValueType
from governance.approvals import DEFAULT_RULE, ApprovalGateway, ApprovalRule, CardView, rule_for
from governance.policies import PolicyBook
from runtime.canonical import clean
from runtime.capabilities.port import CallContext, CallResult, CapabilitySpec, Waiting
from runtime.errors import PermissionRefused

NOTHING_TO_DECIDE = "nothing_to_decide"
"""The outcome when only doing nothing applies: no card, nobody is asked."""

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
    ) -> None:
        self._specs = specs
        self._rules = rules
        self._gateway = gateway
        self._policies = policies

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult | Waiting:
        """Raise the card at the first call; afterwards give its outcome, or go on waiting."""
        card_id = next((id_ for id_ in context.pending if isinstance(id_, CardId)), None)
        if card_id is None:
            return self._ask(arguments, context)
        view = await self._gateway.get(card_id)
        return Waiting((card_id,)) if view.is_open else _answer(view)

    def _ask(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult | Waiting:
        options = parse_options(arguments["options"])
        roots = _roots(arguments, context)
        specs = self._specs()
        offered, left_out = without_breaches(
            applicable(options, roots), self._policies(), roots=roots, specs=specs, order=context.order
        )
        if len(offered) == 1:
            return _result(NOTHING_TO_DECIDE)
        card = build_card(
            options, offered, self._rule(options), roots=roots, specs=specs, context=context, facts=left_out
        )
        return Waiting((card.card_id,), (self._gateway.card_append(card),))

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
    )


def _result(
    outcome: str,
    *,
    option: str | None = None,
    actions: list[Json] | None = None,
    card: CardId | None = None,
    by: str | None = None,
) -> CallResult:
    return CallResult({"outcome": outcome, "option": option, "actions": actions or [], "card": card, "by": by})
