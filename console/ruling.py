"""The rules of an organisation, with their examples run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from agents.organisation import read_name, read_rules
from console.folders import folder_of
from console.resources import Resources
from console.views_rules import RefusedAction, RefusedActions, RuleExample, RuleRow, refused_action
from contracts import ExecutionId, Json
from governance.policies import Policy, run_examples
from governance.policies.refusals import RefusalBook


class Ruling:
    """The port `Rules`."""

    _resources: Resources

    async def rules(self, folder: Path) -> Sequence[RuleRow]:
        """Return the rules of a folder as they stand now, by name, their examples run."""
        return [_row(policy) for policy in read_rules(folder_of(folder))]

    async def refused(self, folder: Path, *, last: int) -> RefusedActions:
        """Return what the rules of an organisation refused."""
        found = await RefusalBook((await self._resources.store()).ledger).of(read_name(folder_of(folder)))
        return RefusedActions(found.counts, tuple(map(_refused, found.newest[:last])))


def _refused(data: Mapping[str, Json]) -> RefusedAction:
    execution = data.get("execution_id")
    at, order_id = datetime.fromisoformat(str(data["at"])), str(data["order_id"])
    return refused_action(at, data, order_id=order_id, execution_id=ExecutionId(str(execution)) if execution else None)


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
