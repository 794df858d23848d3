"""All policies of an organisation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from governance.policies.policy import Policy, PolicyRequest


@dataclass(frozen=True, slots=True)
class Breach:
    """The policy that a request breaks, and how."""

    policy: Policy
    why: str
    fault: str = ""
    """Why its condition could not be worked out, where nobody knows whether it holds."""


class PolicyBook:
    """The policies of one organisation, in order of their names; every one that covers a request must let it pass."""

    def __init__(self, policies: Iterable[Policy]) -> None:
        self._policies = sorted(policies, key=lambda policy: policy.name)

    def __iter__(self) -> Iterator[Policy]:
        return iter(self._policies)

    def violated_by(self, request: PolicyRequest) -> Breach | None:
        """Return the first breach, or None when every policy lets the request pass."""
        for policy in self._policies:
            refusal = policy.refusal_of(request)
            if refusal is not None:
                return Breach(policy, refusal.why, refusal.fault)
        return None
