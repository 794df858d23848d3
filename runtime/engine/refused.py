"""Actions that a rule did not let happen, as events beside the failure that came of them."""

from __future__ import annotations

from contracts import Json
from runtime.capabilities.actions import POLICY_VIOLATED, ActionRefused
from runtime.engine.context import clean_data
from runtime.errors import SiliconError
from runtime.ledger.port import NewEvent

POLICY_REFUSED = "policy.refused"
_FACTS = ("use", "rule", "rule_version", "request_sha256", "unclear")


def refusals(error: SiliconError, step: str, index: int | None, *, call: str | None = None) -> list[NewEvent]:
    """Return the event of a rule's no: which rule in which version, to which request; none for any other error.

    It belongs into the append of the failure. One that an order below was refused stands in that order's own stream.
    """
    if not isinstance(error, ActionRefused) or error.code != POLICY_VIOLATED:
        return []
    facts: dict[str, Json] = {name: error.facts[name] for name in _FACTS if name in error.facts}
    data = {"step": step, "index": index, "call": call, "message": error.message, **facts}
    return [NewEvent(POLICY_REFUSED, clean_data(data))]
