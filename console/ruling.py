"""The rules of an organisation, with their examples run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agents.organisation import read_rules
from console.folders import folder_of
from console.views_rules import RuleExample, RuleRow
from governance.policies import Policy, run_examples


class Ruling:
    """The port `Rules`."""

    async def rules(self, folder: Path) -> Sequence[RuleRow]:
        """Return the rules of a folder as they stand now, by name, their examples run."""
        return [_row(policy) for policy in read_rules(folder_of(folder))]


def _row(policy: Policy) -> RuleRow:
    faults = {fault.index: fault.message for fault in run_examples(policy)}
    return RuleRow(
        name=policy.name,
        version=policy.version,
        text=policy.text,
        allow_when=policy.allow_when,
        applies_to=tuple(policy.applies_to),
        effects=tuple(effect.value for effect in policy.effects),
        breach=policy.breach.value if policy.breach else None,
        examples=tuple(
            RuleExample(case.request.use, case.allowed, index not in faults, case.why, faults.get(index, ""))
            for index, case in enumerate(policy.examples)
        ),
    )
