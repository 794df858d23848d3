"""Policies as a model is told them. The gate holds every one of them, whatever stands in a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from governance.policies.policy import Policy
from runtime.context.blocks import POLICIES, About
from runtime.context.parts import Part
from runtime.settings.context import ContextSettings
from runtime.texts import in_language


class ToldPolicies:
    """Those that cover anything the step may call, as far as there is room for them."""

    name = POLICIES
    moves = False

    def __init__(self, policies: Iterable[Policy], settings: ContextSettings) -> None:
        self._policies = sorted(policies, key=lambda policy: policy.name)
        self._most = settings.policy_chars

    async def parts(self, about: About) -> Sequence[Part]:
        """Return a part for each policy; what there is no room for is counted in the last one."""
        covering = [policy for policy in self._policies if any(map(policy.concerns, about.uses))]
        parts: list[Part] = []
        left = self._most
        for number, policy in enumerate(covering):
            text = f"Rule {policy.name}: {in_language(policy.text, about.order.language)}"
            left -= len(text)
            if left < 0:
                left_out = len(covering) - number
                more = f"{left_out} more rules hold; an action that breaks one is refused with the reason."
                return (*parts, Part(POLICIES, more, "the policies", pinned=True))
            parts.append(Part(POLICIES, text, f"policy {policy.name}", pinned=True))
        return parts
