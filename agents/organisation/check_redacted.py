"""Names in plans under which nothing may stand in the ledger: what is recorded of such a plan is not the plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agents.organisation.draft import Draft
from agents.organisation.fault import Fault
from agents.organisation.yaml_source import Path
from runtime.telemetry import redact


def redacted_faults(draft: Draft) -> Iterator[Fault]:
    """Yield parameters, arguments and fields whose names are those of secrets; an order has its plan in the ledger."""
    plans = [skill.plan for skill in draft.skills.values() if skill.plan is not None]
    for plan in plans:
        for path in _redacted(plan.value.to_json(), ()):
            what = f"`{path[-1]}` is the name of a secret, and what stands under it is kept out of the ledger."
            hint = "Give it another name; what lets one in belongs into the `headers` or `env` of a connection."
            yield plan.fault(path, what, hint)


def _redacted(value: Any, path: Path) -> Iterator[Path]:
    if isinstance(value, dict):
        for key, item in value.items():
            if item is not None and not isinstance(item, bool) and redact({key: "-"}) != {key: "-"}:
                yield (*path, key)
            else:
                yield from _redacted(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _redacted(item, (*path, number))
