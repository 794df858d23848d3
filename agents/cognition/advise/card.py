"""The card that an advisor puts before a person, complete: what is shown is what will happen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agents.cognition.advise.bound import Binder
from agents.cognition.advise.options import MOST_OPTIONS, ActionTemplate, OptionsFile, OptionTemplate
from contracts import Action, CardId, CardKind, Confidence, DecisionCard, Effect, Json, Option, TaskOrder, ValueType
from governance.approvals import ApprovalRule, mode_of
from governance.approvals.matching import action_of
from governance.policies import PolicyBook, PolicyRequest
from runtime.bindings import resolve
from runtime.capabilities.port import CallContext, CapabilitySpec
from runtime.errors import InvalidArguments
from runtime.expressions import ExpressionFault, compile_condition

_WEAKEST_FIRST = (Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH)


def applicable(options: OptionsFile, roots: Mapping[str, Json]) -> list[OptionTemplate]:
    """Return the options whose condition holds, in their order; doing nothing is always one, and three are the most.

    Raises:
        InvalidArguments: a condition names something that is not there.
        ExpressionFailed: a condition could not be worked out; an option is never dropped for that.
    """
    nothing = options.nothing
    chosen = [option for option in options.options if option is not nothing and _applies(option, roots)]
    chosen = chosen[: MOST_OPTIONS - 1]
    return [option for option in options.options if option is nothing or option in chosen]


def without_breaches(
    offered: Sequence[OptionTemplate],
    policies: PolicyBook,
    *,
    roots: Mapping[str, Json],
    specs: Mapping[str, CapabilitySpec],
    order: TaskOrder,
) -> tuple[list[OptionTemplate], dict[str, Json]]:
    """Return the options that no policy forbids, and why the others are left out, as facts of the card.

    The gate judges again when an action is carried out; here it only keeps a person from approving what cannot be done.
    """
    kept: list[OptionTemplate] = []
    left_out: dict[str, Json] = {}
    for option in offered:
        breaches = (policies.violated_by(_as_request(_action(each, roots, specs), order)) for each in option.do)
        breach = next((found for found in breaches if found is not None), None)
        if breach is None:
            kept.append(option)
            continue
        text = breach.policy.text
        words = text if isinstance(text, str) else text.get(order.language) or text.get("en") or breach.policy.name
        left_out[f"not offered: {option.id}"] = {"value": words, "source": f"rules/{breach.policy.name}.yaml"}
    return kept, left_out


def build_card(
    options: OptionsFile,
    offered: Sequence[OptionTemplate],
    rule: ApprovalRule,
    *,
    roots: Mapping[str, Json],
    specs: Mapping[str, CapabilitySpec],
    context: CallContext,
    facts: Mapping[str, Json] | None = None,
) -> DecisionCard:
    """Return the card with every text filled and every action exactly as it will be carried out."""
    order = context.order
    binder = Binder(roots, context.origins)
    most = _confidence_of_finding(roots)
    shown = tuple(_option(option, binder, specs, most) for option in offered)
    return DecisionCard(
        card_id=CardId.new(),
        kind=CardKind.CHOICE,
        execution_id=order.execution_id,
        order_id=order.order_id,
        step=context.step,
        organisation=order.organisation,
        question=binder.text(options.question),
        impact=binder.text(options.impact),
        options=shown,
        evidence=binder.evidence(),
        facts={**binder.facts, **(facts or {})},
        policy=rule.name,
        mode=mode_of(rule, order.approval_mode),
        who=rule.who,
        quorum=rule.quorum,
        requested_by=order.requested_by,
        raised_at=context.now,
        deadline=rule.deadline(context.now),
        escalate_to=rule.escalate_to,
    )


def _option(template: OptionTemplate, binder: Binder, specs: Mapping[str, CapabilitySpec], most: Confidence) -> Option:
    actions = tuple(_action(action, binder.roots, specs) for action in template.do)
    final = any(action.effect is Effect.IRREVERSIBLE for action in actions)
    return Option(
        id=template.id,
        title=binder.text(template.title),
        benefit=binder.text(template.benefit),
        risk=binder.text(template.risk),
        cost=binder.text(template.cost),
        reversible=template.reversible and not final,
        confidence=_confidence(template, binder.roots, most),
        actions=actions,
        undo=tuple(_action(action, binder.roots, specs) for action in template.undo),
    )


def _action(template: ActionTemplate, roots: Mapping[str, Json], specs: Mapping[str, CapabilitySpec]) -> Action:
    spec = specs.get(template.use)
    if spec is None:
        known = ", ".join(sorted(specs))
        raise InvalidArguments(f"An option uses {template.use}, which is no capability; there is: {known}.")
    arguments = resolve(template.arguments, roots)
    return action_of(spec, template.by, arguments if isinstance(arguments, dict) else {})


def _as_request(action: Action, order: TaskOrder) -> PolicyRequest:
    """Return the action as the gate will see it when its employee carries it out."""
    facts: dict[str, Json] = {
        "employee": action.by,
        "skill": None,
        "requested_by": order.requested_by,
        "known_at": order.known_at.isoformat() if order.known_at else None,
        "context": order.context,
        "inputs": action.arguments,
    }
    return PolicyRequest(action.use, action.arguments, action.effect, facts)


def _applies(option: OptionTemplate, roots: Mapping[str, Json]) -> bool:
    if option.when is None:
        return True
    try:
        return compile_condition(option.when, dict.fromkeys(roots, ValueType.ANY)).holds(roots)
    except ExpressionFault as fault:
        raise InvalidArguments(f"The option {option.id} has a condition that cannot be used: {fault.message}") from None


def _confidence_of_finding(roots: Mapping[str, Json]) -> Confidence:
    """Return how sure the finding is; where there is none, nothing is sure."""
    finding = roots.get("finding")
    said = finding.get("confidence") if isinstance(finding, dict) else None
    return _level(said) if said is not None else Confidence.LOW


def _confidence(template: OptionTemplate, roots: Mapping[str, Json], most: Confidence) -> Confidence:
    """Return the option's own confidence, never more than the finding's."""
    if template.confidence is None:
        return most
    return min(_level(resolve(template.confidence, roots)), most, key=_WEAKEST_FIRST.index)


def _level(said: Json) -> Confidence:
    try:
        return Confidence(str(said))
    except ValueError:
        raise InvalidArguments(f"{said!r} is no confidence; it is high, medium or low.", confidence=said) from None
