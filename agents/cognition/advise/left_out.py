"""Options that are not put before a person because they could not be carried out, each with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from agents.cognition.advise.options import ActionTemplate, OptionTemplate
from contracts import Action, Json, Name, TaskOrder
from governance.approvals.matching import action_of
from governance.policies import Breach, PolicyBook, PolicyRequest
from runtime.bindings import resolve
from runtime.capabilities.port import CapabilitySpec
from runtime.capabilities.router import arguments_fault
from runtime.errors import InvalidArguments

NOT_OFFERED = "not offered: "
"""What the name of a fact on a card begins with that tells of such an option; the option's id follows."""


class Reason(StrEnum):
    """Why an option could not be carried out."""

    FORBIDDEN = "forbidden"
    """A rule does not let it pass."""
    UNCLEAR = "unclear"
    """The condition of a rule could not be worked out, and so does not hold."""
    UNFIT = "unfit"
    """The arguments, with their values filled in, do not fit the capability."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One option that is not offered."""

    option: str
    reason: Reason
    use: str
    """The capability that would have been called."""
    why: str
    """The text of the rule, or what is wrong, in one sentence."""
    rule: Name | None = None
    """The rule, where it was one."""

    def to_json(self) -> dict[str, Json]:
        """Return it as the step gives it."""
        return {
            "option": self.option, "reason": self.reason.value, "use": self.use, "rule": self.rule, "why": self.why
        }  # fmt: skip

    def to_fact(self) -> dict[str, Json]:
        """Return it as a fact of a card."""
        source = f"rules/{self.rule}.yaml" if self.rule else self.use
        return {"value": self.why, "source": source, **self.to_json()}

    def __str__(self) -> str:
        match self.reason:
            case Reason.FORBIDDEN:
                return f"{self.option}: the rule {self.rule} forbids {self.use}: {self.why}"
            case Reason.UNCLEAR:
                return f"{self.option}: the rule {self.rule} could not be judged: {self.why}"
        return f"{self.option}: {self.why}"


def facts_of(left_out: Iterable[LeftOut]) -> dict[str, Json]:
    """Return what a card says of the options that are not on it."""
    return {f"{NOT_OFFERED}{each.option}": each.to_fact() for each in left_out}


def not_offered(facts: Mapping[str, Json]) -> list[dict[str, Json]]:
    """Return what the facts of a card say of the options that are not on it, as the step gives it."""
    told = {name.removeprefix(NOT_OFFERED): fact for name, fact in facts.items() if name.startswith(NOT_OFFERED)}
    return [_told(option, fact) for option, fact in told.items() if isinstance(fact, dict)]


def part(
    offered: Sequence[OptionTemplate],
    policies: PolicyBook,
    *,
    roots: Mapping[str, Json],
    specs: Mapping[str, CapabilitySpec],
    order: TaskOrder,
) -> tuple[list[OptionTemplate], list[LeftOut]]:
    """Return the options that can be carried out, and the others with what stands against each.

    The gate judges again when an action is carried out; here it only keeps a person from approving what cannot be done.
    """
    kept: list[OptionTemplate] = []
    left_out: list[LeftOut] = []
    for option in offered:
        against = _unfit(option, roots, specs) or _forbidden(option, policies, roots, specs, order)
        if against is None:
            kept.append(option)
        else:
            left_out.append(against)
    return kept, left_out


def bound(template: ActionTemplate, roots: Mapping[str, Json], specs: Mapping[str, CapabilitySpec]) -> Action:
    """Return the action exactly as it will be carried out."""
    spec = specs.get(template.use)
    if spec is None:
        known = ", ".join(sorted(specs))
        raise InvalidArguments(f"An option uses {template.use}, which is no capability; there is: {known}.")
    arguments = resolve(template.arguments, roots)
    return action_of(spec, template.by, arguments if isinstance(arguments, dict) else {})


def _unfit(option: OptionTemplate, roots: Mapping[str, Json], specs: Mapping[str, CapabilitySpec]) -> LeftOut | None:
    for template in (*option.do, *option.undo):
        action = bound(template, roots, specs)
        fault = arguments_fault(specs[action.use], action.arguments)
        if fault is not None:
            why = f"The arguments do not fit {action.use}: {fault}"
            return LeftOut(option.id, Reason.UNFIT, action.use, why)
    return None


def _forbidden(
    option: OptionTemplate,
    policies: PolicyBook,
    roots: Mapping[str, Json],
    specs: Mapping[str, CapabilitySpec],
    order: TaskOrder,
) -> LeftOut | None:
    for template in option.do:
        action = bound(template, roots, specs)
        breach = policies.violated_by(_as_request(action, order))
        if breach is not None:
            reason = Reason.UNCLEAR if breach.fault else Reason.FORBIDDEN
            return LeftOut(option.id, reason, action.use, _words(breach, order), breach.policy.name)
    return None


def _words(breach: Breach, order: TaskOrder) -> str:
    """Return the text of the rule, in the order's language; of one that nobody could judge, why not."""
    text = breach.policy.text
    if breach.fault:
        return f"{breach.fault}."
    return text if isinstance(text, str) else text.get(order.language) or text.get("en") or breach.policy.name


def _as_request(action: Action, order: TaskOrder) -> PolicyRequest:
    """Return the action as the gate will see it when its employee carries it out."""
    facts: dict[str, Json] = {
        "employee": action.by,
        "departments": [*dict.fromkeys((*(above.employee for above in order.chain), order.employee, action.by))],
        "skill": None,
        "requested_by": order.requested_by,
        "known_at": order.known_at.isoformat() if order.known_at else None,
        "context": order.context,
        "inputs": action.arguments,
    }
    return PolicyRequest(action.use, action.arguments, action.effect, facts)


def _told(option: str, fact: Mapping[str, Json]) -> dict[str, Json]:
    """Return one fact as the step gives it; cards of before name only the rule's file, and its text."""
    source = str(fact.get("source"))
    rule = source.removeprefix("rules/").removesuffix(".yaml") if source.startswith("rules/") else None
    known: dict[str, Json] = {"reason": Reason.FORBIDDEN.value, "use": None, "rule": rule, "why": fact.get("value")}
    return {"option": option, **known, **{name: fact[name] for name in known if name in fact}}
