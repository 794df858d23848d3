"""What is wrong with rules: conditions, scopes, examples, and rules that nothing would hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from agents.organisation.conditions import condition_fault
from agents.organisation.declared import nearest
from agents.organisation.draft import Draft, Read
from agents.organisation.fault import Fault
from governance.policies import VARIABLES, Harm, Policy, run_examples
from runtime.expressions import names_in


def rule_faults(draft: Draft) -> Iterator[Fault]:
    """Yield the faults of every rule."""
    for rule in draft.rules.values():
        yield from _scope_faults(draft, rule)
        yield from _check_faults(rule)
        if rule.value.allow_when is None:
            continue
        broken = list(condition_fault(rule, ("allow_when",), rule.value.allow_when, VARIABLES))
        yield from broken
        if not broken:
            yield from _unknown_arguments(draft, rule)
            for fault in run_examples(rule.value):
                yield rule.fault(("examples", fault.index), fault.message)


def _scope_faults(draft: Draft, rule: Read[Policy]) -> Iterator[Fault]:
    policy = rule.value
    for number, pattern in enumerate(policy.applies_to):
        named = [spec for name, spec in draft.specs.items() if fnmatchcase(name, pattern)]
        if not named and not draft.unread:
            yield rule.fault(
                ("applies_to", number), f"There is no capability `{pattern}`.", nearest(pattern, draft.specs)
            )
        elif named and policy.effects and not any(spec.effect in policy.effects for spec in named):
            does = ", ".join(sorted({spec.effect.value for spec in named}))
            listed = ", ".join(effect.value for effect in policy.effects)
            what = f"`effects: [{listed}]` leaves nothing of `{pattern}` ({does}): the rule would never be asked."
            yield rule.fault(("effects",), what, "Name its effect, or leave `effects` out.")


def _check_faults(rule: Read[Policy]) -> Iterator[Fault]:
    """A rule that only words hold must be one whose breach does no harm; nobody having said so is no such thing."""
    policy = rule.value
    if policy.is_checked or policy.breach is Harm.INCONVENIENT:
        return
    hint = "Give it `allow_when`, or say `breach: inconvenient` where nothing worse than trouble comes of it."
    if policy.breach is None:
        what = "The rule has no check (`allow_when`), and does not say what its breach does (`breach`)."
        yield rule.fault((), what, hint)
    else:
        what = f"Its breach {policy.breach.value.replace('_', ' ')}, and the rule has no check (`allow_when`)."
        yield rule.fault(("breach",), what, hint)


def _unknown_arguments(draft: Draft, rule: Read[Policy]) -> Iterator[Fault]:
    """A condition on an argument that a covered capability does not have refuses each of its calls."""
    policy = rule.value
    condition = policy.allow_when or ""
    named = dict.fromkeys(path[1] for path in names_in(condition) if path[0] == "arguments" and len(path) > 1)
    wanted = [name for name in named if not re.search(rf"\bhas\(\s*arguments\.{re.escape(name)}\b", condition)]
    if not policy.applies_to or "use" in {path[0] for path in names_in(condition)}:
        return
    for spec in draft.specs.values():
        if spec.open_arguments or not policy.covers(spec.name, spec.effect):
            continue
        missing = next((name for name in wanted if name not in spec.parameters), None)
        if missing is not None:
            what = f"`{spec.name}` has no argument `{missing}`, so that the rule would refuse each of its calls."
            hint = nearest(missing, spec.parameters) or (
                f"Narrow `applies_to` or `effects`, or ask `!has(arguments.{missing}) || …`."
            )
            yield rule.fault(("allow_when",), what, hint)
