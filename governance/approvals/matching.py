"""Whether what is about to happen is what a person was shown."""

from __future__ import annotations

from collections.abc import Mapping

from contracts import Action, DecisionCard, Json, TaskOrder
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
    option, back = view.chosen, takes_back(view, request)
    if option is None or not (back or belongs_to(view.card, request.order)) or not _was_shown(view):
        return None
    order_id, key = request.order.order_id, request.key
    taken = {use.action: use for use in view.used_by if use.back is back}
    actions = option.undo if back else option.actions
    matching = [index for index, action in enumerate(actions) if is_as_shown(action, request)]
    for index in matching:
        if index in taken and (taken[index].order_id, taken[index].key) == (order_id, key):
            return taken[index]
    return next((Use(order_id, key, index, back) for index in matching if index not in taken), None)


def belongs_to(card: DecisionCard, order: TaskOrder) -> bool:
    """Whether the card was raised in the order's own execution."""
    return card.organisation == order.organisation and card.execution_id == order.execution_id


def takes_back(view: CardView, request: EffectRequest) -> bool:
    """Whether somebody asked to take back what the card brought about, and the request is part of that.

    That may happen in any execution of the organisation: exactly these actions were asked for, each once.
    """
    option, order = view.chosen, request.order
    if view.back is None or option is None or view.card.organisation != order.organisation:
        return False
    return order.authority == view.card.card_id and any(is_as_shown(action, request) for action in option.undo)


def _was_shown(view: CardView) -> bool:
    """Whether every yes that counts was said to this very card; an edit makes it another one."""
    if view.passed is not None:
        return True
    return any(each.approve for each in view.valid) and (
        bool(view.edits) or all(each.card_sha256 == card_sha256(view.card) for each in view.decisions if each.approve)
    )
