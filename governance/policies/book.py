"""All policies of an organisation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from contracts import Effect, Json
from governance.policies.policy import Policy, PolicyRequest
from runtime.capabilities.actions import POLICY_VIOLATED
from runtime.capabilities.port import Refused


@dataclass(frozen=True, slots=True)
class Breach:
    """The policy that a request breaks, and how."""

    policy: Policy
    why: str
    fault: str = ""
    """Why its condition could not be worked out, where nobody knows whether it holds."""

    def refused(self, request: PolicyRequest, language: str) -> Refused:
        """Return the no to the action, with which rule in which version said it to what."""
        text = self.policy.text
        told = text if isinstance(text, str) else text.get(language) or text.get("en") or ""
        words = " ".join(told.split()).rstrip(".。")
        why = f"{words} ({self.why})" if words else self.why
        facts: dict[str, Json] = {
            "rule": self.policy.name,
            "rule_version": self.policy.version,
            "request_sha256": request.sha256,
            "unclear": self.fault or None,
        }
        said = f"The rule {self.policy.name} forbids {request.use}: {why}."
        return Refused(POLICY_VIOLATED, said, {name: fact for name, fact in facts.items() if fact is not None})


class PolicyBook:
    """The policies of one organisation, in order of their names; every one that covers a request must let it pass."""

    def __init__(self, policies: Iterable[Policy]) -> None:
        self._policies = sorted(policies, key=lambda policy: policy.name)
        self._concerned: dict[tuple[str, Effect], bool] = {}

    def __iter__(self) -> Iterator[Policy]:
        return iter(self._policies)

    def concerns(self, use: str, effect: Effect) -> bool:
        """Whether any of them is asked about a call of the capability with that effect."""
        known = self._concerned.get((use, effect))
        if known is None:
            covering = (policy for policy in self._policies if policy.is_checked and policy.covers(use, effect))
            known = self._concerned[use, effect] = any(covering)
        return known

    def violated_by(self, request: PolicyRequest) -> Breach | None:
        """Return the first breach, or None when every policy lets the request pass."""
        for policy in self._policies:
            refusal = policy.refusal_of(request)
            if refusal is not None:
                return Breach(policy, refusal.why, refusal.fault)
        return None
