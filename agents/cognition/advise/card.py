"""The card that an advisor puts before a person, complete: what is shown is what will happen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agents.cognition.advise.bound import Binder
from agents.cognition.advise.expectation import expectation_of
from agents.cognition.advise.labels import Labels, facts_of_labels, shown_label
from agents.cognition.advise.left_out import LeftOut, bound, facts_of
from agents.cognition.advise.options import MOST_OPTIONS, OptionsFile, OptionTemplate
from contracts import CardId, CardKind, Confidence, DecisionCard, Effect, Json, Option, ValueType
from governance.approvals import ApprovalRule
from memory.metrics import MetricRegistry
from runtime.bindings import resolve
from runtime.capabilities.port import CallContext, CapabilitySpec
from runtime.errors import InvalidArguments
from runtime.expressions import ExpressionFault, compile_condition

_WEAKEST_FIRST = (Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH)


def applicable(options: OptionsFile, roots: Mapping[str, Json]) -> list[OptionTemplate]:
    """Return the options whose condition holds, in their order; doing nothing is always one.

    Raises:
        InvalidArguments: a condition names something that is not there.
        ExpressionFailed: a condition could not be worked out; an option is never dropped for that.
    """
    nothing = options.nothing
    return [option for option in options.options if option is nothing or _applies(option, roots)]


def shown_of(options: OptionsFile, offered: Sequence[OptionTemplate]) -> list[OptionTemplate]:
    """Return those that find room on a card: the first ones, and doing nothing."""
    room = [option for option in offered if option is not options.nothing][: MOST_OPTIONS - 1]
    return [option for option in offered if option is options.nothing or option in room]


def build_card(
    options: OptionsFile,
    offered: Sequence[OptionTemplate],
    rule: ApprovalRule,
    *,
    roots: Mapping[str, Json],
    specs: Mapping[str, CapabilitySpec],
    context: CallContext,
    left_out: Sequence[LeftOut] = (),
    registry: MetricRegistry | None = None,
    labels: Labels | None = None,
) -> DecisionCard:
    """Return the card with every text filled and every action exactly as it will be carried out."""
    order = context.order
    binder = Binder(roots, context.origins)
    most = _confidence_of_finding(roots)
    earned = [_option(option, binder, specs, most, registry) for option in offered]
    shown = tuple(shown_label(option, labels or {}) for option in earned)
    return DecisionCard(
        card_id=CardId.new(),
        kind=CardKind.CHOICE,
        execution_id=order.execution_id,
        order_id=order.order_id,
        step=context.step,
        organisation=order.organisation,
        employee=order.employee,
        question=binder.text(options.question),
        impact=binder.text(options.impact),
        options=shown,
        evidence=binder.evidence(),
        facts={**binder.facts, **facts_of_labels(earned, labels or {}), **facts_of(left_out)},
        policy=rule.name,
        about=str(binder.text(options.about))[:200] if options.about is not None else "",
        who=rule.who,
        quorum=rule.quorum,
        requested_by=order.requested_by,
        raised_at=context.now,
        deadline=rule.deadline(context.now),
        remind_at=rule.reminder(context.now),
        within_s=rule.within_s,
        hours=rule.hours,
        escalate_to=rule.escalate_to,
    )


def _option(
    template: OptionTemplate,
    binder: Binder,
    specs: Mapping[str, CapabilitySpec],
    most: Confidence | None,
    registry: MetricRegistry | None,
) -> Option:
    actions = tuple(bound(action, binder.roots, specs) for action in template.do)
    final = any(action.effect is Effect.IRREVERSIBLE for action in actions)
    return Option(
        id=template.id,
        title=binder.text(template.title),
        benefit=binder.text(template.benefit),
        risk=binder.text(template.risk),
        cost=binder.text(template.cost),
        reversible=template.reversible and not final,
        confidence=_confidence(template, binder.roots, most),
        expects=expectation_of(template, binder.roots, registry),
        actions=actions,
        undo=tuple(bound(action, binder.roots, specs) for action in template.undo),
    )


def _applies(option: OptionTemplate, roots: Mapping[str, Json]) -> bool:
    if option.when is None:
        return True
    try:
        return compile_condition(option.when, dict.fromkeys(roots, ValueType.ANY)).holds(roots)
    except ExpressionFault as fault:
        raise InvalidArguments(f"The option {option.id} has a condition that cannot be used: {fault.message}") from None


def _confidence_of_finding(roots: Mapping[str, Json]) -> Confidence | None:
    """Return how sure the finding is; None where there is none, for then nobody has assessed it."""
    finding = roots.get("finding")
    said = finding.get("confidence") if isinstance(finding, dict) else None
    return _level(said) if said is not None else None


def _confidence(template: OptionTemplate, roots: Mapping[str, Json], most: Confidence | None) -> Confidence | None:
    """Return the option's own confidence, never more than the finding's: it is earned by statistics, not declared."""
    if template.confidence is None:
        return most
    own = _level(resolve(template.confidence, roots))
    return None if most is None else min(own, most, key=_WEAKEST_FIRST.index)


def _level(said: Json) -> Confidence:
    try:
        return Confidence(str(said))
    except ValueError:
        raise InvalidArguments(f"{said!r} is no confidence; it is high, medium or low.", confidence=said) from None
