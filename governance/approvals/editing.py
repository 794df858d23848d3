"""Other arguments for an option before it is decided: within what the capability takes and the rules allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contracts import Action, CardId, CardKind, Edit, Json
from governance.access.people import Person
from governance.approvals.card import CardView, option_of
from governance.approvals.closed import unknown_option
from governance.approvals.gateway import ApprovalGateway
from governance.approvals.matching import complete
from governance.policies import PolicyBook, PolicyRequest
from runtime.canonical import clean
from runtime.capabilities.port import CapabilitySpec
from runtime.capabilities.router import fitting
from runtime.errors import InvalidArguments

_EDITABLE = (CardKind.CHOICE, CardKind.EFFECT)


async def edit(
    gateway: ApprovalGateway, card_id: CardId, changes: Sequence[Mapping[str, Json] | None], *, option: str,
    person: Person, specs: Mapping[str, CapabilitySpec], policies: PolicyBook, via: str, reason: str = "",
) -> CardView:  # fmt: skip
    """Give the actions of an option other arguments, and return the card as it is to be decided then.

    Only arguments change: employee, capability and effect stay, and so do who decides and how. Both forms stay on
    record; whoever voted before is asked again, and whoever edits decides no more. It takes the right to decide.

    Args:
        changes: for each action of the option what takes the place of its arguments of these names; None leaves it.

    Raises:
        CardClosed, NotAllowedToDecide, UnknownOption: as `decide`.
        InvalidArguments: the card cannot be edited, the arguments do not fit, or a rule forbids them.
    """
    view = await gateway.judge(card_id, gateway.clock.now())
    await gateway.check_right(view, person)
    chosen = option_of(view.card, option)
    if chosen is None:
        raise unknown_option(view, approve=True, option=option)
    if view.card.kind not in _EDITABLE or not chosen.actions:
        raise InvalidArguments(f"Nothing of {option} on {card_id} can be edited; it carries nothing out.", card=card_id)
    if len(changes) != len(chosen.actions):
        raise InvalidArguments(
            f"{option} carries out {len(chosen.actions)} actions, and changes are given for {len(changes)}. Give one "
            "object for each action, in their order; null leaves one as it is.",
            card=card_id, option=option,
        )  # fmt: skip
    after = tuple(
        action if change is None else _changed(action, change, specs, policies, view)
        for action, change in zip(chosen.actions, changes, strict=True)
    )
    if after == chosen.actions:
        raise InvalidArguments(f"These are the arguments that {option} has already. Nothing was changed.", card=card_id)
    made = Edit(
        card_id=card_id, option=option, before=chosen.actions, after=after, reason=reason, by=person.id,
        at=gateway.clock.now(), via=via,
    )  # fmt: skip
    changed = await gateway.event(view, "card.edited", edit=made)
    if changed is None:
        raise InvalidArguments(f"{card_id} moved on meanwhile. Look at it again. Nothing was changed.", card=card_id)
    return changed


def _changed(
    action: Action, change: Mapping[str, Json], specs: Mapping[str, CapabilitySpec], policies: PolicyBook,
    view: CardView,
) -> Action:  # fmt: skip
    spec = specs.get(action.use)
    if spec is None or spec.sha256 != action.capability_sha256:
        raise InvalidArguments(
            f"{action.use} was declared anew since {view.card.card_id} was raised, so that the card covers it no more. "
            "Turn it down, and let it be asked again.",
            card=view.card.card_id, use=action.use,
        )  # fmt: skip
    unknown = sorted(set(change) - set(spec.parameters))
    if unknown:
        raise InvalidArguments(
            f"{action.use} takes no {', '.join(unknown)}; it takes {', '.join(spec.parameters)}. Nothing was changed.",
            card=view.card.card_id, use=action.use,
        )  # fmt: skip
    arguments = complete(spec, {**action.arguments, **{name: clean(value) for name, value in change.items()}})
    fitting(spec, arguments)
    facts: dict[str, Json] = {
        "employee": action.by, "skill": None, "requested_by": view.card.requested_by, "known_at": None,
        "context": {}, "inputs": {},
    }  # fmt: skip
    breach = policies.violated_by(PolicyRequest(action.use, arguments, action.effect, facts))
    if breach is not None:
        raise InvalidArguments(
            f"The rule {breach.policy.name} forbids {action.use} with these arguments: {breach.why}. Nothing was "
            "changed.",
            card=view.card.card_id, use=action.use, rule=breach.policy.name,
        )  # fmt: skip
    return action.model_copy(update={"arguments": arguments})
