"""Whether what is about to happen is what a person was shown."""

from __future__ import annotations

from collections.abc import Mapping

from contracts import Action, Decision, DecisionCard, Json, TaskOrder
from governance.approvals.card import CardView, Use, card_sha256
from runtime.canonical import clean, to_bytes
from runtime.capabilities.port import CapabilitySpec, EffectRequest


def complete(spec: CapabilitySpec, arguments: Mapping[str, Json]) -> dict[str, Json]:
    """Return the arguments with the declared defaults in place of what is absent, as the capability will see them."""
    defaults = {name: parameter.default for name, parameter in spec.parameters.items() if parameter.default is not None}
    return {**defaults, **{name: clean(value) for name, value in arguments.items()}}


def action_of(spec: CapabilitySpec, by: str, arguments: Mapping[str, Json]) -> Action:
    """Return the action exactly as it will happen."""
    return Action(
        by=by,
        use=spec.name,
        arguments=complete(spec, arguments),
        effect=spec.effect,
        capability_sha256=spec.sha256,
    )


def is_as_shown(action: Action, request: EffectRequest) -> bool:
    """Whether employee, capability, its declaration and every argument are those of the action."""
    spec = request.spec
    return (
        action.by == request.order.employee
        and action.use == spec.name
        and action.capability_sha256 == spec.sha256
        and to_bytes(complete(spec, action.arguments)) == to_bytes(complete(spec, request.arguments))
    )


def use_for(view: CardView, request: EffectRequest) -> Use | None:
    """Return the use of the approved card that covers the request, or None when none is left.

    A call that used it before gets the same use again, so that a crash between intent and effect asks nobody twice.
    """
    option = view.chosen
    if option is None or not belongs_to(view.card, request.order) or not _was_shown(view):
        return None
    order_id, key = request.order.order_id, request.key
    taken = {use.action: use for use in view.used_by}
    matching = [index for index, action in enumerate(option.actions) if is_as_shown(action, request)]
    for index in matching:
        if index in taken and (taken[index].order_id, taken[index].key) == (order_id, key):
            return taken[index]
    return next((Use(order_id, key, index) for index in matching if index not in taken), None)


def belongs_to(card: DecisionCard, order: TaskOrder) -> bool:
    """Whether the card was raised in the order's own execution."""
    return card.organisation == order.organisation and card.execution_id == order.execution_id


def _was_shown(view: CardView) -> bool:
    """Whether every yes was said to this very card."""
    shown = card_sha256(view.card)
    decisions: tuple[Decision, ...] = view.decisions
    return all(decision.card_sha256 == shown for decision in decisions if decision.approve)
