"""Metrics, sensors and rules: what they name exists, their conditions can be read, their examples come out."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from agents.organisation.check_metrics import metric_faults
from agents.organisation.conditions import condition_fault
from agents.organisation.declared import nearest
from agents.organisation.draft import Draft, Read
from agents.organisation.fault import Fault
from agents.organisation.sensor_kinds import sensor_faults
from governance.policies import Policy, run_examples
from governance.policies.policy import VARIABLES


def signal_faults(draft: Draft) -> Iterator[Fault]:
    """Yield what is wrong with metrics, sensors and rules."""
    yield from metric_faults(draft)
    yield from sensor_faults(draft)
    for rule in draft.rules.values():
        yield from _rule_faults(draft, rule)


def _rule_faults(draft: Draft, rule: Read[Policy]) -> Iterator[Fault]:
    policy = rule.value
    for number, pattern in enumerate(policy.applies_to):
        if not any(fnmatchcase(name, pattern) for name in draft.specs) and not draft.unread:
            yield rule.fault(
                ("applies_to", number), f"There is no capability `{pattern}`.", nearest(pattern, draft.specs)
            )
    broken = list(condition_fault(rule, ("allow_when",), policy.allow_when, VARIABLES))
    yield from broken
    if not broken:
        for fault in run_examples(policy):
            yield rule.fault(("examples", fault.index), fault.message)
